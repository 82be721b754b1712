"""Transplanting: what a student did to the notebook costs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.collect import read_notebook
from grader.course import Course
from grader.frame import frame
from grader.release import release_text

ANSWER = "def padding_mask(ids, pad_id):\n    return helper(ids, pad_id)"


@pytest.fixture(scope="module")
def master(course: Course) -> nbformat.NotebookNode:
    return nbformat.reads(release_text(course.lesson("01_mask")), as_version=4)


def at(notebook: Any, grade_id: str) -> int:
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    return ids.index(grade_id)


def framed(master: nbformat.NotebookNode, change: Callable[[dict[str, Any]], None]) -> nbformat.NotebookNode:
    """The frame of a submission that is the release with one answer and one change."""
    tree = json.loads(nbformat.writes(master))
    tree["cells"][at(tree, "padding_mask")]["source"] = ANSWER
    change(tree)
    made = frame(master, read_notebook(json.dumps(tree).encode()))
    nbformat.validate(made)
    return made


def locked(notebook: nbformat.NotebookNode) -> list[tuple[str, str, str]]:
    """Kind, id and text of the cells that are never the student's."""
    found = []
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade_id") and not marks["solution"]:
            found.append((cell.cell_type, marks["grade_id"], cell.source))
    return found


def edit(**changes: Callable[[dict[str, Any]], None]) -> dict[str, Callable[[dict[str, Any]], None]]:
    return changes


def lose_metadata(tree: dict[str, Any]) -> None:
    for cell in tree["cells"]:
        cell["metadata"] = {}
        del cell["id"]
    tree["nbformat_minor"] = 4


def retype(tree: dict[str, Any]) -> None:
    cell = tree["cells"][at(tree, "test_padding_mask")]
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


CHANGES = edit(
    nothing=lambda _: None,
    lost_metadata=lose_metadata,
    test_turned_into_markdown=retype,
    test_deleted=lambda tree: tree["cells"].pop(at(tree, "test_padding_mask")),
    given_deleted=lambda tree: tree["cells"].pop(at(tree, "given_setup")),
    test_rewritten=lambda tree: tree["cells"][at(tree, "test_padding_mask")].update(source="print(4)"),
    points_raised=lambda tree: tree["cells"][at(tree, "test_padding_mask")]["metadata"]["nbgrader"].update(points=400),
    answer_duplicated=lambda tree: tree["cells"].insert(0, tree["cells"][at(tree, "padding_mask")]),
    test_duplicated=lambda tree: tree["cells"].append(tree["cells"][at(tree, "test_padding_mask")]),
    reversed=lambda tree: tree["cells"].reverse(),
    skip_tag=lambda tree: tree["cells"][at(tree, "test_padding_mask")]["metadata"].update(tags=["skip-execution"]),
)


@pytest.mark.parametrize("name", CHANGES)
def test_accidents_cost_nothing(name: str, master: nbformat.NotebookNode) -> None:
    made = framed(master, CHANGES[name])
    assert locked(made) == locked(master), "given and tests cells are the master's, all of them, in order"
    assert made.cells[at(made, "padding_mask")].source == ANSWER
    for cell in made.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id"):
            assert cell.metadata == master.cells[at(master, cell.metadata.nbgrader.grade_id)].metadata


def test_added_cells_stay_in_place(master: nbformat.NotebookNode) -> None:
    helper = {"cell_type": "code", "metadata": {}, "source": "def helper(): ...", "outputs": []}

    def change(tree: dict[str, Any]) -> None:
        tree["cells"].insert(at(tree, "padding_mask"), {**helper, "execution_count": None, "id": "mine"})

    made = framed(master, change)
    place = at(made, "padding_mask")
    assert made.cells[place - 1].source == "def helper(): ..."
    assert "nbgrader" not in made.cells[place - 1].metadata


def test_a_stub_kept_aside_gives_way(master: nbformat.NotebookNode) -> None:
    def change(tree: dict[str, Any]) -> None:
        stub = dict(json.loads(nbformat.writes(master))["cells"][at(tree, "padding_mask")], id="copy")
        tree["cells"].append(stub)

    made = framed(master, change)
    assert sum("def padding_mask" in cell.source for cell in made.cells) == 1


def test_a_later_definition_is_kept_and_comes_later(master: nbformat.NotebookNode) -> None:
    again = {"cell_type": "code", "metadata": {}, "source": "def padding_mask(ids, pad_id): return 1", "id": "again"}

    def change(tree: dict[str, Any]) -> None:
        tree["cells"].append({**again, "outputs": [], "execution_count": None})

    made = framed(master, change)
    texts = [cell.source for cell in made.cells if "def padding_mask" in cell.source]
    assert texts == [ANSWER, "def padding_mask(ids, pad_id): return 1"]


@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_any_mix_of_cells_keeps_the_frame(data: st.DataObject, master: nbformat.NotebookNode) -> None:
    def change(tree: dict[str, Any]) -> None:
        order = data.draw(st.lists(st.integers(0, len(tree["cells"]) - 1), max_size=2 * len(tree["cells"])))
        tree["cells"] = [tree["cells"][i] for i in order]

    assert locked(framed(master, change)) == locked(master)
