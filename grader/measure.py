"""Measure the hidden checks: on every named fault, on styles that are right, and on answers that do nothing."""

from __future__ import annotations

import math
import multiprocessing
import os
import warnings
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attnlab.exercises import EXERCISES
from attnlab.fault import Fault
from attnlab.trial import LocalAnswer
from attnlab.verdict import Verdict
from grader.course import Course
from grader.diagnosis import OPENING, Budget, Diagnosis
from grader.faults import Library, read_faults
from grader.judge import judge_exercise
from grader.ledger import ExerciseRow

__all__ = ["IDLE", "IDLE_SHARE", "Attempt", "Strength", "measure"]

SEED = 20260
"""Any fixed number: the committed record must come out the same each time. Other seeds are tried by the tests."""

IDLE_SHARE = 0.1
"""At most this share of an exercise's points goes to an answer that does nothing."""

NAMED_SHARE = 0.9
"""At least this share of the faults must be told in their own words."""


WHOLE = "encoder_decoder_forward"
"""The exercise in which the faults of all that it uses are tried too."""


@dataclass(frozen=True)
class Attempt:
    """One answer tried on one exercise.

    kind: fault, style or idle; name: the fault's id, the style's or the idle answer's name
    failed: the checks that did not pass, those skipped after them left out
    said: what the diagnosis says, or ""
    """

    kind: str
    name: str
    exercise: str
    points: float
    max_points: float
    failed: tuple[str, ...]
    said: str = ""

    @property
    def share(self) -> float:
        """The part of the exercise's points that it earned; by number of checks where the exercise has no points."""
        return self.points / self.max_points if self.max_points else float(not self.failed)


@dataclass(frozen=True)
class Strength:
    """What all attempts came to. `faults` are those of the library, in its order."""

    faults: tuple[Fault, ...]
    attempts: tuple[Attempt, ...]

    def of(self, kind: str) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.kind == kind)

    def tries(self, fault: Fault) -> tuple[Attempt, ...]:
        """The exercises in which the fault was tried, its own first."""
        return tuple(attempt for attempt in self.of("fault") if attempt.name == fault.id)

    def killed(self, fault: Fault) -> bool:
        """Whether some check of some exercise fails because of it."""
        return any(attempt.failed for attempt in self.tries(fault))

    def named(self, fault: Fault) -> bool:
        """Whether its own exercise says the fault's words and no others."""
        return self.tries(fault)[0].said == OPENING + fault.words

    @property
    def problems(self) -> tuple[str, ...]:
        """What must not be: one sentence each, with a name."""
        alive = [f"no check fails for the fault {fault.id}" for fault in self.faults if not self.killed(fault)]
        refused = [
            f"{one.exercise}: the style {one.name} earns {one.points:g} of {one.max_points:g} ({', '.join(one.failed)})"
            for one in self.of("style")
            if one.failed
        ]
        paid = [
            f"{one.exercise}: the idle answer {one.name!r} earns {one.points:g} of {one.max_points:g}"
            for one in self.of("idle")
            if one.share > IDLE_SHARE
        ]
        named = sum(map(self.named, self.faults))
        few = [f"only {named} of {len(self.faults)} faults are named exactly"] if self.faults else ["no faults"]
        return (*alive, *refused, *paid, *(few if named < NAMED_SHARE * max(len(self.faults), 1) else ()))


def measure(course: Course, jobs: int | None = None, exercises: Collection[str] = tuple(EXERCISES)) -> Strength:
    """Try every fault, style and idle answer of these exercises.

    jobs: number of processes, one for each core unless given; with 1 it all happens in this one
    The result depends on the course alone, not on the number of processes.
    """
    library = Library(course.reference, tuple(fault for fault in read_faults() if fault.exercise in exercises))
    todo = [
        *(("fault", fault.id, exercise) for fault in library.faults for exercise in _reach(library, fault)),
        *(("style", path.stem, path.parent.name) for path in _styles(course) if path.parent.name in exercises),
        *(("idle", name, exercise) for exercise in EXERCISES if exercise in exercises for name in IDLE),
    ]
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1:
        _begin(course.root)
        return Strength(library.faults, tuple(map(_attempt, todo)))
    # spawn: a forked child of a process that has used torch may hang on its threads
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (course.root,)) as pool:
        return Strength(library.faults, tuple(pool.map(_attempt, todo, chunksize=8)))  # 8: about a second of work


