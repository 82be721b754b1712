"""Build the notebooks: lesson text -> nbgrader's source notebook -> nbgrader's own release."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from attnlab.exercises import LESSONS
from grader import recorded
from grader.course import Course
from grader.environment import with_tools_on_path
from grader.lesson import STUB, Cell, Lesson, LessonError

__all__ = ["Drift", "build", "drifted", "register", "release_text", "source_notebook"]

_DOTS = 4  # difficulties run from 1 to 4


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
        yield course.grading / "source" / name / f"{name}.ipynb", _text(source_notebook(lesson))
        yield course.notebooks / name / f"{name}.ipynb", release_text(lesson)
    yield recorded.path(course), recorded.record(course)


def _check_table(lesson: Lesson) -> None:
    """Hold the lesson to the course's table, which the student library carries."""
    table = {exercise.name: float(exercise.points) for exercise in LESSONS.get(lesson.name, ())}
    if table != lesson.points:
        what = f"its exercises and points {lesson.points} are not those of attnlab.exercises {table}"
        raise LessonError(lesson.path, 1, what)


def source_notebook(lesson: Lesson) -> nbformat.NotebookNode:
    """The notebook that nbgrader takes as the instructor's version. Ids and metadata come from the text alone."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    taken: set[str] = set()
    notebook.cells = [_notebook_cell(lesson, cell, taken) for cell in lesson.cells]
    return notebook


def _notebook_cell(lesson: Lesson, cell: Cell, taken: set[str]) -> nbformat.NotebookNode:
    source = cell.source
    if cell.kind == "prose" and cell.exercise:
        source = f"{_header(lesson, cell)}\n\n{source}"
    new = nbformat.v4.new_markdown_cell if cell.kind == "prose" else nbformat.v4.new_code_cell
    made = new(source, id=_cell_id(cell, taken))
    if cell.name:
        graded = cell.kind == "tests"
        made.metadata["nbgrader"] = {
            "schema_version": 3,
            "grade": graded,
            "grade_id": cell.name,
            "locked": cell.kind != "solution",
            "solution": cell.kind == "solution",
            "task": False,
            **({"points": cell.points} if graded else {}),
        }
    return made


def _header(lesson: Lesson, cell: Cell) -> str:
    points = lesson.points[cell.exercise]
    worth = "a stretch, no points" if points == 0 else f"{points:g} points"
    dots = "●" * cell.difficulty + "○" * (_DOTS - cell.difficulty)
    return f"### Exercise: `{cell.exercise}`\n\n*{worth} · about {cell.minutes} minutes · difficulty {dots}*"


def _cell_id(cell: Cell, taken: set[str]) -> str:
    """A stable id: the grade id where there is one, else a digest of kind and text."""
    stem = cell.name.replace("_", "-") or hashlib.sha256(f"{cell.kind}\n{cell.source}".encode()).hexdigest()[:12]
    name, n = stem[:56], 1  # the format allows 64 characters
    while name in taken:
        n += 1
        name = f"{stem[:56]}-{n}"
    taken.add(name)
    return name


def release_text(lesson: Lesson) -> str:
    """The notebook that learners get, made by nbgrader's generate_assignment without a gradebook."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        config = Config()
        config.SaveCells.enabled = False
        return _generate(lesson, Path(folder), config, no_database=True)


def register(course: Course, lesson: Lesson, db_url: str) -> None:
    """Enter the lesson's cells and points into the gradebook, as `nbgrader generate_assignment` does."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        config = Config()
        config.CourseDirectory.db_url = db_url
        course.grading.mkdir(exist_ok=True)
        _generate(lesson, Path(folder), config, no_database=False)


def _generate(lesson: Lesson, folder: Path, config: Config, *, no_database: bool) -> str:
    source = folder / "source" / lesson.name / f"{lesson.name}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(_text(source_notebook(lesson)), encoding="utf-8")
    config.ClearSolutions.code_stub = {"python": STUB}
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.assignment_id = lesson.name
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config, no_database=no_database)
    converter.log = logging.getLogger("nbgrader.build")
    with with_tools_on_path():
        converter.start()
    made = folder / "release" / lesson.name / f"{lesson.name}.ipynb"
    return _text(nbformat.read(os.fspath(made), as_version=4))


def _text(notebook: Any) -> str:
    return nbformat.writes(notebook, version=4) + "\n"
