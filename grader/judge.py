"""Judge answers against the hidden checks. Runs in the trusted process; evaluates nothing that the learner sends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnlab.checking import Check, run_check
from attnlab.library import forbidden, handed_over
from attnlab.trial import Answer, Trial
from attnlab.verdict import CheckResult, Verdict
from grader.hidden import hidden_checks
from grader.ledger import ExerciseRow

__all__ = ["Diagnose", "Evidence", "Finding", "judge_exercise", "ungraded_exercise"]


@dataclass(frozen=True)
class Evidence:
    """What an exercise's checks saw, for the diagnosis.

    failed: trials of the checks that failed or in which the answer raised, at least one; passed: those of the others
    alive: whether the answer can still be asked, through a trial's `outcome`
    """

    exercise: str
    failed: tuple[Trial, ...]
    passed: tuple[Trial, ...] = ()
    alive: bool = True


@dataclass(frozen=True)
class Finding:
    """What a diagnosis says: the named fault in words, and a help for checks that have none of their own."""

    words: str
    help: str = ""


Diagnose = Callable[[Evidence], Finding | None]
"""Called once for an exercise that lost points; names its fault, or None. Never raises."""

_WRONG = (Verdict.FAILED, Verdict.ERRORED)
_FATAL = (Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY, Verdict.BLOCKED)


def judge_exercise(
    exercise: str,
    answer: Answer,
    *,
    reference: Mapping[str, Callable[..., Any]],
    seed: int,
    device: str = "cpu",
    diagnose: Diagnose | None = None,
    checks: tuple[Check, ...] | None = None,
) -> ExerciseRow:
    """Run every hidden check of `exercise` on `answer`.

    Each check draws its inputs from the seed and its own name, so the result does not depend on the order of checks.
    After a call that hung or died the remaining checks are skipped: the process that answered them is gone.
    """
    results: dict[str, CheckResult] = {}
    failed: list[Trial] = []
    passed: list[Trial] = []
    library: set[str] = set()
    gone = ""
    with torch.random.fork_rng(devices=[]):
        for check in hidden_checks(exercise) if checks is None else checks:
            missing = [name for name in check.needs if results[name].verdict is not Verdict.PASSED]
            if gone or missing:
                why = f"Not run: {gone or f'{missing[0]} did not pass'}."
                results[check.name] = _row(check, Verdict.SKIPPED, why)
                continue
            trial = Trial(answer, seed=_seed(seed, exercise, check.name), reference=reference[exercise], device=device)
            result = run_check(check, trial, hidden=True)
            results[check.name] = result
            library |= trial.library
            if result.verdict in _WRONG:
                failed.append(trial)
            elif result.verdict is Verdict.PASSED:
                passed.append(trial)
            if result.verdict in _FATAL:
                gone = f"the answer did not survive {check.name}"
    if called := forbidden(exercise, library):
        return ExerciseRow(exercise, tuple(handed_over(check, called) for check in results.values()))
    rows = tuple(results.values())
    if failed and diagnose:
        found = diagnose(Evidence(exercise, tuple(failed), tuple(passed), alive=not gone))
        rows = tuple(_named(row, found) for row in rows)
    return ExerciseRow(exercise, rows)


def ungraded_exercise(exercise: str, verdict: Verdict, rationale: str, help: str = "") -> ExerciseRow:
    """The row of an exercise whose answer could not be called at all."""
    return ExerciseRow(exercise, tuple(_row(check, verdict, rationale, help) for check in hidden_checks(exercise)))


def _named(row: CheckResult, found: Finding | None) -> CheckResult:
    if found is None or row.verdict not in _WRONG:
        return row
    return replace(row, fault=found.words, help=row.help or found.help)


def _row(check: Check, verdict: Verdict, rationale: str, help: str = "") -> CheckResult:
    return CheckResult(check.name, verdict, rationale, help, None, True, 0.0, check.points)


def _seed(seed: int, *names: str) -> int:
    """A seed of 63 bits for one check, from the submission's."""
    digest = hashlib.sha256(":".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
