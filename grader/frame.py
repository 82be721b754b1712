"""Transplant a student's cells into the master notebook, which is the frame.

Given and tests cells are always the master's. The student's answers, changed examples and added cells keep their
place, so that a deleted, duplicated, re-typed or renamed cell costs nothing but itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nbformat

from grader.collect import SubmittedCell, defines

__all__ = ["frame"]


def frame(master: nbformat.NotebookNode, submitted: tuple[SubmittedCell, ...]) -> nbformat.NotebookNode:
    """The notebook to run: `master` (a release notebook) with the submitted cells in place.

    A submitted cell takes the master cell of its grade id, else of its cell id, else of its content. Cells that take
    none are the student's own; they follow the cell that they followed in the submission.
    """
    cells = _without_idle_stubs(master, submitted)
    places = _places(master, cells)
    taken: dict[int, SubmittedCell] = {}
    added: dict[int, list[SubmittedCell]] = {}
    anchor = -1
    for cell, place in zip(cells, places, strict=True):
        if place is not None and place not in taken:
            taken[place] = cell
            anchor = place
        else:
            added.setdefault(anchor, []).append(cell)

    made = nbformat.v4.new_notebook(metadata=master.metadata)
    made.cells = [_own(cell, i) for i, cell in enumerate(added.get(-1, []))]
    for place, original in enumerate(master.cells):
        if place in taken:
            made.cells.append(_merged(original, taken[place]))
        elif _named(original):
            made.cells.append(_copy(original))
        made.cells += [_own(cell, (place + 1) * 10_000 + i) for i, cell in enumerate(added.get(place, []))]
    return made


def _without_idle_stubs(
    master: nbformat.NotebookNode, submitted: tuple[SubmittedCell, ...]
) -> tuple[SubmittedCell, ...]:
    """Drop untouched stubs of functions that are written elsewhere in the notebook: a copy kept aside is no answer."""
    idle: set[int] = set()
    for original in master.cells:
        if not _is_solution(original):
            continue
        name = _grade_id(original)
        candidates = [i for i, c in enumerate(submitted) if c.is_code and (c.grade_id == name or defines(c, name))]
        stubs = [i for i in candidates if _same(submitted[i].source, original.source)]
        if len(stubs) < len(candidates):
            idle.update(stubs)
    return tuple(cell for i, cell in enumerate(submitted) if i not in idle)


def _places(master: nbformat.NotebookNode, cells: tuple[SubmittedCell, ...]) -> list[int | None]:
    """For each submitted cell the index of the master cell that it stands for, or None."""
    by_grade_id = {_grade_id(c): i for i, c in enumerate(master.cells) if _named(c)}
    by_cell_id = {c.id: i for i, c in enumerate(master.cells)}
    places: list[int | None] = [None] * len(cells)
    for i, cell in enumerate(cells):
        places[i] = by_grade_id.get(cell.grade_id)
    # the weaker signs only speak for places that no stronger one has taken
    weaker: tuple[Callable[[SubmittedCell], int | None], ...] = (
        lambda cell: by_cell_id.get(cell.cell_id),
        lambda cell: _by_content(master, cell),
    )
    for sign in weaker:
        held = {p for p in places if p is not None}
        for i, cell in enumerate(cells):
            if places[i] is None and (place := sign(cell)) is not None and place not in held:
                if _is_solution(master.cells[place]) and not cell.is_code:
                    continue
                places[i] = place
                held.add(place)
    return places


def _by_content(master: nbformat.NotebookNode, cell: SubmittedCell) -> int | None:
    for i, original in enumerate(master.cells):
        if _is_solution(original):
            if defines(cell, _grade_id(original)):
                return i
        elif _same(cell.source, original.source):
            return i
    return None


def _merged(original: nbformat.NotebookNode, cell: SubmittedCell) -> nbformat.NotebookNode:
    """The master's cell with the student's text where the student may write."""
    made = _copy(original)
    if _is_solution(original) or not _named(original):
        made.source = cell.source
    return made


def _own(cell: SubmittedCell, number: int) -> nbformat.NotebookNode:
    new = nbformat.v4.new_code_cell if cell.is_code else nbformat.v4.new_markdown_cell
    return new(cell.source, id=f"added-{number}")


def _copy(original: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return nbformat.from_dict(original)


def _same(a: str, b: str) -> bool:
    """Equal but for white space at line ends and around."""
    return [line.rstrip() for line in a.strip().splitlines()] == [line.rstrip() for line in b.strip().splitlines()]


def _marks(cell: nbformat.NotebookNode) -> dict[str, Any]:
    return cell.metadata.get("nbgrader", {})


def _named(cell: nbformat.NotebookNode) -> bool:
    return bool(_marks(cell).get("grade_id"))


def _grade_id(cell: nbformat.NotebookNode) -> str:
    return str(_marks(cell).get("grade_id", ""))


def _is_solution(cell: nbformat.NotebookNode) -> bool:
    return bool(_marks(cell).get("solution"))
