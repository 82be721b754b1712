"""Name the fault behind a failed exercise: the one change to the reference that does on every call what the answer did.

The answer's own code never runs here. What it gave during the checks is compared with what each faulty reference gives
on the same inputs; where several agree, the answer is asked again through its trial, a few times at most.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attnlab.checking import Check, run_check
from attnlab.device_names import CPU
from attnlab.fault import Fault
from attnlab.recording import Outcome
from attnlab.trial import Call, Trial
from attnlab.verdict import AnswerError, Verdict
from grader.budget import Budget
from grader.faults import Library, read_faults
from grader.hidden import hidden_checks
from grader.judge import Evidence, Finding
from grader.reference import Reference
from grader.search import Explanation, Search

__all__ = ["OPENING", "Budget", "Diagnosis"]

OPENING = "consistent with: "

TOLD = 3
"""How many equal faults are told in one sentence; more say nothing."""

_log = logging.getLogger(__name__)


class Diagnosis:
    """A `Diagnose` of the course's reference and its named faults; the whole library unless `faults` are given."""

    def __init__(
        self,
        reference: Reference,
        faults: Sequence[Fault] | None = None,
        budget: Callable[[], Budget] = Budget,
        checks: Callable[[str], Iterable[Check]] = hidden_checks,
    ) -> None:
        self.library = Library(reference, read_faults() if faults is None else tuple(faults))
        self._budget = budget
        self._checks = checks
        self._probes: dict[tuple[str, str], tuple[Call, ...]] = {}

    def __call__(self, evidence: Evidence) -> Finding | None:
        """Name the fault, or None where none fits or anything goes wrong."""
        try:
            found = self.explanations(evidence)
        except Exception:
            _log.exception("the diagnosis of %s failed", evidence.exercise)
            return None
        return _finding(found) if found else None

    def explanations(self, evidence: Evidence) -> tuple[Explanation, ...]:
        """What is left in the end, most specific first: one fault each, or two together. () for none."""
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Search(self.library, evidence, self._budget(), self.probes).explanations()

    def probes(self, exercise: str) -> Iterator[Call]:
        """Inputs of the exercise's checks, drawn once with seeds of their own."""
        function = self.library.reference.functions[exercise]
        for seed, check in enumerate(self._checks(exercise)):
            if (exercise, check.name) not in self._probes:
                trial = Trial(_Plain(function), seed=seed, reference=function)
                run_check(check, trial)
                self._probes[exercise, check.name] = tuple(trial.calls)
            yield from self._probes[exercise, check.name]


@dataclass(frozen=True)
class _Plain:
    """One of our own functions as an answer, without the recording that makes a call ten times dearer."""

    function: Callable[..., Any]

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str = CPU) -> Outcome:
        if device != CPU:  # our own functions are where they ought to be, and only values are wanted here
            return Outcome(None)
        try:
            return Outcome(self.function(*args, **kwargs))
        except Exception as error:
            raise AnswerError(Verdict.ERRORED, type(error).__name__) from error


def _finding(explanations: Sequence[Explanation]) -> Finding | None:
    if len(explanations) > TOLD:
        return None
    told = (", and ".join(fault.words for fault in explanation) for explanation in explanations)
    helps = " ".join(fault.help for fault in explanations[0])
    return Finding(OPENING + ", or ".join(told), helps)
