"""Formgrader's page of a submission, made as formgrader makes it: no tag of the student's own does anything."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from grader.course import Course
from grader.safe_outputs import make_safe
from grader.settings import configure
from tests.grader.hostile_page import RUNS, WORDS, hostile_notebook

ABOUT = dict.fromkeys(
    ("base_url", "student", "submission_id", "assignment_id", "notebook_id", "notebook_path", "filename", "last_name",
     "first_name"), "",
)  # fmt: skip


def formgrader_html(notebook: nbformat.NotebookNode, folder: Path) -> str:
    config = Config()
    configure(config, Course(folder))
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    page, _ = HTMLExporter(config=config).from_notebook_node(notebook, resources={**ABOUT, "index": 0, "total": 1})
    return str(page)


@pytest.fixture(scope="module")
def plain(course: Course, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The tags of a page without anything of a student's."""
    notebook = hostile_notebook(course, "01_mask")
    notebook.cells = [cell for cell in notebook.cells if not cell.id.startswith("added-")]
    for cell in notebook.cells:
        cell.pop("outputs", None)
        cell.source = "nothing"
        if cell.cell_type == "code":
            cell.outputs = []
    return tags(formgrader_html(notebook, tmp_path_factory.mktemp("course")))


def tags(page: str) -> list[str]:
    """The tags that load or run something, with whatever they say."""
    return re.findall(r"<(?:script|iframe|svg|meta|link|form|object|embed|base|style)\b[^>]*>", page, flags=re.I)


@pytest.mark.filterwarnings("ignore")  # nbconvert's own, on pictures without words
def test_a_hostile_notebook_adds_no_tag_that_runs(course: Course, plain: list[str], tmp_path: Path) -> None:
    notebook = hostile_notebook(course, "01_mask")
    make_safe(notebook)
    page = formgrader_html(notebook, tmp_path)
    assert tags(page) == plain
    for tag in re.findall(r"<[^>]*>", page):
        assert RUNS not in tag
        assert not re.search(r"""(?:src|href|style)=["']?[^"']*example\.invalid/[abc]\.""", tag)


def test_prose_is_still_prose(tmp_path: Path) -> None:
    words = "# A heading\n\n*Stressed*, `code`, $x^2$ and\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    page = formgrader_html(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(words)]), tmp_path)
    for part in ("A heading", "<em>Stressed</em>", "<code>code</code>", "$x^2$", "<td>2</td>"):
        assert part in page
    assert re.search(r"<h1[^>]*>A heading", page)


def test_there_is_something_to_stop() -> None:
    assert len(tags("".join(WORDS))) >= 6
