"""The hidden checks of an exercise, and what may be said of one."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.checking import Check

__all__ = ["clause_of", "hidden_checks"]


def hidden_checks(exercise: str) -> tuple[Check, ...]:
    """The hidden checks of an exercise, in the order of their module."""
    from attnlab.checking import checks_in  # not above: torch comes with it, and a report can do without

    return checks_in(importlib.import_module(f"solutions.hidden.checks.{exercise}"))


@cache
def clause_of(exercise: str, name: str) -> str:
    """What a report may say of a hidden check: the first paragraph of its docstring, on one line."""
    found = next((check for check in hidden_checks(exercise) if check.name == name), None)
    return " ".join(found.clause.split("\n\n")[0].split()) if found else name.replace("_", " ")
