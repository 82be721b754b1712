"""The two readable forms of what the checks found: text for a terminal, HTML for a notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from attnlab.examine import Findings
from attnlab.exercises import EXERCISES
from attnlab.house import FAILED, OPEN, PASSED, Mark, badge, box, div
from attnlab.verdict import Verdict

__all__ = ["html_of", "problem_html", "text_of"]

_WIDTH = 100  # characters of a terminal line: fits half a wide screen


_BROKEN = Mark("?", "broken", "#6b6b6b")
_MARKS = {Verdict.PASSED: PASSED, Verdict.SKIPPED: OPEN, Verdict.BROKEN: _BROKEN}


@dataclass(frozen=True)
class _Row:
    """One check as both forms show it."""

    mark: Mark
    name: str
    clause: str
    points: str
    notes: tuple[str, ...]


def text_of(findings: Findings) -> str:
    """Lines for a terminal: a headline, the checks with what was seen, the next step."""
    lines = [_headline(findings)]
    if common := _common(findings):
        lines += common
    elif not findings.unwritten:
        for row in _rows(findings):
            lines += _wrapped(f"  {row.mark.sign} {row.mark.word:7} ", f"{row.clause} ({row.name}, {row.points})")
            lines += [line for note in row.notes for line in _wrapped(" " * 14, note)]
    lines.append(_next(findings))
    if findings.printed.strip():
        lines += ["Your function printed:", textwrap.indent(findings.printed.strip(), "  ")]
    return "\n".join(lines)


def html_of(findings: Findings) -> str:
    """The same as a piece of a page: inline style only, no script, everything escaped."""
    parts = [div("font-weight:600;", escape(_headline(findings)))]
    if common := _common(findings):
        parts += [div("margin-top:0.3em;", escape(note)) for note in common]
    elif not findings.unwritten:
        parts += [_row_html(row) for row in _rows(findings)]
    parts.append(div("margin-top:0.6em;", escape(_next(findings))))
    if printed := findings.printed.strip():
        parts.append(
            f'<details style="margin-top:0.6em;"><summary>Your function printed</summary>'
            f'<pre style="white-space:pre-wrap;margin:0.3em 0 0 0;">{escape(printed)}</pre></details>'
        )
    return box("".join(parts))


def problem_html(problem: str) -> str:
    """A page of one sentence, where no exercise could be told."""
    return box(escape(problem))


def _headline(findings: Findings) -> str:
    most = EXERCISES[findings.exercise].points
    if findings.unwritten:
        return f"{findings.exercise} is not written yet." + (f" {most:g} points wait for it." if most else "")
    if not most:
        passed = sum(result.verdict is Verdict.PASSED for result in findings.results)
        return f"{findings.exercise}: {passed} of {len(findings.results)} checks passed (no points)"
    return f"{findings.exercise}: {findings.points:g} of {most:g} points"


def _next(findings: Findings) -> str:
    if findings.unwritten:
        return "Replace the line 'raise NotImplementedError' by your code, then run this cell again."
    if findings.passed:
        return "All public checks pass. Grading asks the same of other inputs."
    first = next((r.name for r in findings.results if r.verdict not in (Verdict.PASSED, Verdict.SKIPPED)), "")
    then = "change your code, run its cell, then this one."
    return then.capitalize() if _common(findings) else f"Next is {first}: {then}"


def _common(findings: Findings) -> tuple[str, ...]:
    """What was seen, where every check says the same; one sentence then does for all."""
    rationales = {result.rationale for result in findings.results}
    if findings.unwritten or len(findings.results) < 2 or len(rationales) > 1 or "" in rationales:
        return ()
    first = findings.results[0]
    return tuple(note for note in (first.rationale, first.help) if note)


def _rows(findings: Findings) -> Iterator[_Row]:
    """The checks in order; a rationale that was just given is not given again."""
    before = ""
    for check, result in zip(findings.checks, findings.results, strict=True):
        mark = _MARKS.get(result.verdict, FAILED)
        notes = tuple(note for note in (result.rationale, result.help) if note)
        if notes and result.rationale == before:
            notes = ("As above.",) if mark is FAILED else ()
        before = result.rationale or before
        yield _Row(mark, check.name, check.clause, f"{result.points:g} of {result.max_points:g}", notes)


def _wrapped(head: str, words: str) -> list[str]:
    return textwrap.wrap(words, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _row_html(row: _Row) -> str:
    faint = "color:var(--jp-ui-font-color2, inherit);white-space:nowrap;"
    about = f'<span style="{faint}">{escape(row.name)}, {escape(row.points)}</span>'
    head = f"{badge(row.mark)}{escape(row.clause)} {about}"
    notes = "".join(div("margin:0.2em 0 0 1em;", escape(note)) for note in row.notes)
    return div(f"margin-top:0.5em;padding-left:0.6em;border-left:3px solid {row.mark.colour};", head + notes)
