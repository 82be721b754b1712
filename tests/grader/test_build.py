"""The build is a function of the lessons' text: same bytes every time, and what is committed is what it gives."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.build import build, drifted
from grader.course import Course
from grader.lesson import LessonError, released
from grader.release import register, release_text
from grader.source import source_notebook


def test_committed_notebooks_are_as_built(course: Course) -> None:
    assert drifted(course) == ()


def test_release_does_not_depend_on_an_old_gradebook(course: Course, tmp_path: Path) -> None:
    lesson = course.lesson("01_mask")
    first = release_text(lesson)
    for _ in range(2):
        register(course, lesson, f"sqlite:///{tmp_path / 'gradebook.db'}")
    assert release_text(lesson) == first
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        cells = gradebook.find_notebook("01_mask", "01_mask").grade_cells
        assert {cell.name: cell.max_score for cell in cells} == {
            f"test_{name}": points for name, points in lesson.points.items()
        }


def test_no_solution_line_is_released(course: Course) -> None:
    for lesson in course.lessons.values():
        release = nbformat.reads(release_text(lesson), as_version=4)
        by_id = {cell.metadata.nbgrader.grade_id: cell for cell in release.cells if "nbgrader" in cell.metadata}
        for cell in lesson.of_kind("solution"):
            assert by_id[cell.exercise].source == released(cell.source)
        assert "SOLUTION" not in release_text(lesson)


def test_notebooks_are_valid_and_ids_unique(course: Course) -> None:
    for lesson in course.lessons.values():
        for notebook in (source_notebook(lesson), nbformat.reads(release_text(lesson), as_version=4)):
            nbformat.validate(notebook)
            ids = [cell.id for cell in notebook.cells]
            assert len(ids) == len(set(ids))


def copy_of(course: Course, folder: Path) -> Course:
    for name in ("solutions", "notebooks"):
        (folder / name).mkdir()
    for path in course.solutions.glob("*.py"):
        (folder / "solutions" / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return Course(folder)


def test_build_writes_once_and_sees_drift(course: Course, tmp_path: Path) -> None:
    other = copy_of(course, tmp_path)
    assert {d.why for d in drifted(other)} == {"missing"}
    assert len(build(other)) == 2 * len(course.lessons) + 1
    assert build(other) == () == drifted(other)
    path = other.notebooks / "01_mask" / "01_mask.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("mask", "musk", 1), encoding="utf-8")
    assert [d.path for d in drifted(other)] == [path]


def test_a_lesson_off_the_table_is_refused(course: Course, tmp_path: Path) -> None:
    other = copy_of(course, tmp_path)
    path = other.solutions / "01_mask.py"
    path.write_text(path.read_text(encoding="utf-8").replace("points=8", "points=9"), encoding="utf-8")
    with pytest.raises(LessonError, match=r"attnlab\.exercises"):
        build(other)
    assert not (other.notebooks / "01_mask").exists(), "nothing is written when a text is refused"
