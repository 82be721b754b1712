"""A check is a function: its name is its id, its docstring is the clause it holds the answer to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from attnlab.trial import Trial
from attnlab.verdict import AnswerError, CheckResult, Failed, Verdict

__all__ = ["Check", "Kind", "check_of", "checks_in", "run_check"]

Kind = Literal["value", "metamorphic", "contract"]
"""value: equal to what the reference gives. metamorphic: how the output moves when the input does.
contract: shape, dtype, device, inputs left alone."""


@dataclass(frozen=True)
class Check:
    """One named condition on one exercise.

    points: what it is worth
    needs: names of checks of the same exercise that must pass first; else this one is skipped
    run: called with a Trial; returns when the clause holds, raises Failed when not
    """

    name: str
    exercise: str
    clause: str
    kind: Kind
    points: float
    needs: tuple[str, ...]
    run: Callable[[Trial], None]


def check_of(
    exercise: str, *, points: float, kind: Kind = "value", needs: tuple[str, ...] = ()
) -> Callable[[Callable[[Trial], None]], Check]:
    """Make a check of `exercise` from a function. The function's docstring is what the learner reads."""

    def make(run: Callable[[Trial], None]) -> Check:
        clause = inspect.cleandoc(run.__doc__ or "")
        if not clause:
            raise ValueError(f"check {run.__name__} of {exercise} has no docstring: the learner would read nothing")
        return Check(run.__name__, exercise, clause, kind, points, needs, run)

    return make


def checks_in(module: ModuleType, exercise: str | None = None) -> tuple[Check, ...]:
    """The checks that `module` defines, in the order of its text; of one exercise where named."""
    found = (value for value in vars(module).values() if isinstance(value, Check))
    return tuple(check for check in found if exercise in (None, check.exercise))


def run_check(check: Check, trial: Trial, *, hidden: bool = False) -> CheckResult:
    """Run one check on one trial. Never raises: a fault of the check itself comes out as `broken`, at no cost."""

    def result(verdict: Verdict, rationale: str = "", help: str = "") -> CheckResult:
        earned = check.points if verdict in (Verdict.PASSED, Verdict.BROKEN) else 0.0
        return CheckResult(check.name, verdict, rationale, help, None, hidden, earned, check.points)

    try:
        check.run(trial)
    except Failed as failed:
        return result(Verdict.FAILED, failed.rationale, failed.help)
    except AnswerError as error:
        return result(error.verdict, error.rationale, error.help)
    except Exception as error:
        why = f"The check itself failed ({type(error).__name__}: {error})."
        return result(Verdict.BROKEN, why, "Tell your teacher.")
    return result(Verdict.PASSED)
