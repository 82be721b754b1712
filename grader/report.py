"""The ledger in the forms that people read: terminal table, JSON, and the judge's words in a notebook."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable

import nbformat
from rich.table import Table
from rich.text import Text

from attnlab.verdict import CheckResult, Verdict
from grader.hidden import clause_of
from grader.ledger import FORMAT, ExerciseRow, Ledger

__all__ = ["in_words", "ledger_outputs", "reason_cell", "score_json", "score_table"]

MARKS = {Verdict.PASSED: "✓", Verdict.SKIPPED: "–", Verdict.BROKEN: "?"}
"""A mark for each verdict, so that colour is never the only sign; everything else is a loss."""

LOSS = "✗"


def score_json(rows: Iterable[tuple[str, Ledger]]) -> str:
    """The machine's form of `score`: one object, files in the order given."""
    submissions = [{"file": file, **ledger.to_json()} for file, ledger in rows]
    return json.dumps({"format": FORMAT, "submissions": submissions}, indent=2, ensure_ascii=False)


def score_table(rows: Iterable[tuple[str, Ledger]], *, title: str = "", first: str = "file") -> Table:
    """One line a submission: who, lesson, points, and what was wrong in words."""
    table = Table(title=title or None, title_justify="left", show_lines=True, expand=False)
    table.add_column(first, overflow="fold")
    table.add_column("lesson")
    table.add_column("points", justify="right")
    table.add_column("what was wrong", overflow="fold")
    for who, ledger in rows:
        points = f"{ledger.points:g} / {ledger.max_points:g}" if not ledger.reason else "–"
        points += "\nunsafe" if ledger.unsafe else ""
        # text from a submission is never markup
        table.add_row(Text(who), ledger.lesson or "–", points, Text(in_words(ledger) or "all right"))
    return table


def in_words(ledger: Ledger) -> str:
    """What a submission lost and why, one line an exercise; "" where nothing was lost."""
    if ledger.reason:
        return f"ungraded: {ledger.reason}"
    return "\n".join(f"{row.name}: {_cause(row)}" for row in ledger.exercises if row.lost)


def _cause(row: ExerciseRow) -> str:
    """One sentence for an exercise: the fault where one is named, else the first lost check's rationale."""
    lost = [check for check in row.lost if check.verdict is not Verdict.SKIPPED] or list(row.lost)
    named = next((check.fault for check in lost if check.fault), None)
    first = lost[0]
    words = named or first.rationale or first.verdict.value.replace("_", " ")
    return words


def ledger_outputs(row: ExerciseRow) -> list[nbformat.NotebookNode]:
    """The judge's report of one exercise as a notebook output, in HTML and in text."""
    data = {"text/plain": _text(row), "text/html": _html(row)}
    return [nbformat.v4.new_output("display_data", data=data)]


def _text(row: ExerciseRow) -> str:
    lines = [f"{row.name}: {row.points:g} of {row.max_points:g} points"]
    for check in row.checks:
        lines.append(f"{_mark(check)} {check.name}: {clause_of(row.name, check.name)}")
        lines += [f"    {part}" for part in _parts(check)]
    return "\n".join(lines)


def _html(row: ExerciseRow) -> str:
    """Escaped throughout: rationales quote what the student's code raised."""
    items = []
    for check in row.checks:
        more = "".join(f"<br><small>{html.escape(part)}</small>" for part in _parts(check))
        clause = html.escape(clause_of(row.name, check.name))
        points = f"<small>({check.points:g}/{check.max_points:g})</small>"
        items.append(f"<li><b>{_mark(check)}</b> {clause} {points}{more}</li>")
    head = f"<p><b>{html.escape(row.name)}</b>: {row.points:g} of {row.max_points:g} points</p>"
    return f'<div class="ledger">{head}<ul>{"".join(items)}</ul></div>'


def _parts(check: CheckResult) -> list[str]:
    if check.verdict is Verdict.PASSED:
        return []
    fault = f"This is {check.fault}." if check.fault else ""  # it begins with "consistent with"
    return [part for part in (check.rationale, fault, check.help) if part]


def _mark(check: CheckResult) -> str:
    return MARKS.get(check.verdict, LOSS)


def reason_cell(reason: str) -> nbformat.NotebookNode:
    """The first cell of a submission that could not be graded."""
    text = f"**This submission was not graded.** {html.escape(reason)}\n\nA person has to look at it."
    return nbformat.v4.new_markdown_cell(text, id="not-graded")
