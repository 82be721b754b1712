"""The command behind `make strength`: measure the hidden checks and keep the record, or hold the record to it."""

from __future__ import annotations

import sys
import time

from grader.course import Course
from grader.measure import measure
from grader.strength_page import page

__all__ = ["strength"]


def strength(check: bool) -> int:
    """Measure, and write the record; or only compare with it where `check`. Returns the exit code, 1 for a finding."""
    course = Course.find()
    record = course.solutions / "hidden" / "STRENGTH.md"
    began = time.monotonic()
    measured = measure(course)
    text = page(measured)
    print(f"{len(measured.attempts)} answers tried in {time.monotonic() - began:.0f} s")
    problems = list(measured.problems)
    if not check:
        record.write_text(text, encoding="utf-8")
    elif not record.exists() or record.read_text(encoding="utf-8") != text:
        name = record.relative_to(course.root)
        problems.append(f"{name} is not what was measured; run `make strength` and commit it")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0
