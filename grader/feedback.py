"""nbgrader's feedback step with our page in it: one autograded folder in, one page out."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.converters
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory

from grader.cache import write_whole
from grader.collect import Unreadable, read_file
from grader.course import Course, CourseError
from grader.feedback_page import Given, feedback_page
from grader.ledger import Ledger
from grader.points import given_by_hand
from grader.records import stored_ledgers

__all__ = ["GenerateFeedback", "feedback"]

_OF_THE_EXCHANGE = ("submission_secret.txt", "timestamp.txt")
_MOST = 1000  # bytes of each; they hold a line


def feedback(course: Course, lesson: str, *, student: str = "*") -> tuple[Path, ...]:
    """Write a page for each autograded submission of a lesson. Returns their paths, at least one.

    student: a student's folder name, or a pattern of them
    Raises CourseError where there is nothing to write about, or a submission has no ledger.
    """
    from grader.settings import settings  # which itself puts this step into nbgrader

    config = settings(course)
    config.CourseDirectory.assignment_id = course.lesson(lesson).name
    config.CourseDirectory.student_id = student
    step = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    try:
        step.start()
    except NbGraderException as error:
        raise CourseError(f"{lesson}: {error}") from None
    return tuple(step.written)


class GenerateFeedback(nbgrader.converters.GenerateFeedback):  # type: ignore[misc]
    """Writes a page for each autograded submission, anew each time: it is cheap, and marks and comments change."""

    def start(self) -> None:
        self._ledgers: dict[str, dict[str, Ledger]] = {}
        self.written: list[Path] = []
        super().start()

    def init_destination(self, assignment_id: str, student_id: str) -> bool:  # noqa: ARG002
        return student_id not in self.coursedir.student_id_exclude.split(",")

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Take on what nbgrader's exchange knows a submission by, where it came through one, and no other file."""
        submitted = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student_id, assignment_id))
        destination = Path(self._format_dest(assignment_id, student_id))
        for name in _OF_THE_EXCHANGE:
            with suppress(Unreadable):
                known = read_file(submitted / name)[:_MOST]
                destination.mkdir(parents=True, exist_ok=True)
                (destination / name).write_bytes(known)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Called by nbgrader for each autograded notebook."""
        about = self.init_single_notebook_resources(notebook_filename)["nbgrader"]
        lesson, student = about["assignment"], about["student"]
        ledger = self._of_lesson(lesson).get(student)
        if ledger is None:
            raise NbGraderException(f"There is no ledger of {student}'s {lesson}; autograde it again with --force.")
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            given = _given(gradebook, lesson, student)
        page = feedback_page(lesson, student, ledger, nbformat.read(notebook_filename, as_version=4), given)
        place = Path(self._format_dest(lesson, student), f"{about['notebook']}.html")
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, page)
        self.written.append(place)

    def _of_lesson(self, lesson: str) -> dict[str, Ledger]:
        if lesson not in self._ledgers:
            grading = Path(self.coursedir.root, self.coursedir.autograded_directory).parent
            self._ledgers[lesson] = stored_ledgers(grading, lesson)
        return self._ledgers[lesson]


def _given(gradebook: Any, lesson: str, student: str) -> Given:
    """What the gradebook knows of a submission beside its ledger; nothing where it does not know it."""
    try:
        notebook = gradebook.find_submission_notebook(lesson, lesson, student)
    except MissingEntry:
        return Given()
    comments = {comment.name: comment.manual_comment or "" for comment in notebook.comments}
    return Given(notebook.late_submission_penalty or 0.0, given_by_hand(notebook.grades), comments)
