"""Run an exercise's public checks on a function of this process, whatever that function does."""

from __future__ import annotations

import importlib
import io
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch

from attnlab.checking import Check, checks_in, run_check
from attnlab.device_names import CPU
from attnlab.exercises import EXERCISES
from attnlab.library import forbidden, handed_over
from attnlab.recording import Outcome, record
from attnlab.trial import Trial, duplicate, explain
from attnlab.verdict import AnswerError, CheckResult, Verdict

__all__ = ["NOT_WRITTEN", "Findings", "examine", "public_checks", "quiet"]

NOT_WRITTEN = "It is not written yet."
"""The rationale of a stub, as `attnlab.trial.explain` words it."""

_T = TypeVar("_T")

_KNOWN = {
    "used as indices must be long": "Cast ids with .long() before the look-up.",
    "shape of the mask": "Bytes and bools index like masks: cast ids with .long().",
    "view size is not compatible": "After transpose the numbers lie apart in memory: use reshape instead of view.",
    "for unary ~": "The mask is None when everything may be read.",
    "shapes cannot be multiplied": "Print the shapes of both factors just before.",
    "not compiled with CUDA": "Name no device: take it from an input, as in device=x.device.",
    "without overflow": "A large finite number does not fit every dtype; float('-inf') does.",
}
"""Part of an error's message to what a learner can do about it."""

_HERE = str(Path(__file__).parent)


@dataclass(frozen=True)
class Findings:
    """What the public checks of one exercise found.

    results: one for each check, in order
    printed: the beginning of what the function printed meanwhile
    """

    exercise: str
    checks: tuple[Check, ...]
    results: tuple[CheckResult, ...]
    printed: str = ""

    @property
    def points(self) -> float:
        return round(sum(result.points for result in self.results), 6)  # 6 digits: no 2.9999999999999996 in a gradebook

    @property
    def passed(self) -> bool:
        return bool(self.results) and all(result.verdict is Verdict.PASSED for result in self.results)

    @property
    def unwritten(self) -> bool:
        """Whether the function is still the stub."""
        return any(result.rationale == NOT_WRITTEN for result in self.results) and all(
            result.rationale == NOT_WRITTEN or result.verdict is Verdict.SKIPPED for result in self.results
        )


def public_checks(exercise: str) -> tuple[Check, ...]:
    """The public checks of an exercise, in the order of their module."""
    module = EXERCISES[exercise].lesson.split("_", 1)[1]
    return checks_in(importlib.import_module(f"attnlab.public.{module}"), exercise)


def examine(exercise: str, function: Any) -> Findings:
    """Run the public checks of `exercise` on `function`. Raises nothing but KeyboardInterrupt."""
    checks, answer = public_checks(exercise), _Guarded(function)
    results: dict[str, CheckResult] = {}
    library: set[str] = set()
    with quiet() as sink, torch.random.fork_rng(devices=[]):
        # Any fixed number: an answer that draws at random shows the same faults each time. Not torch.manual_seed, which
        # loads PyTorch's compiler at its first use for more than a second, and the learner is waiting.
        torch.default_generator.manual_seed(0)
        for check in checks:
            missing = [name for name in check.needs if results[name].verdict is not Verdict.PASSED]
            if missing:
                why = f"Not run: {missing[0]} did not pass."
                results[check.name] = CheckResult(check.name, Verdict.SKIPPED, why, max_points=check.points)
                continue
            trial = _QuickTrial(answer, seed=zlib.crc32(check.name.encode()))
            results[check.name] = _run(check, trial)
            library |= trial.library
    rows = tuple(results.values())
    if called := forbidden(exercise, library):
        rows = tuple(handed_over(row, called) for row in rows)
    return Findings(exercise, checks, rows, sink.beginning)


@contextmanager
def quiet() -> Iterator[_Sink]:
    """Keep what runs inside from the screen: prints, stderr, warnings."""
    sink = _Sink()
    with redirect_stdout(sink), redirect_stderr(sink), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield sink


