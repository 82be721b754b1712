"""The words in which a check speaks: a verdict, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AnswerError", "CheckResult", "Failed", "Verdict"]


class Verdict(StrEnum):
    """How one check ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"  # the answer raised
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    BLOCKED = "blocked"  # the sandbox refused what the answer tried
    SKIPPED = "skipped"  # a check it depends on did not pass
    BROKEN = "broken"  # the grader's own fault: costs no points, asks for a person


class Failed(Exception):  # noqa: N818  (a verdict, not an error of ours)
    """Raised by a check when the answer breaks its clause.

    rationale: what was seen, in one sentence, without hidden values
    help: what to look at or change, in one sentence
    """

    def __init__(self, rationale: str, help: str = "") -> None:
        super().__init__(rationale)
        self.rationale = rationale
        self.help = help


class AnswerError(Exception):
    """Raised by whoever calls the answer when the call gave no value: it raised, hung, died or was refused.

    verdict: errored, timed_out, out_of_memory or blocked
    """

    def __init__(self, verdict: Verdict, rationale: str, help: str = "") -> None:
        super().__init__(rationale)
        self.verdict = verdict
        self.rationale = rationale
        self.help = help


@dataclass(frozen=True)
class CheckResult:
    """One row of a ledger: what one check found, and what it earned."""

    name: str
    verdict: Verdict
    rationale: str = ""
    help: str = ""
    fault: str | None = None  # the named fault that the output matches, in words
    hidden: bool = False
    points: float = 0.0
    max_points: float = 0.0
