"""Name the fault behind a failed exercise: the one change to the reference that does on every call what the answer did.

The answer's own code never runs here. What it gave during the checks is compared with what each faulty reference gives
on the same inputs; where several agree, the answer is asked again through its trial, a few times at most.
"""

from __future__ import annotations

import itertools
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from attnlab.checking import Check, run_check
from attnlab.fault import Fault
from attnlab.recording import Outcome, record
from attnlab.trial import Call, Trial
from attnlab.verdict import AnswerError, Verdict
from grader.faults import FaultError, Library, read_faults
from grader.judge import Evidence, Finding, hidden_checks
from grader.likeness import Behaviour, behave, unlike
from grader.reference import Reference

__all__ = ["OPENING", "Budget", "Diagnosis"]

OPENING = "consistent with: "

ASKED = 3
"""How often the answer is asked again: each time halves what is left or better, and a sandbox's call takes its time."""

PROBES = 40
"""How many inputs are looked through for one on which the faults left differ."""

PAIRED = 24
"""Of how many faults pairs are made: 276 pairs at most, about a second where one call costs 4 ms."""

SAMPLED = 6
"""On how many calls of failed checks a fault must show what it explains, to be preferred for pairs."""

TOLD = 3
"""How many equal faults are told in one sentence; more say nothing."""

CLOSER = 1e-3
"""A fault that fits this many times closer than another is meant: the same arithmetic against something near it."""

COSTLIER = 1.3
"""A fault in how much is computed shows as at least this many times the operations of the reference."""

SLIPS = ("NotImplementedError", "NameError", "UnboundLocalError", "AttributeError", "ImportError", "SyntaxError")
"""Exceptions of unwritten or mistyped code, which no fault of the library raises."""

_log = logging.getLogger(__name__)


@dataclass
class Budget:
    """What a diagnosis may spend: evaluations of faulty references, and seconds of this thread's CPU time.

    Evaluations are what decides as a rule; the seconds are there for inputs that are dearer than foreseen.
    """

    evaluations: int = 4000  # a cheap exercise's call takes 0.1 ms to 0.3 ms
    seconds: float = 1.5  # of the 2 s that a failing exercise may cost; the rest is for the last call and for asking
    clock: Callable[[], float] = time.thread_time
    started: float = field(init=False)
    spent: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def spend(self) -> None:
        """Note one evaluation. Raises _SpentError where there is none left."""
        if self.spent >= self.evaluations or self.clock() - self.started > self.seconds:
            raise _SpentError
        self.spent += 1


class _SpentError(Exception):
    """The budget is used up."""


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
            found = self.faults(evidence)
        except Exception:
            _log.exception("the diagnosis of %s failed", evidence.exercise)
            return None
        return _finding(found) if found else None

    def faults(self, evidence: Evidence, budget: Budget | None = None) -> tuple[tuple[Fault, ...], ...]:
        """The explanations left in the end, most specific first: one fault each, or two together. () for none."""
        search = _Search(self, evidence, budget or self._budget())
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return search.explanations() if search.worthwhile else ()

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

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Outcome:
        try:
            return Outcome(self.function(*args, **kwargs))
        except Exception as error:
            raise AnswerError(Verdict.ERRORED, type(error).__name__) from error


_Explanation = tuple[Fault, ...]


