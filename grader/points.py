"""A submission's points in nbgrader's gradebook: the ledger's, and those that a person gave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbgrader.api import Assignment, BaseCell, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.utils import compute_checksum, is_solution, is_task
from sqlalchemy import select

from grader.ledger import Graded, Ledger

__all__ = ["given_by_hand", "known_points", "points_of", "save"]


def save(gradebook: Gradebook, lesson: str, student: str, graded: Graded) -> None:
    """Enter the ledger's points into a submission that the gradebook knows. What a cell printed never decides.

    As nbgrader does it, points that a person gave stay, and an exercise that was not touched gets a comment.
    """
    submitted = gradebook.find_submission_notebook(lesson, lesson, student)
    points = points_of(graded.ledger)
    for grade in submitted.grades:
        grade.auto_score = points[grade.name]
        # a manual score is kept and shown for review; an ungraded or broken one asks for a person
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None or graded.ledger.broken
    comments = {comment.name: comment for comment in submitted.comments}
    for cell in graded.notebook.cells:
        if is_solution(cell) or is_task(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) and not is_task(cell)
            comments[cell.metadata.nbgrader.grade_id].auto_comment = "No response." if untouched else None
    gradebook.db.commit()
    gradebook.db.expire_all()  # the database computes sums from these points


def points_of(ledger: Ledger) -> dict[str, float | None]:
    """Grade id to points, as a gradebook holds them; None where a person must give them."""
    return {f"test_{row.name}": None if ledger.reason else row.points for row in ledger.exercises}


def known_points(gradebook: Gradebook, lesson: str) -> dict[str, dict[str, float | None]]:
    """Student to grade id to automatic points, for every submission of a lesson that the gradebook holds."""
    rows = gradebook.db.execute(
        select(SubmittedAssignment.student_id, BaseCell.name, Grade.auto_score)
        .join_from(Grade, BaseCell, Grade.cell_id == BaseCell.id)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == lesson)
    )
    found: dict[str, dict[str, float | None]] = {}
    for student, grade_id, points in rows:
        found.setdefault(student, {})[grade_id] = points
    return found


def given_by_hand(grades: Iterable[Any]) -> dict[str, float]:
    """Exercise to points, for those of the gradebook's grades on which a person had a say."""
    by_hand = (grade for grade in grades if grade.manual_score is not None or grade.extra_credit)
    return {grade.name.removeprefix("test_"): grade.score for grade in by_hand}
