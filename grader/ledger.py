"""The ledger: what every check of a submission found and earned, written by the trusted side alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnlab.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["FORMAT", "ExerciseRow", "Graded", "Ledger"]

FORMAT = 1
"""Version of the JSON form; raised when a field changes its meaning."""


@dataclass(frozen=True)
class ExerciseRow:
    """One exercise of a submission with its checks. Its points are the sum of theirs."""

    name: str
    checks: tuple[CheckResult, ...]

    @property
    def points(self) -> float:
        return sum(check.points for check in self.checks)

    @property
    def max_points(self) -> float:
        return sum(check.max_points for check in self.checks)

    @property
    def lost(self) -> tuple[CheckResult, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if check.verdict is not Verdict.PASSED)


@dataclass(frozen=True)
class Ledger:
    """One submission's record.

    lesson: None where it could not be told which lesson the file belongs to
    reason: why it is ungraded; "" for a graded one
    unsafe: whether it ran without a sandbox, where a notebook can reach what it is judged by
    """

    lesson: str | None
    exercises: tuple[ExerciseRow, ...] = ()
    reason: str = ""
    unsafe: bool = False

    @property
    def status(self) -> str:
        return "ungraded" if self.reason else "graded"

    @property
    def points(self) -> float:
        return sum(row.points for row in self.exercises)

    @property
    def max_points(self) -> float:
        return sum(row.max_points for row in self.exercises)

    @property
    def broken(self) -> bool:
        """Whether a check failed by our fault, so that a person must look."""
        return any(check.verdict is Verdict.BROKEN for row in self.exercises for check in row.checks)

    def to_json(self) -> dict[str, Any]:
        """The ledger as plain data."""
        return {
            "lesson": self.lesson,
            "status": self.status,
            "reason": self.reason,
            **({"unsafe": True} if self.unsafe else {}),
            "points": self.points,
            "max_points": self.max_points,
            "exercises": [
                {
                    "name": row.name,
                    "points": row.points,
                    "max_points": row.max_points,
                    "checks": [{**vars(check)} for check in row.checks],
                }
                for row in self.exercises
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Ledger:
        """The inverse of `to_json`."""
        rows = tuple(
            ExerciseRow(
                row["name"],
                tuple(CheckResult(**{**check, "verdict": Verdict(check["verdict"])}) for check in row["checks"]),
            )
            for row in data["exercises"]
        )
        return cls(data["lesson"], rows, data["reason"], data.get("unsafe", False))


@dataclass(frozen=True)
class Graded:
    """What comes of one submission: its executed notebook and its ledger."""

    notebook: NotebookNode
    ledger: Ledger
