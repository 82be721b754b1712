"""Search the library for the faults that do on every call what an answer did, within a budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from attnlab.fault import Fault
from attnlab.recording import record
from attnlab.trial import Call
from attnlab.verdict import AnswerError
from grader.budget import Budget, SpentError
from grader.faults import FaultError, Library
from grader.judge import Evidence
from grader.likeness import Behaviour, behave, unlike

__all__ = ["Explanation", "Search"]

ASKED = 3
"""How often the answer is asked again: each time halves what is left or better, and a sandbox's call takes its time."""

PROBES = 40
"""How many inputs are looked through for one on which the faults left differ."""

PAIRED = 24
"""Of how many faults pairs are made: 276 pairs at most, about a second where one call costs 4 ms."""

SAMPLED = 6
"""On how many calls of failed checks a fault must show what it explains, to be preferred for pairs."""

CLOSER = 1e-3
"""A fault that fits this many times closer than another is meant: the same arithmetic against something near it."""

COSTLIER = 1.3
"""A fault in how much is computed shows as at least this many times the operations of the reference."""

OVERHEAD = 20
"""What copying inputs and comparing values costs, in operations of the answer."""

SLIPS = ("NotImplementedError", "NameError", "AttributeError", "ImportError", "ModuleNotFoundError", "SyntaxError")
"""Exceptions of unwritten or mistyped code, which no fault of the library raises."""

Explanation = tuple[Fault, ...]
"""One fault, or two that act together; () is the reference itself."""


class _Order:
    """The calls in the order in which they are likely to tell a fault apart soonest for what they cost.

    Learned on the way: a call that has just told faults apart comes earlier, one that has not comes later.
    """

    HURRY = 0.2  # how much one fault says about the next: faults of one function follow one another in the library

    def __init__(self, evidence: Evidence) -> None:
        failed = [call for trial in evidence.failed for call in trial.calls]
        passed = [call for trial in evidence.passed for call in trial.calls]
        self.calls = (*failed, *passed)
        # where the answer is known to be wrong, nearly every fault does something else
        self._telling = [1.0 if call.raised or call.agrees is False else 0.5 for call in self.calls]

    def __iter__(self) -> Iterator[Call]:
        return (self.calls[n] for n in self._numbers())

    def first_unlike(self, distance: Callable[[Call], float]) -> tuple[float, bool]:
        """(largest distance, whether any call is more than an exception of the same kind), up to the first inf."""
        worst, exact = 0.0, False
        for n in self._numbers():
            found = distance(self.calls[n])
            self._telling[n] += self.HURRY * ((found == math.inf) - self._telling[n])
            worst = max(worst, found)
            exact |= not (self.calls[n].raised and found)
            if worst == math.inf:
                break
        return worst, exact

    def _numbers(self) -> list[int]:
        price = [
            (OVERHEAD + call.operations) / (telling + 0.01)  # 0.01: a call that never told anything comes last
            for call, telling in zip(self.calls, self._telling, strict=True)
        ]
        return sorted(range(len(price)), key=price.__getitem__)


