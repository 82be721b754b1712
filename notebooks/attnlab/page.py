"""The two readable forms of what the checks found: text for a terminal, HTML for a notebook."""

from __future__ import annotations

from html import escape

from attnlab.checking import Check
from attnlab.examine import Findings
from attnlab.exercises import EXERCISES
from attnlab.verdict import CheckResult, Verdict

__all__ = ["html_of", "text_of"]

_WORDS = {Verdict.PASSED: "passed", Verdict.SKIPPED: "not run", Verdict.BROKEN: "broken"}
_SIGNS = {Verdict.PASSED: "✓", Verdict.SKIPPED: "–", Verdict.BROKEN: "?"}


def text_of(findings: Findings) -> str:
    """Lines for a terminal: a headline, one line for each check with what was seen, the next step."""
    if findings.unwritten:
        return _headline(findings)
    lines = [_headline(findings)]
    for check, result in zip(findings.checks, findings.results, strict=True):
        lines.append(f"  {_sign(result)} {check.name} ({_worth(result)}): {check.clause}")
        lines += [f"      {words}" for words in (result.rationale, result.help) if words]
    lines.append(_next(findings))
    if findings.printed:
        lines.append(f"Your function printed: {findings.printed.strip()}")
    return "\n".join(lines)


def html_of(findings: Findings | None, problem: str = "") -> str:
    """The same as a piece of a page: inline style only, everything escaped."""
    if findings is None:
        return f"<p>{escape(problem)}</p>"
    return f"<pre>{escape(text_of(findings))}</pre>"


def _headline(findings: Findings) -> str:
    if findings.unwritten:
        return f"{findings.exercise}: not written yet. {_most(findings):g} points wait for it."
    return f"{findings.exercise}: {findings.points:g} of {_most(findings):g} points"


def _next(findings: Findings) -> str:
    open_ = [c for c, r in _rows(findings) if r.verdict is not Verdict.PASSED]
    return f"Next: {open_[0].name}." if open_ else "All public checks pass."


def _rows(findings: Findings) -> list[tuple[Check, CheckResult]]:
    return list(zip(findings.checks, findings.results, strict=True))


def _most(findings: Findings) -> float:
    return EXERCISES[findings.exercise].points


def _sign(result: CheckResult) -> str:
    return f"{_SIGNS.get(result.verdict, '✗')} {_WORDS.get(result.verdict, 'failed')}"


def _worth(result: CheckResult) -> str:
    return f"{result.points:g} of {result.max_points:g}"
