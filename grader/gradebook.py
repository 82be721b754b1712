"""Where ledgers meet nbgrader: its autograde step with our grading in it, and everything after it as it was.

nbgrader reads a grade from a cell's outputs, which the student's own code writes. Here the ledger decides instead.
Its database, formgrader, late penalties, feedback and export read what is stored and follow unchanged.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import warnings
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.converters
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, SaveAutoGrades
from nbgrader.utils import parse_utc, temp_attrs
from sqlalchemy.exc import SAWarning
from traitlets import List
from traitlets.config import Config

from grader.collect import Unreadable, read_file, read_notebook, recognise, take_one
from grader.course import Course
from grader.environment import with_tools_on_path
from grader.grade import Graded, Grader
from grader.ledger import Ledger
from grader.release import masters, register

__all__ = ["Autograde", "SaveLedger", "configure", "stored_ledgers"]

LEDGERS = "ledgers"


def configure(config: Config, course: Course) -> None:
    """Settings for every nbgrader command in the course folder. Called by `nbgrader_config.py`."""
    directories = config.CourseDirectory
    directories.root = str(course.root)
    directories.course_id = "attention"
    directories.source_directory = ".grading/source"
    directories.release_directory = "notebooks"
    directories.submitted_directory = ".grading/submitted"
    directories.autograded_directory = ".grading/autograded"
    directories.feedback_directory = ".grading/feedback"
    directories.db_url = f"sqlite:///{course.grading / 'gradebook.db'}"
    config.ExportPlugin.to = str(course.grading / "grades.csv")
    config.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
    config.HTMLExporter.sanitize_html = True  # a student's markdown and outputs reach the teacher's browser
    # nbgrader adds a submission in an order that SQLAlchemy 2 remarks on, thrice a student; what is stored is right
    warnings.filterwarnings("ignore", "Object of type .* not in session", SAWarning)
    os.environ["PATH"] = _path_with_tools()
    course.grading.mkdir(exist_ok=True)
    _install()


def _path_with_tools() -> str:
    with with_tools_on_path():
        return os.environ["PATH"]


def _install() -> None:
    """Put our Autograde where nbgrader's command and its formgrader look for theirs. There is no setting for it."""
    for module in (nbgrader.converters, nbgrader.apps.autogradeapp, nbgrader.apps.api):
        module.Autograde = Autograde


class SaveLedger(SaveAutoGrades):  # type: ignore[misc]
    """Stores the ledger's points. What a cell printed never decides."""

    def _add_score(self, cell: Any, resources: Any) -> None:
        grade = self.gradebook.find_grade(
            cell.metadata["nbgrader"]["grade_id"], self.notebook_id, self.assignment_id, self.student_id
        )
        ledger: Ledger = resources["ledger"]
        points = {f"test_{row.name}": row.points for row in ledger.exercises}
        grade.auto_score = None if ledger.reason else points[cell.metadata["nbgrader"]["grade_id"]]
        # a manual score is kept and shown for review; an ungraded or broken one asks for a person
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None or ledger.broken
        self.gradebook.db.commit()


class Autograde(nbgrader.converters.Autograde):  # type: ignore[misc]
    """nbgrader's autograde step: one folder in, one executed notebook and its marks out.

    A folder counts whatever lies in it, so that every submission ends as a row.
    """

    autograde_preprocessors = List([SaveLedger, AssignLatePenalties, CheckCellMetadata]).tag(config=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.course = Course(Path(self.coursedir.root))

    def start(self) -> None:
        with temp_attrs(self.coursedir, get_existing_timestamp=_timestamp):
            _enter(self.course, self.coursedir.assignment_id, self.coursedir.db_url)
            super().start()

    def init_notebooks(self) -> None:
        """Take every submission folder, also one without a notebook of the right name."""
        pattern = Path(self._format_source(self.coursedir.assignment_id, self.coursedir.student_id))
        folders = [p for p in Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))) if p.is_dir()]
        self.assignments = {str(p): [str(p / f"{p.name}.ipynb")] for p in sorted(folders)}
        self.notebooks: list[str] = []
        if not self.assignments:
            super().init_notebooks()  # says what was looked for, and what is near it

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Enter student and submission. No file of the student's but the notebook and the time goes any further."""
        with temp_attrs(self.coursedir, ignore=["*"]):
            super().init_assignment(assignment_id, student_id)
        time = Path(self._format_source(assignment_id, student_id)) / "timestamp.txt"
        if self.coursedir.get_existing_timestamp(str(time.parent)) is not None:
            destination = Path(self._format_dest(assignment_id, student_id))
            destination.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(time, destination / time.name, follow_symlinks=False)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Grade one submission and store it."""
        resources = self.init_single_notebook_resources(notebook_filename)
        lesson, student = resources["nbgrader"]["assignment"], resources["nbgrader"]["student"]
        graded = self._graded(lesson, Path(notebook_filename).parent)
        resources["ledger"] = graded.ledger
        self.exporter._preprocessors = []
        for preprocessor in self.autograde_preprocessors:
            self.exporter.register_preprocessor(preprocessor)
        output, resources = self.exporter.from_notebook_node(graded.notebook, resources)
        self.write_single_notebook(output, resources)
        path = self._ledgers() / lesson / f"{student}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(graded.ledger.to_json(), indent=1, ensure_ascii=False), encoding="utf-8")

    def _ledgers(self) -> Path:
        """The ledgers' folder lies beside the autograded one; inside it they would be copied into the feedback."""
        return Path(self.coursedir.root, self.coursedir.autograded_directory).parent / LEDGERS

    def _graded(self, lesson: str, folder: Path) -> Graded:
        try:
            data = take_one(folder, lesson, lambda data: _is_lesson(self.course, data, lesson))
        except Unreadable as reason:
            return _grader(self.course).ungraded(lesson, str(reason))
        return _grader(self.course).grade(data, lesson, seed=secrets.randbits(63))


def stored_ledgers(grading: Path, lesson: str) -> dict[str, Ledger]:
    """Student to ledger, for every graded submission of a lesson under the grading folder."""
    found = sorted((grading / LEDGERS / lesson).glob("*.json"))
    return {path.stem: Ledger.from_json(json.loads(path.read_text(encoding="utf-8"))) for path in found}


@cache
def _grader(course: Course) -> Grader:
    """One grader, and so one sandbox, a process."""
    from grader.sandbox import Policy, Sandbox

    return Grader(course, Sandbox(Policy(), course_root=course.root), masters(course))


def _is_lesson(course: Course, data: bytes, lesson: str) -> int:
    try:
        return int(recognise(read_notebook(data), course.lessons) == lesson)
    except Unreadable:
        return 0


def _timestamp(folder: str) -> datetime | None:
    """The time of a submission, or None where the file says none that can be understood."""
    try:
        text = read_file(Path(folder) / "timestamp.txt")[:100].decode().strip()
        return parse_utc(text) if text else None
    except (Unreadable, UnicodeDecodeError, ValueError, OverflowError):
        return None


def _enter(course: Course, name: str, db_url: str) -> None:
    """See to it that the gradebook knows the lesson as it now stands."""
    lesson = course.lesson(name)
    wanted = {f"test_{exercise}": points for exercise, points in lesson.points.items()}
    with Gradebook(db_url) as gradebook:
        try:
            notebook = gradebook.find_notebook(name, name)
            if {cell.name: cell.max_score for cell in notebook.grade_cells} == wanted:
                return
        except MissingEntry:
            pass
    register(course, lesson, db_url)