@dataclass
class Search:
    """One diagnosis under way.

    probes: gives further inputs of the exercise, on which the answer may be asked again
    """

    library: Library
    evidence: Evidence
    budget: Budget
    probes: Callable[[str], Iterable[Call]]

    @cached_property
    def order(self) -> _Order:
        return _Order(self.evidence)

    @cached_property
    def failed(self) -> tuple[Call, ...]:
        """The calls of failed checks, those where the answer is known to be wrong first, the cheap ones first."""
        calls = (call for trial in self.evidence.failed for call in trial.calls)
        return tuple(sorted(calls, key=lambda call: (not call.raised and call.agrees is not False, call.operations)))

    @property
    def worthwhile(self) -> bool:
        """Whether there is anything to go by: a call, and not one that ends in a slip of typing."""
        return bool(self.failed) and not any(call.raised.startswith(_SLIPPED) for call in self.failed)

    def explanations(self) -> tuple[Explanation, ...]:
        """What explains the evidence, most specific first; more than one where they are equal, () for none."""
        if not self.worthwhile:
            return ()
        near: list[Explanation] = []
        try:
            right = self._fits(())
            if right is not None and right < 1.0:
                return self._costlier()
            for near in self._singles():
                if left := self._asked(near):
                    return self._most_specific(left)
                near = []
            return self._drawn() or self._pairs()
        except SpentError:
            return self._most_specific(near)

    # single faults ----------------------------------------------------------------------------------------------------

    def _singles(self) -> Iterator[list[Explanation]]:
        """The faults that did on every call what the answer did: those of the exercise's own text, then all.

        The first are enough where one of them fits exactly.
        """
        concerning = self.library.concerning(self.evidence.exercise)
        found: dict[Explanation, float] = {}
        for own in (True, False):
            for fault in concerning:
                if self._own(fault) is not own:
                    continue
                try:
                    distance = self._fits((fault,))
                except SpentError:
                    if not found:
                        raise
                    break
                if distance is not None:
                    found[fault,] = distance
            if found and (min(found.values()) <= CLOSER or not own):
                yield _closest(found)

    def _own(self, fault: Fault) -> bool:
        return not self.library.distance(fault, self.evidence.exercise)

    def _fits(self, faults: Explanation) -> float | None:
        """The largest distance over the calls; None where one does not fit, or all are exceptions of other words."""
        function = self._function(faults)
        worst, exact = self.order.first_unlike(lambda call: self._distance(function, call))
        return worst if exact and worst < math.inf else None

    def _function(self, faults: Explanation) -> Callable[..., Any]:
        return self.library.functions(*faults)[self.evidence.exercise]

    def _distance(self, function: Callable[..., Any], call: Call) -> float:
        return unlike(call, self._behaviour(function, call), _coarse(call))

    def _behaviour(self, function: Callable[..., Any], call: Call) -> Behaviour:
        self.budget.spend()
        return behave(function, call.args, call.kwargs)

    # what values do not show ------------------------------------------------------------------------------------------

    def _costlier(self) -> tuple[Explanation, ...]:
        """For an answer whose values are all right: the fault that computes the same with more operations."""
        heavy = [max(calls, key=lambda call: call.operations) for calls in (self.failed, self.order.calls)]
        if heavy[0].operations < COSTLIER * self._operations((), heavy[0]):
            return ()
        own = [fault for fault in self.library.concerning(self.evidence.exercise) if self._own(fault)]
        far: dict[Explanation, float] = {}
        for one in ((), *((fault,) for fault in own if self._fits((fault,)) is not None)):
            far[one] = sum(abs(math.log(self._operations(one, call) / call.operations)) for call in heavy)
        nearest = min(far, key=far.__getitem__)
        return (nearest,) if nearest else ()

    def _operations(self, faults: Explanation, call: Call) -> int:
        self.budget.spend()
        try:
            return record(self._function(faults), call.args, call.kwargs).operations
        except Exception:
            return 1  # the least there is: no answer of the same values is near it

    def _drawn(self) -> tuple[Explanation, ...]:
        """For an answer that says something else when it is asked the same again: the own faults that draw."""
        if not self.evidence.alive:
            return ()
        again = self.failed[:SAMPLED]
        if all(unlike(self._ask(call), _done(call)) <= 1.0 for call in again[:ASKED]):
            return ()
        own = (fault for fault in self.library.concerning(self.evidence.exercise) if self._own(fault))
        return tuple((fault,) for fault in own if any(self._draws(fault, call) for call in again))

    def _draws(self, fault: Fault, call: Call) -> bool:
        first, *others = (self._behaviour(self._function((fault,)), call) for _ in range(ASKED))
        return any(unlike(first, other) > 1.0 for other in others)

    # several that fit -------------------------------------------------------------------------------------------------

    def _asked(self, left: list[Explanation]) -> list[Explanation]:
        """Those of `left` that still fit after the answer was asked about inputs on which they differ.

        Where only one is left from the beginning it is held against the reference: it must be seen to be wrong.
        """
        if not left or not self.evidence.alive:
            return left
        asked = 0
        for rival in ((), ((),)) if len(left) > 1 else (((),),):
            for probe in itertools.islice(self.probes(self.evidence.exercise), PROBES):
                if asked == ASKED or (asked and len(left) < 2):
                    return left
                crowd = [(one, self._behaviour(self._function(one), probe)) for one in (*left, *rival)]
                if all(unlike(crowd[0][1], other) <= 1.0 for _, other in crowd[1:]):
                    continue
                asked += 1
                seen = self._ask(probe)
                left = [one for one, ours in crowd if one and unlike(seen, ours, _coarse(probe)) < math.inf]
        return left

    def _ask(self, probe: Call) -> Call:
        trial = self.evidence.failed[0]
        try:
            trial.outcome(*probe.args, **probe.kwargs)
        except AnswerError as error:
            return Call(probe.args, probe.kwargs, None, raised=error.rationale)
        return trial.calls[-1]

    def _most_specific(self, left: Sequence[Explanation]) -> tuple[Explanation, ...]:
        """Those nearest to the exercise, in the library's order."""

        def distance(explanation: Explanation) -> int:
            return max(self.library.distance(fault, self.evidence.exercise) for fault in explanation)

        nearest = min(map(distance, left), default=0)
        return tuple(one for one in left if distance(one) == nearest)

    # pairs ------------------------------------------------------------------------------------------------------------

    def _pairs(self) -> tuple[Explanation, ...]:
        """The first pair of faults that fits. Only faults that do not show where the answer is right can be in one."""
        able = [fault for fault in self.library.concerning(self.evidence.exercise) if self._hidden(fault)]
        able.sort(key=self._explained, reverse=True)
        for pair in itertools.combinations(able[:PAIRED], 2):
            try:
                fits = self._fits(pair) is not None
            except FaultError:  # both change the same text
                continue
            if fits and self._asked([pair]):
                return (pair,)
        return ()

    def _hidden(self, fault: Fault) -> bool:
        return all(self._explains(fault, call) for call in self.order if call.agrees)

    def _explained(self, fault: Fault) -> int:
        """On how many of the first calls of failed checks the fault alone does what the answer did."""
        return sum(self._explains(fault, call) for call in self.failed[:SAMPLED])

    def _explains(self, fault: Fault, call: Call) -> bool:
        return self._distance(self._function((fault,)), call) < math.inf


_SLIPPED = ("It is not written yet", *(f"It raised {kind}" for kind in SLIPS))


def _done(call: Call) -> Behaviour:
    return Behaviour(call.value, call.changed, call.raised)


def _coarse(call: Call) -> torch.dtype:
    """The coarsest floating dtype among the inputs."""
    dtypes = {a.dtype for a in call.args if isinstance(a, torch.Tensor) and a.is_floating_point()}
    return max(dtypes, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float64)


def _closest(found: Mapping[Explanation, float]) -> list[Explanation]:
    """Those that fit about as closely as the closest one."""
    limit = max(min(found.values()) / CLOSER, CLOSER)
    return [explanation for explanation, distance in found.items() if distance <= limit]
