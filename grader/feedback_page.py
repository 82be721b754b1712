"""Feedback: one page for one submission, from its ledger, its executed notebook and what a person added.

The page runs nothing. It is in the style of `check`, so that a learner reads the same marks in both places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from nbformat import NotebookNode

from attnlab.house import FAILED, OPEN, PASSED, Mark, badge, div
from attnlab.verdict import CheckResult, Verdict
from grader.hidden import clause_of
from grader.ledger import ExerciseRow, Ledger
from grader.safe_outputs import clean_html, clean_text
from grader.web import Html, document, heading, rows

__all__ = ["Given", "feedback_page"]

MAX_TEXT = 20_000
"""Characters of one output that are shown; nobody reads more."""

_MARKS = {
    Verdict.PASSED: PASSED,
    Verdict.FAILED: FAILED,
    Verdict.ERRORED: Mark("✗", "raised an error", FAILED.colour),
    Verdict.TIMED_OUT: Mark("✗", "took too long", FAILED.colour),
    Verdict.OUT_OF_MEMORY: Mark("✗", "too much memory", FAILED.colour),
    Verdict.BLOCKED: Mark("✗", "not allowed", FAILED.colour),
    Verdict.SKIPPED: OPEN,
    Verdict.BROKEN: Mark("?", "our fault", OPEN.colour),
}
_COMMENT = Mark("✎", "comment", OPEN.colour)
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+\Z")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PICTURES = ("image/png", "image/jpeg")


@dataclass(frozen=True)
class Given:
    """What the gradebook adds to a ledger.

    manual: points that a person gave, by exercise; comments: what a person wrote, by exercise
    """

    penalty: float = 0.0
    manual: Mapping[str, float] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)


def feedback_page(lesson: str, student: str, ledger: Ledger, notebook: NotebookNode, given: Given | None = None) -> str:
    """The page as the text of its file. `notebook` is the executed one; none of its markup or programs is trusted."""
    return document(f"Feedback: {lesson}", Html("".join(_parts(lesson, student, ledger, notebook, given or Given()))))


def _parts(lesson: str, student: str, ledger: Ledger, notebook: NotebookNode, given: Given) -> Iterator[str]:
    yield heading(1, f"Feedback: {lesson}")
    points = {row.name: given.manual.get(row.name, row.points) for row in ledger.exercises}
    total = max(0.0, sum(points.values()) - given.penalty)
    yield f"<p>{escape(student)}: <b>{total:g} of {ledger.max_points:g} points</b>"
    yield f", after {given.penalty:g} taken off for being late</p>" if given.penalty else "</p>"
    if ledger.reason:
        yield _note(FAILED, "This submission was not graded.", (ledger.reason, "A person has to look at it."))
    lines = [(_link(row.name), points[row.name], row.max_points, _state(row, ledger)) for row in ledger.exercises]
    yield rows(("exercise", "points", "of", ""), lines)
    cells = {_grade_id(cell): cell for cell in notebook.cells if _grade_id(cell)}
    for row in ledger.exercises:
        yield heading(2, f"{row.name}: {points[row.name]:g} of {row.max_points:g} points", id=row.name)
        if row.name in given.manual:
            yield f"<p>A person gave {given.manual[row.name]:g} points; the checks gave {row.points:g}.</p>"
        if comment := given.comments.get(row.name, "").strip():
            yield _note(_COMMENT, "From your teacher", (comment,))
        if not ledger.reason:
            yield from _checks(row)
        if (answer := cells.get(row.name)) is not None:
            yield _details("Your answer", _code(answer), is_open=bool(row.lost))
    others = "".join(_cell(cell) for cell in notebook.cells if not _is_ours(cell))
    if others:
        yield heading(2, "The rest of your notebook")
        yield "<p>As it ran when it was graded. What stands here is your code's own words and counts for nothing.</p>"
        yield _details("Your other cells", Html(others))


def _checks(row: ExerciseRow) -> Iterator[str]:
    """The faults, then lost checks in full, the others folded away. What was just said is not said again."""
    for fault in dict.fromkeys(check.fault for check in row.lost if check.fault):
        yield f"<p>Your answer is {escape(fault)}.</p>"  # it begins with "consistent with"
    before: tuple[str, ...] = ()
    for check in row.lost:
        notes = tuple(part for part in (check.rationale, check.help) if part)
        again = bool(notes) and notes == before
        yield _check(row.name, check, ("As above.",) if again and check.verdict is not Verdict.SKIPPED else notes)
        before = notes
    passed = [check for check in row.checks if check.verdict is Verdict.PASSED]
    if passed:
        words = f"{len(passed)} {'check' if len(passed) == 1 else 'checks'} passed"
        yield _details(words, Html("".join(_check(row.name, check, ()) for check in passed)))


def _check(exercise: str, check: CheckResult, notes: tuple[str, ...]) -> str:
    points = f"{check.points:g} of {check.max_points:g}"
    faint = f'<span class="faint" style="white-space:nowrap">{points}</span>'
    clause = Html(f"{escape(clause_of(exercise, check.name))} {faint}")
    return _note(_MARKS[check.verdict], clause, notes)


def _note(mark: Mark, words: str, notes: tuple[str, ...]) -> str:
    """A line with a mark, as `check` shows its own, and what belongs to it under it."""
    head = badge(mark) + (words if isinstance(words, Html) else escape(words))
    more = "".join(div("margin:0.2em 0 0 1em;white-space:pre-line;", escape(clean_text(note))) for note in notes)
    return div(f"margin-top:0.5em;padding-left:0.6em;border-left:3px solid {mark.colour};", head + more)


def _state(row: ExerciseRow, ledger: Ledger) -> str:
    if ledger.reason:
        return "not graded"
    lost = len(row.lost)
    return "all right" if not lost else f"{lost} of {len(row.checks)} checks lost"


def _link(exercise: str) -> Html:
    return Html(f'<a href="#{escape(exercise)}">{escape(exercise)}</a>')


def _details(words: str, content: Html, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(words)}</summary>{content}</details>"


def _cell(cell: NotebookNode) -> str:
    if cell.cell_type != "code":
        return div("white-space:pre-wrap;margin:0.8em 0;", escape(_cut(cell.source))) if _is_added(cell) else ""
    return _code(cell) if cell.source.strip() else ""


def _code(cell: NotebookNode) -> Html:
    shown = "".join(_output(output) for output in cell.get("outputs", []))
    return Html(f"<pre><code>{escape(_cut(clean_text(cell.source)))}</code></pre>{shown}")


def _output(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return _plain(output.text)
    if output.output_type == "error":
        return _plain("\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
    data: dict[str, Any] = output.get("data", {})
    for mime in _PICTURES:
        if isinstance(picture := data.get(mime), str) and _BASE64.match(picture):
            return f'<img alt="picture" src="data:{mime};base64,{re.sub(r"[^A-Za-z0-9+/=]", "", picture)}">'
    if isinstance(page := data.get("text/html"), str):
        return f'<div class="wide">{clean_html(page)}</div>'
    return _plain(str(data.get("text/plain", "")))


def _plain(text: str) -> str:
    return f'<pre class="faint">{escape(_cut(clean_text(_COLOUR.sub("", text))))}</pre>'


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n[and {len(text) - MAX_TEXT} more characters]"


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _is_ours(cell: NotebookNode) -> bool:
    """Cells of the lesson's own: given and tests, which everyone has, and the answers, which stand elsewhere."""
    return bool(_grade_id(cell))


def _is_added(cell: NotebookNode) -> bool:
    return str(cell.get("id", "")).startswith("added-")
