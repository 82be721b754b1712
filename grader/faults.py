"""The library of named faults: each is the reference with one change to its text, built when it is wanted."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from attnlab.exercises import LESSONS
from attnlab.fault import Edit, Fault
from grader.reference import Reference

__all__ = ["FaultError", "Functions", "Library", "faulty", "read_faults"]

Functions = Mapping[str, Callable[..., Any]]
"""Exercise to its function."""


class FaultError(ValueError):
    """A named fault does not fit the course. Says which fault, in which file, and what to do."""


def read_faults() -> tuple[Fault, ...]:
    """Every fault of every module in solutions.hidden.faults, in the order of the course. Raises FaultError for an id
    that stands twice."""
    package = importlib.import_module("solutions.hidden.faults")
    order = [lesson.split("_", 1)[1] for lesson in LESSONS]
    modules = sorted((info.name for info in pkgutil.iter_modules(package.__path__)), key=order.index)
    found: dict[str, tuple[Fault, str]] = {}
    for module in modules:
        for fault in importlib.import_module(f"{package.__name__}.{module}").FAULTS:
            if fault.id in found:
                raise FaultError(f"fault {fault.id!r} stands in {found[fault.id][1]} and in {module}; rename one")
            found[fault.id] = fault, module
    return tuple(fault for fault, _ in found.values())


def faulty(reference: Reference, *faults: Fault) -> Functions:
    """The reference's functions with these faults in them, the first one's change made first.

    Raises FaultError where a text to be changed does not stand exactly once, or where the changed text does not run.
    """
    changed: dict[str, str] = {}
    for fault in faults:
        for edit in fault.edits:
            changed[edit.exercise] = _edited(reference, fault, edit, changed)
    try:
        return reference.build(changed)
    except Exception as error:
        names = ", ".join(fault.id for fault in faults)
        raise FaultError(f"fault {names}: the changed text does not run ({type(error).__name__}: {error})") from error


def _edited(reference: Reference, fault: Fault, edit: Edit, changed: Mapping[str, str]) -> str:
    if edit.exercise not in reference.sources:
        raise FaultError(f"fault {fault.id!r} changes {edit.exercise!r}, which is no exercise of the course")
    source = changed.get(edit.exercise, reference.sources[edit.exercise])
    if (times := source.count(edit.before)) != 1:
        raise FaultError(
            f"fault {fault.id!r}: {edit.before!r} stands {times} times in the solution cell of {edit.exercise} "
            f"({reference.place(edit.exercise)}) and must stand there exactly once; copy it from that cell anew"
        )
    return source.replace(edit.before, edit.after)


@dataclass(frozen=True)
class Library:
    """The named faults of a course, with the functions they make. What single faults make is kept."""

    reference: Reference
    faults: tuple[Fault, ...]

    def functions(self, *faults: Fault) -> Functions:
        """The functions that these faults make together; the reference's own where there are none."""
        if len(faults) > 1:  # of pairs there are too many to keep
            return faulty(self.reference, *faults)
        key = faults[0].id if faults else ""
        if key not in self._built:
            self._built[key] = faulty(self.reference, *faults)
        return self._built[key]

    def concerning(self, exercise: str) -> tuple[Fault, ...]:
        """The faults that can show in `exercise`: those in its own text, then those in what it uses, nearest first."""
        placed = [(self.distance(fault, exercise), n) for n, fault in enumerate(self.faults)]
        return tuple(self.faults[n] for distance, n in sorted(placed) if distance < len(self._near(exercise)))

    def distance(self, fault: Fault, exercise: str) -> int:
        """How far from `exercise` the fault's nearest change lies: 0 in its own text, then as `uses` orders them."""
        near = self._near(exercise)
        return min((near[edit.exercise] for edit in fault.edits if edit.exercise in near), default=len(near))

    def _near(self, exercise: str) -> Mapping[str, int]:
        """The exercise and those that it uses, with their places in that order."""
        if exercise not in self._places:
            self._places[exercise] = {one: n for n, one in enumerate((exercise, *self.reference.uses(exercise)))}
        return self._places[exercise]

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        return {}

    @cached_property
    def _built(self) -> dict[str, Functions]:
        return {}
