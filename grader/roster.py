"""Students as the gradebook knows them, and what a learning platform's downloads tell of them."""

from __future__ import annotations

from collections.abc import Iterable

from nbgrader.api import Gradebook

from grader.collecting import Student
from grader.environment import with_tools_on_path

__all__ = ["enter", "known"]


def known(db_url: str) -> dict[str, str]:
    """A platform's lasting number to the id of the student who has it."""
    with with_tools_on_path(), Gradebook(db_url) as gradebook:
        return {student.lms_user_id: student.id for student in gradebook.students if student.lms_user_id}


def enter(db_url: str, students: Iterable[Student]) -> None:
    """Note names and numbers of students. What a person has entered stays as it is."""
    with with_tools_on_path(), Gradebook(db_url) as gradebook:
        there = {student.id: student for student in gradebook.students}
        for student in students:
            old = there.get(student.id)
            noted = {}
            if student.number and not (old and old.lms_user_id):
                noted["lms_user_id"] = student.number
            if student.name != student.id and not (old and (old.first_name or old.last_name)):
                noted["first_name"] = student.name
            gradebook.update_or_create_student(student.id, **noted)
