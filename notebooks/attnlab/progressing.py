"""`progress`: how far the learner is, read from the saved notebooks of all lessons, and what to do next."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from attnlab.chain import Taken, take, tried_once
from attnlab.examine import public_checks
from attnlab.exercises import EXERCISES, LESSONS, Exercise
from attnlab.house import FAILED, OPEN, PASSED, Mark, badge, box, div
from attnlab.verdict import Verdict

__all__ = ["Progress", "Step", "progress"]

_PASSES = Mark(PASSED.sign, "passes", PASSED.colour)
_NOT_YET = Mark(FAILED.sign, "not yet", FAILED.colour)
_OPEN = Mark(OPEN.sign, "open", OPEN.colour)
_WIDTH = 100  # characters of a terminal line, as in the report of `check`
_SAVED = "This reads the notebooks as they were last saved; save, then run the cell again."


@dataclass(frozen=True)
class Step:
    """One exercise of the course, and what the learner's notebook holds for it."""

    exercise: Exercise
    taken: Taken

    @property
    def passes(self) -> bool:
        """Whether the learner's own function passes its public checks."""
        return self.taken.function is not None

    @property
    def own(self) -> bool:
        """Whether it passes and nothing under it is a stand-in."""
        return self.passes and not self.taken.stand_ins

    @property
    def points(self) -> float:
        """What its public checks give."""
        return self.taken.findings.points if self.taken.findings else 0.0

    @property
    def mark(self) -> Mark:
        if self.passes:
            return _PASSES
        begun = self.taken.findings is not None and not self.taken.findings.unwritten
        return _NOT_YET if begun or "cannot be" in self.taken.why or "ran for" in self.taken.why else _OPEN

    @property
    def runs_on(self) -> str:
        """Whose code runs when it is called: the learner's alone, or stand-ins too; else why it does not."""
        if not self.passes:
            return self.taken.why
        if self.taken.stand_ins:
            return f"your code, with the library's {_listed(self.taken.stand_ins)} under it"
        return "your own code alone"


@dataclass(frozen=True, repr=False)
class Progress:
    """How far the learner is. Shown by Jupyter as a table, elsewhere as text.

    steps: all exercises in the order of the course
    """

    steps: tuple[Step, ...]

    @property
    def points(self) -> float:
        return round(sum(step.points for step in self.steps), 6)

    @property
    def max_points(self) -> float:
        return float(sum(step.exercise.points for step in self.steps))

    @property
    def graded(self) -> tuple[Step, ...]:
        """The steps that give points: a stretch is nobody's duty."""
        return tuple(step for step in self.steps if step.exercise.points)

    @property
    def complete(self) -> bool:
        """Whether every graded step passes and runs on the learner's own code alone."""
        return all(step.own for step in self.graded)

    @property
    def alone(self) -> bool:
        """Whether no notebook was found, as where a notebook is graded: then there is nothing to count."""
        return all(step.taken.why.startswith("no notebook") for step in self.steps)

    @property
    def headline(self) -> str:
        if self.alone:
            return "No notebooks of the course lie beside this one."
        passing = sum(step.passes for step in self.graded)
        return (
            f"{self.points:g} of {self.max_points:g} points by the public checks; "
            f"{passing} of {len(self.graded)} exercises pass."
        )

    @property
    def next(self) -> str:
        """What to do next, in a sentence or two."""
        if self.alone:
            return "To see how far you are, open this notebook in the folder in which all lessons lie."
        step = next((step for step in self.graded if not step.passes), None)
        if step is None:
            return self._last()
        name, lesson = step.exercise.name, step.exercise.lesson
        if step.mark is _OPEN:
            return f"Next: write {name} in {lesson}. Its {len(public_checks(name))} checks say what it must do."
        why = f"{step.taken.why[:1].upper()}{step.taken.why[1:]}."
        return " ".join([f"Next: {name} in {lesson}. {why}", *_first_seen(step.taken)])

    def _last(self) -> str:
        borrowed = [step.exercise.name for step in self.graded if not step.own]
        if borrowed:
            return f"Everything passes. On a stand-in of the library still runs: {_listed(borrowed)}."
        stretch = [step.exercise.name for step in self.steps if not step.passes]
        more = f" {_listed(stretch)} is left for whoever likes it." if stretch else ""
        return f"Every exercise passes, on your own code alone.{more} Run sign_off() at the end of lesson 5."

    def __repr__(self) -> str:
        if self.alone:
            return f"{self.headline} {self.next}"
        lines = [self.headline]
        for lesson, steps in self._by_lesson():
            lines.append(f"{lesson}: {_sum(steps)}")
            for step in steps:
                head = f"  {step.mark.sign} {step.mark.word:7} {step.exercise.name:23} {_points(step):>10}  "
                lines += textwrap.wrap(step.runs_on, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        return "\n".join([*lines, *textwrap.wrap(self.next, _WIDTH), _SAVED])

    def _repr_html_(self) -> str:
        """Called by Jupyter: one table with a heading for each lesson, everything escaped, no script."""
        if self.alone:
            return box(escape(repr(self)))
        cell = "padding:0.15em 0.8em 0.15em 0;text-align:left;vertical-align:top;"
        heads = "".join(f'<th scope="col" style="{cell}">{head}</th>' for head in _HEADS)
        body = ""
        for lesson, steps in self._by_lesson():
            title = f"{escape(lesson)}: {_sum(steps)}"
            body += f'<tbody><tr><th scope="rowgroup" colspan="{len(_HEADS)}" style="{cell}">{title}</th></tr>'
            for step in steps:
                name = f'<th scope="row" style="{cell}font-weight:400;"><code>{escape(step.exercise.name)}</code></th>'
                rest = (badge(step.mark), escape(_points(step)), escape(step.runs_on))
                body += "".join(["<tr>", name, *(f'<td style="{cell}">{value}</td>' for value in rest), "</tr>"])
            body += "</tbody>"
        caption = f'<caption style="text-align:left;font-weight:600;">{escape(self.headline)}</caption>'
        table = f'<table style="border-collapse:collapse;">{caption}<thead><tr>{heads}</tr></thead>{body}</table>'
        return box(table + div("margin-top:0.6em;", escape(self.next)) + div("margin-top:0.3em;", escape(_SAVED)))

    def _by_lesson(self) -> Iterator[tuple[str, tuple[Step, ...]]]:
        for lesson in LESSONS:
            yield lesson, tuple(step for step in self.steps if step.exercise.lesson == lesson)


_HEADS = ("exercise", "state", "points", "runs on")


def progress() -> Progress:
    """Look at every exercise in the learner's saved notebooks. Raises nothing but KeyboardInterrupt."""
    with tried_once():
        return Progress(tuple(Step(e, take(e.lesson, e.name)) for e in EXERCISES.values()))


def _first_seen(taken: Taken) -> tuple[str, ...]:
    """What the first check that did not pass saw, and what it says to look at."""
    results = taken.findings.results if taken.findings else ()
    first = next((r for r in results if r.verdict not in (Verdict.PASSED, Verdict.SKIPPED)), None)
    return tuple(note for note in (first.rationale, first.help) if note) if first else ()


def _points(step: Step) -> str:
    return f"{step.points:g} of {step.exercise.points:g}" if step.exercise.points else "a stretch"


def _sum(steps: tuple[Step, ...]) -> str:
    return f"{sum(s.points for s in steps):g} of {sum(s.exercise.points for s in steps):g} points"


def _listed(names: Any) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else str(last)
