"""A graded class without grading: kept ledgers, and a gradebook that holds their points."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning

from grader.course import Course
from grader.ledger import Ledger
from grader.release import register

EXPECTED = Path(__file__).parent.parent / "submissions" / "expected"

HOSTILE = "=cmd|' -c calc'!A1"
"""A student's folder name that a spreadsheet would run."""

MARKUP = "<img src=x onerror=\"document.body.dataset.ran='yes'\"><script>document.body.dataset.ran='yes'</script>"


def kept(lesson: str) -> dict[str, Ledger]:
    """Student to ledger, of the sample class."""
    paths = sorted(EXPECTED.glob(f"*/{lesson}.json"))
    return {path.parent.name: Ledger.from_json(json.loads(path.read_text(encoding="utf-8"))) for path in paths}


def hostile(ledger: Ledger) -> Ledger:
    """A ledger whose words hold markup wherever a submission's own words may end up."""
    rows = (
        replace(
            row, checks=tuple(replace(c, rationale=c.rationale and MARKUP, help=c.help and MARKUP) for c in row.checks)
        )
        for row in ledger.exercises
    )
    return replace(ledger, exercises=tuple(rows))


def store(course: Course, grading: Path, lesson: str, ledgers: dict[str, Ledger]) -> None:
    """What autograding leaves behind, executed notebooks excepted."""
    database = f"sqlite:///{grading / 'gradebook.db'}"
    grading.mkdir(parents=True, exist_ok=True)
    register(course, course.lesson(lesson), database)
    folder = grading / "ledgers" / lesson
    folder.mkdir(parents=True, exist_ok=True)
    with Gradebook(database) as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own ways
        for student, ledger in ledgers.items():
            record = {"key": "", "ledger": ledger.to_json()}
            (folder / f"{student}.json").write_text(json.dumps(record), encoding="utf-8")
            gradebook.update_or_create_student(student)
            gradebook.add_submission(lesson, student, timestamp=datetime(2026, 3, 1, 12))
            for row in ledger.exercises:
                grade = gradebook.find_grade(f"test_{row.name}", lesson, lesson, student)
                grade.auto_score = None if ledger.reason else row.points
                grade.needs_manual_grade = bool(ledger.reason) or ledger.broken
        gradebook.db.commit()
