"""Marks for other programs, from nbgrader's gradebook: a safe table, and what Canvas and Moodle import.

Each is an export plugin of nbgrader: `nbgrader export --exporter=grader.export.Canvas`. The settings `--to`,
`--assignment` and `--student` hold for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from grader.safe_csv import csv_text

__all__ = ["Canvas", "Moodle", "SafeCsv"]

DEFAULT = "grades.csv"


@dataclass(frozen=True)
class _Mark:
    """One student's mark of one lesson; `submission` is None where nothing was handed in."""

    lesson: Any
    student: Any
    submission: Any

    @property
    def points(self) -> float:
        return float(self.submission.score) if self.submission else 0.0

    @property
    def penalty(self) -> float:
        return float(self.submission.late_submission_penalty or 0.0) if self.submission else 0.0

    @property
    def score(self) -> float:
        return max(0.0, self.points - self.penalty)


class SafeCsv(ExportPlugin):  # type: ignore[misc]
    """nbgrader's own table, quoted, and without cells that a spreadsheet would run."""

    names: tuple[str, ...] = (
        *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
        *("raw_score", "late_submission_penalty", "score", "max_score"),
    )

    file = DEFAULT

    def export(self, gradebook: Gradebook) -> None:
        """Called by nbgrader with the open gradebook."""
        place = Path(self.to or self.file)
        if place.name == DEFAULT:  # the course's setting names the table; the other forms lie beside it
            place = place.with_name(self.file)
        place.write_text(self.text(gradebook), encoding="utf-8")
        self.log.info("Exported grades to %s", place)

    def text(self, gradebook: Gradebook) -> str:
        """The text of the file."""
        return csv_text(self.names, (self._line(mark) for lesson in self.lessons(gradebook) for mark in lesson))

    def lessons(self, gradebook: Gradebook) -> Iterator[list[_Mark]]:
        """For each lesson that is asked for the marks of all students that are asked for."""
        everyone = sorted(gradebook.students, key=lambda student: student.id)
        students = [s for s in everyone if not self.student or s.id in map(str, self.student)]
        for lesson in sorted(gradebook.assignments, key=lambda lesson: lesson.name):
            if not self.assignment or lesson.name in map(str, self.assignment):
                yield [_Mark(lesson, student, _submission(gradebook, lesson, student)) for student in students]

    @staticmethod
    def _line(mark: _Mark) -> list[object]:
        lesson, student = mark.lesson, mark.student
        time = mark.submission.timestamp if mark.submission else None
        who = [student.id, student.last_name, student.first_name, student.email]
        marks = [mark.points, mark.penalty, mark.score, float(lesson.max_score)]
        return [lesson.name, lesson.duedate, time, *who, *marks]


class _Wide(SafeCsv):
    """A line for each student, a column for each lesson. A lesson that was not handed in is left empty."""

    def text(self, gradebook: Gradebook) -> str:
        lessons = [marks for marks in self.lessons(gradebook) if marks]
        names = [*self.names, *(marks[0].lesson.name for marks in lessons)]
        lines = [[*self.who(line[0].student), *map(_given, line)] for line in zip(*lessons, strict=True)]
        return csv_text(names, [*self.before(lessons), *lines])

    def who(self, student: Any) -> list[object]:
        """The cells that say whose line it is."""
        raise NotImplementedError

    def before(self, lessons: list[list[_Mark]]) -> list[list[object]]:  # noqa: ARG002
        """Lines before the first student's."""
        return []


class Canvas(_Wide):
    """What Canvas's gradebook imports. It knows students by `ID`, which collecting notes, or by their login.

    A column is a new assignment to Canvas unless its heading is that of an old one, number included: change it there.
    """

    names = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
    file = "grades-canvas.csv"

    def who(self, student: Any) -> list[object]:
        return [_name(student, "{last}, {first}"), student.lms_user_id or "", "", student.id, ""]

    def before(self, lessons: list[list[_Mark]]) -> list[list[object]]:
        return [["Points Possible", "", "", "", "", *(float(marks[0].lesson.max_score) for marks in lessons)]]


class Moodle(_Wide):
    """What Moodle's gradebook imports: map `Username` or `Email address` to its own, and each lesson to its item."""

    names = ("Username", "First name", "Last name", "Email address")
    file = "grades-moodle.csv"

    def who(self, student: Any) -> list[object]:
        return [student.id, student.first_name, student.last_name, student.email]


def _given(mark: _Mark) -> object:
    return mark.score if mark.submission else ""


def _name(student: Any, form: str) -> str:
    if not student.last_name or not student.first_name:
        return str(student.last_name or student.first_name or student.id)
    return form.format(first=student.first_name, last=student.last_name)


def _submission(gradebook: Gradebook, lesson: Any, student: Any) -> Any:
    try:
        return gradebook.find_submission(lesson.name, student.id)
    except MissingEntry:
        return None
