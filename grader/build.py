"""Build the notebooks: lesson text -> nbgrader's source notebook -> nbgrader's own release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attnlab.exercises import LESSONS
from grader import recorded
from grader.course import Course
from grader.lesson import Lesson, LessonError
from grader.release import release_text
from grader.source import source_notebook, text_of

__all__ = ["Drift", "build", "drifted"]


@dataclass(frozen=True)
class Drift:
    """A committed file that is not what the lessons' text gives."""

    path: Path
    why: str


def build(course: Course) -> tuple[Path, ...]:
    """Write source notebooks, release notebooks and recorded values. Returns what changed.

    Raises LessonError where a text is refused; nothing is written then.
    """
    wanted = dict(_outputs(course))
    changed = []
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return tuple(changed)


def drifted(course: Course) -> tuple[Drift, ...]:
    """Compare the committed files with what a build would write. Writes nothing."""
    found = []
    for path, text in _outputs(course):
        if course.grading in path.parents:
            continue  # made by every build, never committed
        if not path.exists():
            found.append(Drift(path, "missing"))
        elif path.read_text(encoding="utf-8") != text:
            found.append(Drift(path, "differs from the lesson's text"))
    return tuple(found)


def _outputs(course: Course) -> Iterator[tuple[Path, str]]:
    for lesson in course.lessons.values():
        _check_table(lesson)
    for name, lesson in course.lessons.items():
        yield course.grading / "source" / name / f"{name}.ipynb", text_of(source_notebook(lesson))
        yield course.notebooks / name / f"{name}.ipynb", release_text(lesson)
    yield recorded.path(course), recorded.record(course)


def _check_table(lesson: Lesson) -> None:
    """Hold the lesson to the course's table, which the student library carries."""
    table = {exercise.name: float(exercise.points) for exercise in LESSONS.get(lesson.name, ())}
    if table != lesson.points:
        what = f"its exercises and points {lesson.points} are not those of attnlab.exercises {table}"
        raise LessonError(lesson.path, 1, what)
