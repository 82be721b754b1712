"""`nbgrader validate` gives the public result, says that it is public, and runs nobody's notebook outside the walls."""

from __future__ import annotations

import io
from pathlib import Path

import nbformat
import pytest
from nbgrader import validator
from traitlets.config import Config

from grader.course import Course
from grader.release import release_text
from grader.settings import configure
from grader.source import source_notebook
from grader.validate import PUBLIC

LESSON = "01_mask"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernels")]


def said(course: Course, path: Path) -> str:
    configure(Config(), course)
    made = validator.Validator()  # as nbgrader's command makes it
    made.stream = io.StringIO()
    made.validate_and_print(str(path))
    return " ".join(made.stream.getvalue().split())


def test_a_solved_notebook_passes_in_public(course: Course, tmp_path: Path) -> None:
    nbformat.write(source_notebook(course.lesson(LESSON)), tmp_path / f"{LESSON}.ipynb")
    assert said(course, tmp_path / f"{LESSON}.ipynb") == f"The public checks pass. {PUBLIC}"


def test_what_fails_is_told_in_the_checks_words(course: Course, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    notebook = nbformat.reads(release_text(course.lesson(LESSON)), as_version=4)
    for cell in notebook.cells:
        if "def causal_mask" in cell.source:
            cell.source = "def causal_mask(length, device=None):\n    return torch.ones(length, length)"
        if "def padding_mask" in cell.source:
            cell.source = f"open({str(outside)!r}, 'w').close()"
    nbformat.write(notebook, tmp_path / f"{LESSON}.ipynb")
    words = said(course, tmp_path / f"{LESSON}.ipynb")
    assert "VALIDATION FAILED ON 3 CELL(S)" in words
    assert words.count(PUBLIC) == 3
    assert "✗ failed" in words and "masked_softmax is not written yet" in words
    assert not outside.exists()
