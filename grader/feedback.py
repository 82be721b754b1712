"""nbgrader's feedback step with our page in it: one autograded folder in, one page out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import nbgrader.converters
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import NbGraderException

from grader.cache import write_whole
from grader.feedback_page import Given, feedback_page
from grader.gradebook import stored_ledgers
from grader.ledger import Ledger

__all__ = ["GenerateFeedback"]


class GenerateFeedback(nbgrader.converters.GenerateFeedback):  # type: ignore[misc]
    """Writes a page for each autograded submission, anew each time: it is cheap, and marks and comments change."""

    def start(self) -> None:
        self._ledgers: dict[str, dict[str, Ledger]] = {}
        super().start()

    def init_destination(self, assignment_id: str, student_id: str) -> bool:  # noqa: ARG002
        return student_id not in self.coursedir.student_id_exclude.split(",")

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """No file is copied: nothing but the page goes back to the student."""

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
    manual = {g.name.removeprefix("test_"): g.manual_score for g in notebook.grades if g.manual_score is not None}
    comments = {comment.name: comment.manual_comment or "" for comment in notebook.comments}
    return Given(notebook.late_submission_penalty or 0.0, manual, comments)
