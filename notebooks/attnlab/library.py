"""Calls that would hand an exercise to the library: which of them ran, and what the learner is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

from attnlab.exercises import EXERCISES
from attnlab.verdict import CheckResult, Verdict

__all__ = ["forbidden", "handed_over"]


def forbidden(exercise: str, library: Iterable[str]) -> str:
    """A library function that ran although this exercise is to write it, or ""."""
    patterns = (*EXERCISES[exercise].library, f"stand_in:{exercise}")
    return next((name for name in sorted(library) for p in patterns if fnmatchcase(name, p)), "")


def handed_over(result: CheckResult, called: str) -> CheckResult:
    """The row of a check once it is known that the answer called the exercise instead of writing it."""
    name = called.removeprefix("stand_in:")
    return replace(
        result,
        verdict=Verdict.FAILED,
        points=0.0,
        rationale=f"Your answer calls {name}; this exercise is to write that function.",
        help="Compute it with plain tensor operations; everything else of the library may be used.",
        fault=None,
    )
