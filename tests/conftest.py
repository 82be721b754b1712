"""What every test may ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
import pytest
import torch

from grader.course import Course
from grader.release import release_text

collect_ignore = ["attacks", "devices", "styles", "submissions"]
"""Folders of data; some of their files are named as tests are."""


@pytest.fixture(scope="session")
def course() -> Course:
    """The course of this checkout."""
    return Course.find(Path(__file__).parent)


@pytest.fixture(scope="session")
def worked(course: Course) -> Callable[..., None]:
    """Called with a folder: writes the five release notebooks there, worked through by filling the stubs alone.

    Each stub gets the text of the reference's solution cell; `answers` maps exercises to other texts, None leaves the
    stub.
    """
    releases = {name: release_text(lesson) for name, lesson in course.lessons.items()}

    def write(folder: Path, answers: Mapping[str, str | None] | None = None) -> None:
        for name, lesson in course.lessons.items():
            texts = {cell.exercise: cell.source for cell in lesson.of_kind("solution")} | dict(answers or {})
            notebook = nbformat.reads(releases[name], as_version=4)
            for cell in notebook.cells:
                marks = cell.metadata.get("nbgrader", {})
                if marks.get("solution") and (text := texts[marks["grade_id"]]) is not None:
                    cell.source = text
            path = folder / name / f"{name}.ipynb"
            path.parent.mkdir(exist_ok=True)
            nbformat.write(notebook, path)

    return write


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Tests run side by side; more threads each would only fight over the cores."""
    torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the expected ledgers anew; read the diff after")
    parser.addoption("--seeds", action="store_true", help="try faults, styles and training on many seeds: an hour")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Many seeds, for hundreds of faults and styles and for training, are for `make seeds`; every run tries a few."""
    if config.getoption("--seeds"):
        return
    skipped = pytest.mark.skip(reason="many seeds take too long for every run; 'make seeds' tries them")
    for item in items:
        if "seeds" in item.keywords:
            item.add_marker(skipped)
