"""Record the right values of the public examples: the reference, evaluated on inputs that attnlab makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnlab.public.examples import EXAMPLES
from attnlab.public.record import encode
from grader.course import Course

__all__ = ["path", "record", "write"]

_ROUNDING = 1e-9  # of the largest entry: above what the order of a sum does in float64, below what 10 digits keep
_PLACE = ("attnlab", "public", "recorded.json")  # under the course's notebooks/


def record(course: Course) -> str:
    """The text that the record ought to have: JSON, keys sorted, one example a line.

    Where the file's value of an example agrees with the reference, its text is kept: another machine sums in another
    order, and its last digit must not look like a change.
    """
    known = _known(course)
    lines = []
    for name in sorted(EXAMPLES):
        example = EXAMPLES[name]
        fresh = encode(course.reference.functions[example.exercise](*example.inputs()))
        kept = known[name] if name in known and _agree(known[name], fresh) else fresh
        lines.append(f"{json.dumps(name)}: {json.dumps(kept, sort_keys=True)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def path(course: Course) -> Path:
    """Where the record lies."""
    return course.notebooks.joinpath(*_PLACE)


def write(course: Course) -> None:
    """Bring the record up to date."""
    path(course).write_text(record(course), encoding="utf-8")


def _known(course: Course) -> dict[str, Any]:
    try:
        found = json.loads(path(course).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _agree(known: Any, fresh: Any) -> bool:
    """Whether two encoded values have one form and differ by no more than rounding."""
    if isinstance(fresh, list):
        return isinstance(known, list) and len(known) == len(fresh) and all(map(_agree, known, fresh))
    if isinstance(fresh, dict):
        if not isinstance(known, dict) or {**known, "values": 0} != {**fresh, "values": 0}:
            return False
        pairs = list(zip(known["values"], fresh["values"], strict=False))
        largest = max((abs(f) for _, f in pairs), default=0.0)
        return len(known["values"]) == len(fresh["values"]) and all(abs(k - f) <= _ROUNDING * largest for k, f in pairs)
    return bool(type(known) is type(fresh) and known == fresh)