class _Sink(io.TextIOBase):
    """Takes any amount of text, keeps the beginning."""

    ENOUGH = 400  # characters: about five lines, what fits under a report

    def __init__(self) -> None:
        self.beginning = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if len(self.beginning) < self.ENOUGH:
            self.beginning = (self.beginning + text)[: self.ENOUGH]
        return len(text)


class _Guarded:
    """A function of this process, of which any behaviour is expected."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.recorded = False

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str = CPU) -> Outcome:
        self.recorded = self.recorded or device == CPU
        outcome = self._survived(lambda: record(self._function, args, kwargs, device))
        return replace(outcome, value=_plain(outcome.value))

    def value(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What it returns, with nothing noted."""
        return _plain(self._survived(lambda: self._function(*args, **kwargs)))

    def _survived(self, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit and its like as well: a check never ends the kernel
            rationale, help = _explained(error)
            raise AnswerError(Verdict.ERRORED, rationale, help) from None


def _plain(value: Any) -> Any:
    """What was returned, as objects that checks can look at without running the learner's code.

    Only type() is asked what a value is: everything else an object can answer for itself, also wrongly.
    Raises AnswerError for what no exercise returns.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float):
        return value
    if kind is torch.Tensor:
        return value
    if issubclass(kind, torch.Tensor):
        with suppress(RuntimeError), torch._C.DisableTorchFunctionSubclass():  # sparse ones have no plain form
            return torch.Tensor.as_subclass(value, torch.Tensor)
    if issubclass(kind, tuple):
        return tuple(map(_plain, tuple.__iter__(value)))
    if issubclass(kind, list):
        return list(map(_plain, list.__iter__(value)))
    if issubclass(kind, int):
        return int.__index__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    name = type.__dict__["__name__"].__get__(kind)  # a class, too, can answer for itself
    raise AnswerError(Verdict.FAILED, f"It returned an object of type {name}.", "No exercise returns such a thing.")


class _QuickTrial(Trial):
    """A trial that notes what happens inside the answer only in its first call and where a check asks for it.

    To note every operation makes a call five times as slow, and the learner is waiting.
    """

    def __init__(self, answer: _Guarded, *, seed: int) -> None:
        super().__init__(answer, seed=seed)
        self._guarded = answer

    def _other_device(self, error: AnswerError) -> str | None:  # noqa: ARG002
        """At home the learner is told at once of a GPU that is asked for and not there."""
        return None

    def call(self, *args: Any, **kwargs: Any) -> Any:
        if not self._guarded.recorded:
            return super().call(*args, **kwargs)
        return self._guarded.value(tuple(map(duplicate, args)), {k: duplicate(v) for k, v in kwargs.items()})


def _run(check: Check, trial: Trial) -> CheckResult:
    """`run_check`, where even looking at what the answer returned may raise anything."""
    try:
        return run_check(check, trial)
    except KeyboardInterrupt:
        raise
    except BaseException:
        why = "It returned something that cannot be looked at."
        return CheckResult(check.name, Verdict.FAILED, why, max_points=check.points)


def _explained(error: BaseException) -> tuple[str, str]:
    """An exception in words, with the line of the learner's code that raised it."""
    try:
        rationale, help = explain(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # an exception whose text cannot be read
        return "It raised an exception whose message cannot be read.", ""
    if rationale == NOT_WRITTEN:
        return rationale, help
    known = next((words for part, words in _KNOWN.items() if part in rationale), "")
    line = _line(error)
    return rationale, " ".join(part for part in (help, known, f"Look at the line: {line}" if line else "") if part)


def _line(error: BaseException) -> str:
    """The innermost line of the learner's own code in the traceback, or ""."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.line and "site-packages" not in frame.filename and not frame.filename.startswith(_HERE):
            return frame.line.strip()[:120]  # a longer line says no more
    return ""
