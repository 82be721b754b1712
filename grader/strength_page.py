"""The record of the hidden checks' strength, as text that comes out the same for the same course."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attnlab.exercises import EXERCISES
from attnlab.fault import Fault
from grader.hidden import hidden_checks
from grader.measure import IDLE, IDLE_SHARE, Strength

__all__ = ["page"]

HEAD = """\
# How strong the hidden checks are

Measured by `make strength`, which rewrites this page; CI measures again and compares.
A fault is killed when a check fails because of it, in its own exercise or in the whole model. It is named when the
diagnosis of its own exercise says its words and no others. A style is accepted when it gets every point.
"""


def page(strength: Strength) -> str:
    """The record as Markdown."""
    parts = [HEAD, _totals(strength)]
    for exercise in EXERCISES:
        if faults := [fault for fault in strength.faults if fault.exercise == exercise]:
            parts.append(f"## {exercise}\n\n" + _table(_FAULT_HEAD, (_fault_row(strength, fault) for fault in faults)))
    parts.append("## Styles\n\n" + _table(("exercise", "accepted", "styles"), _style_rows(strength)))
    parts.append("## Answers that do nothing\n\nTheir share of the exercise's points.\n\n" + _idle_table(strength))
    parts.append("## Checks that no fault fails\n\n" + _idle_checks(strength))
    return "\n".join(parts)


def _totals(strength: Strength) -> str:
    faults, styles, idle = strength.faults, strength.of("style"), strength.of("idle")
    killed, named = sum(map(strength.killed, faults)), sum(map(strength.named, faults))
    accepted = sum(not style.failed for style in styles)
    checks = sum(len(hidden_checks(exercise)) for exercise in EXERCISES)
    worst = max((one.share for one in idle), default=0.0)
    rows = [
        ("hidden checks", str(checks)),
        ("faults killed", f"{killed} of {len(faults)}"),
        ("faults named exactly", f"{named} of {len(faults)} ({_percent(named, len(faults))})"),
        ("styles accepted", f"{accepted} of {len(styles)}"),
        ("do-nothing answers: the largest share", f"{worst:.1%} (at most {IDLE_SHARE:.0%})"),
        ("answers tried", str(len(strength.attempts))),
    ]
    return _table(("what", "measured"), rows)


_FAULT_HEAD = ("fault", "points left", "killed by", "named", "checks of the whole model")


def _fault_row(strength: Strength, fault: Fault) -> tuple[str, ...]:
    own, *others = strength.tries(fault)
    also = ", ".join(str(len(one.failed)) for one in others)
    left = f"{own.points:g} of {own.max_points:g}"
    return fault.id, left, ", ".join(own.failed), _named(strength, fault, own.said), also


def _named(strength: Strength, fault: Fault, said: str) -> str:
    if strength.named(fault):
        return "yes"
    told = [other.id for other in strength.faults if other.words in said]
    return f"as {' or '.join(told)}" if told else "no"


def _style_rows(strength: Strength) -> Iterator[tuple[str, ...]]:
    for exercise in EXERCISES:
        styles = [style for style in strength.of("style") if style.exercise == exercise]
        if styles:
            accepted = sum(not style.failed for style in styles)
            yield exercise, f"{accepted} of {len(styles)}", ", ".join(style.name for style in styles)


def _idle_table(strength: Strength) -> str:
    share = {(one.exercise, one.name): one.share for one in strength.of("idle")}
    tried = [exercise for exercise in EXERCISES if any(one == exercise for one, _ in share)]
    rows = ((exercise, *(f"{share[exercise, name]:.1%}" for name in IDLE)) for exercise in tried)
    return _table(("exercise", *IDLE), rows)


def _idle_checks(strength: Strength) -> str:
    failed = {(one.exercise, name) for one in strength.of("fault") for name in one.failed}
    idle = [
        f"- {exercise}.{check.name}"
        for exercise in EXERCISES
        for check in hidden_checks(exercise)
        if (exercise, check.name) not in failed
    ]
    return "\n".join(idle or ["None."]) + "\n"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "none"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
