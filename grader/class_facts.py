"""What is known of a class in one lesson: ledgers and gradebook put together, and what they add up to."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from attnlab.verdict import CheckResult, Verdict
from grader.course import Course, CourseError
from grader.hidden import clause_of
from grader.ledger import Ledger
from grader.points import given_by_hand
from grader.records import ledger_file, stored_ledgers

__all__ = ["ClassFacts", "Entry", "ExerciseFacts", "Finding", "class_facts", "without_names"]


@dataclass(frozen=True)
class Entry:
    """One submission.

    points: what counts: the gradebook's, with manual scores and without a late penalty; the ledger's where it has none
    manual: points that a person gave, by exercise
    handed_in: when, as far as known; graded: when its ledger was written
    person: why a person must look at it; "" where nobody has to
    """

    student: str
    name: str
    ledger: Ledger
    points: float
    penalty: float = 0.0
    manual: Mapping[str, float] | None = None
    handed_in: datetime | None = None
    graded: datetime | None = None
    person: str = ""

    @property
    def score(self) -> float:
        """Points less the penalty, never below none."""
        return max(0.0, self.points - self.penalty)

    def points_of(self, exercise: str) -> float:
        """Points of one exercise, a person's where one gave any."""
        judged = next((row.points for row in self.ledger.exercises if row.name == exercise), 0.0)
        return (self.manual or {}).get(exercise, judged)


@dataclass(frozen=True)
class ExerciseFacts:
    """One exercise over the whole class: mean points, and how many have all of them or none."""

    name: str
    max_points: float
    mean: float
    full: int
    none: int


@dataclass(frozen=True)
class Finding:
    """Something that went wrong, and for whom. Words: a named fault, or the clause of a check that was lost."""

    exercise: str
    words: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class ClassFacts:
    """A class in one lesson. `missing`: known students who have handed nothing in."""

    lesson: str
    max_points: float
    entries: tuple[Entry, ...]
    missing: tuple[str, ...] = ()

    @property
    def graded(self) -> tuple[Entry, ...]:
        """The entries that were graded, by the judge or by a person."""
        return tuple(entry for entry in self.entries if not entry.ledger.reason or entry.manual)

    @property
    def for_a_person(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.person)

    @property
    def exercises(self) -> tuple[ExerciseFacts, ...]:
        """In the order of the lesson."""
        made = []
        for row in self.entries[0].ledger.exercises if self.entries else ():
            points = [entry.points_of(row.name) for entry in self.graded] or [0.0]
            full = sum(earned >= row.max_points for earned in points) if self.graded else 0
            none = sum(earned <= 0 for earned in points) if self.graded else 0
            made.append(ExerciseFacts(row.name, row.max_points, sum(points) / len(points), full, none))
        return tuple(made)

    @property
    def faults(self) -> tuple[Finding, ...]:
        """Named faults, the most common first."""
        return self._found(lambda _, check: check.fault)

    @property
    def lost_checks(self) -> tuple[Finding, ...]:
        """Checks that were lost, the most common first; one that was skipped is not counted."""
        return self._found(lambda exercise, check: clause_of(exercise, check.name))

    def _found(self, words: Callable[[str, CheckResult], str | None]) -> tuple[Finding, ...]:
        who: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for entry in self.graded:
            for row in entry.ledger.exercises:
                for check in row.lost:
                    if check.verdict not in (Verdict.SKIPPED, Verdict.BROKEN) and (said := words(row.name, check)):
                        who[row.name, said][entry.student] = None
        found = [Finding(exercise, said, tuple(students)) for (exercise, said), students in who.items()]
        return tuple(sorted(found, key=lambda finding: -len(finding.students)))


def without_names(facts: ClassFacts) -> ClassFacts:
    """The same class with a number for each student, in no order that tells who is who: to be shown to the class."""
    shuffled = sorted(facts.entries, key=lambda _: secrets.token_bytes(8))
    entries = tuple(
        replace(entry, student=f"student {i}", name=f"student {i}", handed_in=None, graded=None)
        for i, entry in enumerate(shuffled, start=1)
    )
    return replace(facts, entries=entries, missing=tuple(f"another {i}" for i, _ in enumerate(facts.missing, start=1)))


def class_facts(course: Course, lesson: str, grading: Path | None = None, *, db_url: str = "") -> ClassFacts:
    """Read what is stored of a lesson. Raises CourseError where nothing of it was graded.

    grading: the folder of nbgrader's steps; the course's own unless given
    db_url: the gradebook; the one in that folder unless given
    """
    grading = grading or course.grading
    course.lesson(lesson)
    ledgers = stored_ledgers(grading, lesson)
    if not ledgers:
        raise CourseError(f"nothing of {lesson} is graded yet; run 'python -m grader autograde {lesson}' first")
    database = grading / "gradebook.db"
    db_url = db_url or f"sqlite:///{database}"
    if db_url == f"sqlite:///{database}" and not database.exists():
        raise CourseError(f"{database} is missing; run 'python -m grader autograde {lesson}' again to make it")
    with Gradebook(db_url) as gradebook:
        entries = tuple(_entry(gradebook, grading, lesson, who, ledger) for who, ledger in ledgers.items())
        missing = tuple(student.id for student in gradebook.students if student.id not in ledgers)
    most = sum(course.lesson(lesson).points.values())
    return ClassFacts(lesson, most, entries, missing)


def _entry(gradebook: Gradebook, grading: Path, lesson: str, student: str, ledger: Ledger) -> Entry:
    graded = datetime.fromtimestamp(ledger_file(grading, lesson, student).stat().st_mtime, UTC)
    person = ledger.reason or ("A check of ours failed." if ledger.broken else "")
    try:
        submission = gradebook.find_submission(lesson, student)
    except MissingEntry:
        person = person or "It is not in the gradebook."
        return Entry(student, student, ledger, ledger.points, graded=graded, person=person)
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    manual = given_by_hand(grades)
    waits = any(grade.needs_manual_grade for grade in grades)
    if not waits:
        person = ""  # somebody has looked at it since
    elif not person:
        person = "A score that a person gave is to be looked at again." if manual else "It waits for a person's score."
    known = submission.student
    name = " ".join(part for part in (known.first_name, known.last_name) if part) or student
    penalty = submission.late_submission_penalty or 0.0
    return Entry(student, name, ledger, submission.score, penalty, manual, submission.timestamp, graded, person)
