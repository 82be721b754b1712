"""A lesson's text as nbgrader's source notebook: the instructor's version, ids and metadata from the text alone."""

from __future__ import annotations

import hashlib
from html import escape
from typing import Any

import nbformat

from attnlab.exercises import EXERCISES
from grader.lesson import Cell, Lesson

__all__ = ["source_notebook", "text_of"]

_DOTS = 4  # difficulties run from 1 to 4


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
    line = f"*{worth} · about {cell.minutes} minutes · difficulty {dots}*"
    return "\n\n".join([f"### Exercise: `{cell.exercise}`", line, *_graded_on(cell.exercise, points)])


def _graded_on(exercise: str, points: float) -> tuple[str, ...]:
    """The names of the checks, and folded away under them their clauses; nothing for what is not in the table."""
    if exercise not in EXERCISES:
        return ()
    from attnlab.examine import public_checks  # not above: torch comes with it

    checks = public_checks(exercise)
    title = "Graded on" if points else "Checked on"
    names = " · ".join(f"`{check.name}`" for check in checks)
    clauses = "".join(f"<li><code>{check.name}</code>: {escape(check.clause)}</li>" for check in checks)
    # HTML throughout: in Markdown, the stars of "h * d_k" would be emphasis
    folded = f"<details><summary>What these {len(checks)} names mean</summary><ul>{clauses}</ul></details>"
    return f"*{title}:* {names}", folded


def _cell_id(cell: Cell, taken: set[str]) -> str:
    """A stable id: the grade id where there is one, else a digest of kind and text."""
    stem = cell.name.replace("_", "-") or hashlib.sha256(f"{cell.kind}\n{cell.source}".encode()).hexdigest()[:12]
    name, n = stem[:56], 1  # the format allows 64 characters
    while name in taken:
        n += 1
        name = f"{stem[:56]}-{n}"
    taken.add(name)
    return name


def text_of(notebook: Any) -> str:
    """A notebook as the text of its file."""
    return nbformat.writes(notebook, version=4) + "\n"
