"""`check`: run the public checks of a function and show the learner what they found."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attnlab.examine import Findings, examine
from attnlab.exercises import EXERCISES
from attnlab.page import html_of, problem_html, text_of
from attnlab.shell import current_shell as _shell
from attnlab.shell import has_kernel
from attnlab.verdict import CheckResult

__all__ = ["Report", "check"]


@dataclass(frozen=True, repr=False)
class Report:
    """What `check` gives back.

    Its text form is the number of points earned and nothing else: nbgrader reads that as partial credit.

    findings: what the checks found; None where no exercise could be told
    problem: why none could be told, in a sentence; else ""
    """

    findings: Findings | None = None
    problem: str = ""

    @property
    def results(self) -> tuple[CheckResult, ...]:
        """One result for each check, in order."""
        return self.findings.results if self.findings else ()

    @property
    def points(self) -> float:
        return self.findings.points if self.findings else 0.0

    @property
    def max_points(self) -> float:
        return float(EXERCISES[self.findings.exercise].points) if self.findings else 0.0

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.findings is not None and self.findings.passed

    @property
    def text(self) -> str:
        """The readable form, for a terminal."""
        return text_of(self.findings) if self.findings else self.problem

    def __repr__(self) -> str:
        return repr(float(self.points))

    def _repr_html_(self) -> str:
        """Called by Jupyter to show the report."""
        return html_of(self.findings) if self.findings else problem_html(self.problem)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        """Called by Jupyter: the points as plain text, which nbgrader reads, and the page for the learner."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def check(function: Any) -> Report:
    """Run the public checks of the exercise that `function` answers.

    The exercise is known by the function's name, else by the global name it is bound to. Returns a Report, which
    Jupyter shows; elsewhere its text is printed. Raises nothing but KeyboardInterrupt.
    """
    name = _exercise(function, sys._getframe(1).f_globals)
    report = Report(examine(name, function)) if name in EXERCISES else Report(problem=_unknown(name))
    if not has_kernel(_shell()):
        print(report.text)
    return report


def _exercise(function: Any, caller: Mapping[str, Any]) -> str:
    """The exercise's name; else whatever name the function has, or ""."""
    own = _own_name(function)
    if own in EXERCISES:
        return own
    shell = _shell()
    for names in (caller, getattr(shell, "user_ns", {})):
        for name in EXERCISES:
            if names.get(name, _NOTHING) is function:
                return name
    return own


_NOTHING = object()


def _own_name(function: Any) -> str:
    try:
        name = function.__name__
    except KeyboardInterrupt:
        raise
    except BaseException:  # some callables have no name, and a learner's may have a broken one
        return ""
    return name if type(name) is str else ""


def _unknown(name: str) -> str:
    called = f"No exercise is called {name!r}." if name else "This is not the function of an exercise."
    return f"{called} Give check the function that the exercise asks for, under its own name, as in check(causal_mask)."
