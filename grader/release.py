"""Release a lesson: nbgrader's own generate_assignment turns the source notebook into the learner's."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.course import Course
from grader.environment import with_tools_on_path
from grader.lesson import STUB, Lesson
from grader.source import source_notebook, text_of

__all__ = ["COURSE_ID", "masters", "register", "release_text"]

COURSE_ID = "attention"
"""nbgrader's name for the course, unless its configuration says another."""


def masters(course: Course) -> Mapping[str, str]:
    """Lesson name to the text of its release notebook, the frame of every submission. Each is made when asked for."""
    return _Masters(course)


class _Masters(Mapping[str, str]):
    """nbgrader takes a while for each, and a run in which nothing has changed needs none."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._made: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._made:
            self._made[name] = release_text(self._course.lessons[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._course.lessons)

    def __len__(self) -> int:
        return len(self._course.lessons)


def release_text(lesson: Lesson) -> str:
    """The notebook that learners get, made by nbgrader's generate_assignment without a gradebook."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        config = Config()
        config.SaveCells.enabled = False
        return _generate(lesson, Path(folder), config, no_database=True)


def register(course: Course, lesson: Lesson, db_url: str, course_id: str = COURSE_ID) -> None:
    """Enter the lesson's cells and points into the gradebook, as `nbgrader generate_assignment` does."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        config = Config()
        config.CourseDirectory.db_url = db_url
        config.CourseDirectory.course_id = course_id
        course.grading.mkdir(exist_ok=True)
        marked = tuple(lesson.of_kind("given", "solution", "tests"))  # the gradebook knows no others
        _generate(replace(lesson, cells=marked), Path(folder), config, no_database=False)


def _generate(lesson: Lesson, folder: Path, config: Config, *, no_database: bool) -> str:
    source = folder / "source" / lesson.name / f"{lesson.name}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(text_of(source_notebook(lesson)), encoding="utf-8")
    config.ClearSolutions.code_stub = {"python": STUB}
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.assignment_id = lesson.name
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config, no_database=no_database)
    converter.log = logging.getLogger("nbgrader.build")
    with with_tools_on_path():
        converter.start()
    made = folder / "release" / lesson.name / f"{lesson.name}.ipynb"
    return text_of(nbformat.read(os.fspath(made), as_version=4))
