"""`earlier`: hand a function of an earlier lesson on to this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attnlab.exercises import EXERCISES, LESSONS
from attnlab.stand_ins import STAND_INS

__all__ = ["earlier"]


def earlier(lesson: str, name: str) -> Callable[..., Any]:
    """The learner's own function of an earlier lesson where it passes its public checks, the stand-in otherwise.

    Prints one line that says which, and why. Raises LookupError for a lesson or name that the course does not have.
    """
    if lesson not in LESSONS:
        raise LookupError(f"there is no lesson {lesson!r}; the lessons are {', '.join(LESSONS)}")
    if name not in EXERCISES or EXERCISES[name].lesson != lesson:
        raise LookupError(f"lesson {lesson} has no {name!r}; it has {', '.join(e.name for e in LESSONS[lesson])}")
    print(f"{name}: the library's stand-in (no notebook {lesson} beside this one)")
    return STAND_INS[name]
