"""A whole class: ours and stock nbgrader on the same notebooks."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

import grader.grade
import grader.gradebook
from grader.cache import Cache, Keys
from grader.course import Course
from grader.diagnosis import Diagnosis
from grader.grade import Grader
from grader.grading import Grading, Here
from grader.release import masters
from grader.sandbox import Kernel, Policy, Sandbox
from grader.settings import settings
from grader.source import source_notebook, text_of
from tests.bench.measuring import Clock, Run, measured

__all__ = ["Classes", "phases"]

SAMPLES = Path(__file__).parent.parent / "submissions" / "submitted"
SLOW = {"judy"}  # an endless loop: it would measure the time limit
STOCK_CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "stock"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
"""


class Classes:
    """Runs classes of so many submissions, each in a fresh course."""

    def __init__(self, course: Course) -> None:
        self.course = course

    def ours(self, number: int, jobs: int, *, cores: int | None = None, again: bool = False) -> tuple[Run, ...]:
        """A class in `jobs` processes; `again` adds the run after it, in which nothing has changed."""
        with fresh(self.course, number) as root:
            command = [sys.executable, "-m", "grader", "autograde", *self.course.lessons, f"--jobs={jobs}"]
            begun = time.time()
            first = measured(command, root, fine=(0, 1), cores=cores)
            stored = sorted(file.stat().st_mtime - begun for file in (root / ".grading" / "ledgers").rglob("*.json"))
            runs = [replace(first, results=tuple(stored))]
            if again:
                runs.append(measured(command, root, fine=(0, 1)))
            return tuple(runs)

    def stock(self, number: int) -> Run:
        """Stock nbgrader on the same notebooks: its own kernel, its own Execute, a release of the same lessons."""
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            root = Path(name)
            (root / "nbgrader_config.py").write_text(STOCK_CONFIG, encoding="utf-8")
            for lesson in self.course.lessons.values():
                path = root / "source" / lesson.name / f"{lesson.name}.ipynb"
                path.parent.mkdir(parents=True)
                path.write_text(text_of(source_notebook(lesson)), encoding="utf-8")
                measured([sys.executable, "-m", "nbgrader", "generate_assignment", lesson.name], root)
            fill(root / "submitted", self.course, number)
            run = Run(0.0, 0)
            for lesson_name in self.course.lessons:
                # a submission that crashes its kernel makes stock nbgrader end with an error; its time counts as well
                run += measured([sys.executable, "-m", "nbgrader", "autograde", lesson_name], root, fine=())
            return run


def phases(course: Course, number: int) -> dict[str, float]:
    """Seconds a submission by phase, in one process without a pool."""
    clock = Clock()
    with fresh(course, number) as root:
        made = Course(root)
        with Sandbox(Policy(), course_root=root) as sandbox:
            sandbox.line().close()  # the fork server's start is not a submission's
            grader_ = Grader(made, sandbox, masters(made))
            places = (
                (grader.grade, "read_notebook", "collect and frame"),
                (grader.grade, "recognise", "collect and frame"),
                (grader.grade, "frame", "collect and frame"),
                (Sandbox, "launch", "kernel start"),
                (Kernel, "run", "the notebook's cells"),
                (Kernel, "restart", "the notebook's cells"),
                (Kernel, "close", "kernel end"),
                (grader.grade, "judge_exercise", "hidden checks"),
                (Diagnosis, "__call__", "naming the faults"),
                (Here, "submit", "outputs made safe, report"),
                (grader.gradebook.Autograde, "start", "gradebook and files"),
            )
            grading = Grading(Keys(made, "cpu", sandbox.policy), Cache(made.grading / "cache"), Here(grader_))
            with clock.watching(*places):
                for lesson in made.lessons:
                    config = settings(made)
                    config.CourseDirectory.assignment_id = lesson
                    coursedir = CourseDirectory(config=config)
                    grader.gradebook.Autograde(coursedir=coursedir, config=config, course=made, grading=grading).start()
    return {name: seconds / number for name, seconds in clock.seconds.items()}


@contextmanager
def fresh(course: Course, number: int) -> Iterator[Path]:
    """A course of its own with so many submissions and nothing graded."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        root = Path(name)
        shutil.copytree(course.solutions, root / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "notebooks").mkdir()
        fill(root / ".grading" / "submitted", course, number)
        yield root


def fill(submitted: Path, course: Course, number: int) -> None:
    """`number` submissions over all lessons: the sample class again and again, each made its own by a cell."""
    samples = {
        lesson: sorted(f for f in SAMPLES.glob(f"*/{lesson}/*.ipynb") if f.parts[-3] not in SLOW)
        for lesson in course.lessons
    }
    lessons = list(course.lessons)
    for n in range(number):
        lesson, student = lessons[n % len(lessons)], n // len(lessons)
        notebook = json.loads(samples[lesson][student % len(samples[lesson])].read_text(encoding="utf-8"))
        own = {"cell_type": "code", "metadata": {}, "source": f"student = {student}", "outputs": [], "id": f"own-{n}"}
        notebook["cells"].append({**own, "execution_count": None})
        path = submitted / f"s{student:04d}" / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), encoding="utf-8")