@dataclass
class _Search:
    """One diagnosis under way."""

    diagnosis: Diagnosis
    evidence: Evidence
    budget: Budget

    @property
    def library(self) -> Library:
        return self.diagnosis.library

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """All recorded calls: those where the answer is known to be wrong, the rest of failed checks, the others.

        The cheap ones of each kind come first: most faults are told apart by any of them.
        """
        failed = [call for trial in self.evidence.failed for call in trial.calls]
        passed = [call for trial in self.evidence.passed for call in trial.calls]
        wrong = [call for call in failed if call.raised or call.agrees is False]
        rest = [call for call in failed if not (call.raised or call.agrees is False)]
        return tuple(call for kind in (wrong, rest, passed) for call in sorted(kind, key=lambda call: call.operations))

    @property
    def worthwhile(self) -> bool:
        """Whether there is anything to go by: a call, and not one that ends in a slip of typing."""
        return bool(self.calls) and not any(call.raised.startswith(_SLIPPED) for call in self.calls)

    def explanations(self) -> tuple[_Explanation, ...]:
        try:
            if self._fits(()) is not None:
                return self._costlier()
            found = self._singles()
        except _SpentError:
            return ()
        try:
            found = found or self._pairs()
            return self._most_specific(self._asked(_closest(found)))
        except _SpentError:
            return self._most_specific(_closest(found))

    # single faults ----------------------------------------------------------------------------------------------------

    def _singles(self) -> dict[_Explanation, float]:
        """The faults that did on every call what the answer did, with how far they are from it."""
        found: dict[_Explanation, float] = {}
        for fault in self.library.concerning(self.evidence.exercise):
            try:
                distance = self._fits((fault,))
            except _SpentError:
                if not found:
                    raise
                break
            if distance is not None:
                found[fault,] = distance
        return found

    def _fits(self, faults: _Explanation, calls: Iterable[Call] | None = None) -> float | None:
        """The largest distance over the calls, or None at the first that does not fit."""
        function = self.library.functions(*faults)[self.evidence.exercise]
        worst = 0.0
        exact = False
        for call in self.calls if calls is None else calls:
            distance = unlike(call, self._behaviour(function, call), _coarsest(call))
            if distance == math.inf:
                return None
            exact |= not (call.raised and distance)
            worst = max(worst, distance)
        return worst if exact else None

    def _behaviour(self, function: Callable[..., Any], call: Call) -> Behaviour:
        self.budget.spend()
        return behave(function, call.args, call.kwargs)

    def _costlier(self) -> tuple[_Explanation, ...]:
        """For an answer whose values are all right: the faults that compute the same with more operations."""
        exercise = self.evidence.exercise
        call = max((call for trial in self.evidence.failed for call in trial.calls), key=lambda call: call.operations)
        usual = self._operations(self.library.functions()[exercise], call)
        if call.operations < COSTLIER * usual:
            return ()
        found = {}
        for fault in self.library.concerning(exercise):
            if self.library.distance(fault, exercise):
                break
            count = self._operations(self.library.functions(fault)[exercise], call)
            if count >= COSTLIER * usual and self._fits((fault,)) is not None:
                found[fault,] = abs(math.log(count / call.operations))
        return tuple(sorted(found, key=lambda explanation: found[explanation]))[:1]

    def _operations(self, function: Callable[..., Any], call: Call) -> int:
        self.budget.spend()
        try:
            return record(function, call.args, call.kwargs).operations
        except Exception:
            return 0

    # several that fit -------------------------------------------------------------------------------------------------

    def _asked(self, left: list[_Explanation]) -> list[_Explanation]:
        """Those of `left` that still fit after the answer was asked about inputs on which they differ.

        The reference itself is one of the crowd: a fault must be seen to differ from what is right.
        """
        if not left or not self.evidence.alive:
            return left
        asked = 0
        for probe in itertools.islice(self.diagnosis.probes(self.evidence.exercise), PROBES):
            if asked == ASKED:
                break
            crowd = [(one, self._on(one, probe)) for one in (*left, ())]
            if all(unlike(crowd[0][1], other) <= 1.0 for _, other in crowd[1:]):
                continue
            asked += 1
            seen = self._ask(probe)
            left = [one for one, ours in crowd if one and unlike(seen, ours, _coarsest(probe)) < math.inf]
            if len(left) < 2:
                break
        return left

    def _on(self, explanation: _Explanation, probe: Call) -> Behaviour:
        return self._behaviour(self.library.functions(*explanation)[self.evidence.exercise], probe)

    def _ask(self, probe: Call) -> Call:
        trial = self.evidence.failed[0]
        try:
            trial.outcome(*probe.args, **probe.kwargs)
        except AnswerError as error:
            return Call(probe.args, probe.kwargs, None, raised=error.rationale)
        return trial.calls[-1]

    def _most_specific(self, left: list[_Explanation]) -> tuple[_Explanation, ...]:
        """Those nearest to the exercise, in the library's order."""

        def distance(explanation: _Explanation) -> int:
            return max(self.library.distance(fault, self.evidence.exercise) for fault in explanation)

        nearest = min(map(distance, left), default=0)
        return tuple(one for one in left if distance(one) == nearest)

    # pairs ------------------------------------------------------------------------------------------------------------

    def _pairs(self) -> dict[_Explanation, float]:
        """The first pair of faults that fits. Only faults that do not show where the answer is right can be in one."""
        right = [call for call in self.calls if call.agrees]
        concerning = self.library.concerning(self.evidence.exercise)
        able = [fault for fault in concerning if not right or self._fits((fault,), right) is not None]
        able.sort(key=self._explained, reverse=True)
        for pair in itertools.combinations(able[:PAIRED], 2):
            try:
                distance = self._fits(pair)
            except FaultError:  # both change the same text
                continue
            if distance is not None:
                return {pair: distance}
        return {}

    def _explained(self, fault: Fault) -> int:
        """On how many of the first calls of failed checks the fault alone does what the answer did."""
        return sum(self._fits((fault,), [call]) is not None for call in self.calls[:SAMPLED])


_SLIPPED = ("It is not written yet", *(f"It raised {kind}" for kind in SLIPS))


def _coarsest(call: Call) -> torch.dtype:
    """The coarsest floating dtype among the inputs."""
    dtypes = {a.dtype for a in call.args if isinstance(a, torch.Tensor) and a.is_floating_point()}
    return max(dtypes, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float64)


def _closest(found: Mapping[_Explanation, float]) -> list[_Explanation]:
    """Those that fit about as closely as the closest one."""
    if not found:
        return []
    limit = max(min(found.values()) / CLOSER, CLOSER)
    return [explanation for explanation, distance in found.items() if distance <= limit]


def _finding(explanations: Sequence[_Explanation]) -> Finding | None:
    if len(explanations) > TOLD:
        return None
    told = (", and ".join(fault.words for fault in explanation) for explanation in explanations)
    helps = " ".join(fault.help for fault in explanations[0])
    return Finding(OPENING + ", or ".join(told), helps)