# answers --------------------------------------------------------------------------------------------------------------

Function = Callable[..., Any]


def _reach(library: Library, fault: Fault) -> list[str]:
    """Where a fault is tried: the exercises that it changes, then the whole model, which many write in one piece."""
    changed = list(dict.fromkeys(edit.exercise for edit in fault.edits))
    return changed + [WHOLE] * (WHOLE not in changed and not set(changed).isdisjoint(library.reference.uses(WHOLE)))


def _styles(course: Course) -> list[Path]:
    """Texts of right answers: one folder for each exercise, one file for each style."""
    return sorted((course.root / "tests" / "styles").glob("*/[!_]*.py"))


def _style(course: Course, exercise: str, name: str) -> Function:
    path = course.root / "tests" / "styles" / exercise / f"{name}.py"
    namespace: dict[str, Any] = {"__name__": f"style_{name}"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    function: Function = namespace[exercise]
    return function


def _filled(fill: Callable[[torch.Tensor], torch.Tensor], number: float) -> Callable[[Function], Function]:
    """An answer of the right form, filled with something that does not depend on the inputs."""

    def form(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return fill(value)
        return tuple(map(form, value)) if isinstance(value, tuple) else type(value)(number)

    return lambda right: lambda *args, **kwargs: form(right(*args, **kwargs))


def _noise(value: torch.Tensor) -> torch.Tensor:
    if value.is_floating_point():
        return torch.randn_like(value)
    return torch.randint(0, 2, value.shape, device=value.device).to(value.dtype)


IDLE: Mapping[str, Callable[[Function], Function]] = {
    "zeros": _filled(torch.zeros_like, 0),
    "ones": _filled(torch.ones_like, 1),
    "noise": _filled(_noise, 3),
    "first input": lambda _: lambda *args, **__: args[0],
    "second input": lambda _: lambda *args, **__: args[min(1, len(args) - 1)],
    "None": lambda _: lambda *_, **__: None,
    "text": lambda _: lambda *_, **__: "attention",
}
"""Answers that do nothing, by name; each is made from the right function, for the form of its values."""


# one attempt, in a process of the pool --------------------------------------------------------------------------------


_here: list[tuple[Course, Diagnosis]] = []  # what this process works with, dear to make


def _begin(root: Path) -> None:
    torch.set_num_threads(1)  # the pool takes the cores
    course = Course(root)
    # without the limit in seconds, so that the record does not depend on how fast the machine is
    _here[:] = [(course, Diagnosis(course.reference, budget=lambda: Budget(seconds=math.inf)))]


def _attempt(job: tuple[str, str, str]) -> Attempt:
    kind, name, exercise = job
    [(course, diagnosis)] = _here
    faults = {fault.id: fault for fault in diagnosis.library.faults}
    right = course.reference.functions[exercise]
    match kind:
        case "fault":
            function = diagnosis.library.functions(faults[name])[exercise]
        case "style":
            function = _style(course, exercise, name)
        case _:
            function = IDLE[name](right)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of faults and of odd answers, not ours
        torch.manual_seed(SEED)  # noise and answers that draw
        row = judge_exercise(
            exercise,
            LocalAnswer(function),
            reference=course.reference.functions,
            seed=SEED,
            diagnose=diagnosis if kind == "fault" and exercise == faults[name].exercise else None,
        )
    return Attempt(kind, name, exercise, row.points, row.max_points, _failed(row), _said(row))


def _failed(row: ExerciseRow) -> tuple[str, ...]:
    if broken := next((check for check in row.checks if check.verdict is Verdict.BROKEN), None):
        raise RuntimeError(f"{row.name}.{broken.name}: {broken.rationale}")
    return tuple(check.name for check in row.lost if check.verdict is not Verdict.SKIPPED)


def _said(row: ExerciseRow) -> str:
    return next((check.fault for check in row.checks if check.fault), "")
