"""Where ledgers meet nbgrader: its autograde step with our grading in it, and everything after it as it was.

nbgrader reads a grade from a cell's outputs, which the student's own code writes. Here the ledger decides instead.
Its database, formgrader, late penalties, feedback and export read what is stored and follow unchanged.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import nbformat
import nbgrader.converters
from nbgrader.api import MissingEntry
from nbgrader.converters import NbGraderException
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc, temp_attrs
from traitlets import Bool, Enum, List

from grader.cache import Cache, Keys, write_whole
from grader.collect import Unreadable, read_file
from grader.course import Course, CourseError
from grader.gpu import AUTO, DEVICES, chosen, with_device
from grader.grading import Grading, Here, taken
from grader.ledger import Graded, Ledger
from grader.one_gradebook import OneGradebook, one_gradebook
from grader.points import known_points, points_of, save
from grader.records import ledger_file, read_record, write_record
from grader.release import masters, register
from grader.sandbox import Mode, Policy

__all__ = ["Autograde"]

T = TypeVar("T")


class Autograde(nbgrader.converters.Autograde):  # type: ignore[misc]
    """nbgrader's autograde step: one folder in, one executed notebook and its marks out.

    A folder counts whatever lies in it, so that every submission ends as a row. One that was stored and has not
    changed, in itself or in what it is graded by, is skipped; `force` skips nothing.
    """

    unsafe = Bool(False, help="Run notebooks without a sandbox; only for notebooks of one's own.").tag(config=True)
    device = Enum(DEVICES, default_value=AUTO, help="Where answers are run; auto takes a GPU where there is one.").tag(
        config=True
    )
    autograde_preprocessors = List([AssignLatePenalties]).tag(config=True)

    def __init__(
        self,
        *args: Any,
        course: Course | None = None,
        grading: Grading | None = None,
        gradebook: OneGradebook | None = None,
        stored: Callable[[str, Ledger], None] = lambda *_: None,
        **kwargs: Any,
    ) -> None:
        """course: that of the coursedir, where it has been read already
        grading: where results come from; unless given they are made here, one after another
        gradebook: one that is open, for a run of several steps
        stored: called with student and ledger when a submission is in the gradebook, or was and still is
        """
        super().__init__(*args, **kwargs)
        self.course = course or Course(Path(self.coursedir.root))
        self._masters = masters(self.course)
        self._grading = grading
        self._stored = stored
        self._gradebook = gradebook
        self._result: tuple[str, Graded]  # of the submission that is being stored, with its name

    def start(self) -> None:
        self._grading = self._grading or self._serial()
        with ExitStack() as stack:
            stack.enter_context(temp_attrs(self.coursedir, get_existing_timestamp=_timestamp))
            if self._gradebook is None:
                book = one_gradebook(self.coursedir.db_url, self.coursedir.course_id)
                self._gradebook = stack.enter_context(book)
            self._enter()
            super().start()

    def _enter(self) -> None:
        """See to it that the gradebook knows the lesson as it now stands."""
        name = self.coursedir.assignment_id
        lesson = self.course.lesson(name)
        wanted = {f"test_{exercise}": points for exercise, points in lesson.points.items()}
        with suppress(MissingEntry):
            cells = self._book.find_notebook(name, name).grade_cells
            if {cell.name: cell.max_score for cell in cells} == wanted:
                return
        self._book.begin()  # so that nbgrader, which opens one for itself, can write
        register(self.course, lesson, self.coursedir.db_url, self.coursedir.course_id)

    def _serial(self) -> Grading:
        """Results made in this process, through the course's cache. Raises SandboxError where walls cannot be had."""
        try:
            device = chosen(self.device)
        except CourseError as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None
        from grader.grade import Grader  # not above: torch comes with it, and a class is graded by other processes
        from grader.sandbox import Sandbox

        policy = with_device(Policy(mode=Mode.NONE, unsafe=True) if self.unsafe else Policy(), device)
        sandbox = Sandbox(policy, course_root=self.course.root)
        grader = Grader(self.course, sandbox, self._masters, device)
        keys = Keys(self.course, device, sandbox.policy)
        return Grading(keys, Cache(self.course.grading / "cache"), Here(grader), self.force)

    def ask(self) -> int:
        """Have every submission graded, without waiting and without storing. Returns how many there are."""
        self.init_notebooks()
        for folder in self.assignments:
            with suppress(Unreadable):
                self._grading_of_run.ask(self._taken(Path(folder)), Path(folder).name)
        return len(self.assignments)

    def init_notebooks(self) -> None:
        """Take every submission folder, also one without a notebook of the right name."""
        pattern = Path(self._format_source(self.coursedir.assignment_id, self.coursedir.student_id))
        folders = [p for p in Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))) if p.is_dir()]
        self.assignments = {str(p): [str(p / f"{p.name}.ipynb")] for p in sorted(folders)}
        self.notebooks: list[str] = []
        if not self.assignments:
            super().init_notebooks()  # says what was looked for, and what is near it

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Whether this submission is to be stored: not where the very same result is there already."""
        if student_id in self.coursedir.student_id_exclude.split(","):
            return False
        known = read_record(self._record(assignment_id, student_id))
        folder = Path(self._format_source(assignment_id, student_id))
        destination = Path(self._format_dest(assignment_id, student_id))
        same = known and known[0] == self._key(folder) and self._known.get(student_id) == points_of(known[1])
        if known and same and not self.force and destination.exists():
            self.log.info("Unchanged: %s", folder)
            self._stored(student_id, known[1])
            return False
        shutil.rmtree(destination, ignore_errors=True)
        return True

    @cached_property
    def _known(self) -> dict[str, dict[str, float | None]]:
        """What the gradebook held of the lesson when the step began; it may have been replaced since it was written."""
        return known_points(self._book, self.coursedir.assignment_id)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Enter student and submission. No file of the student's but the notebook and the time goes any further."""
        self._result = self._graded(assignment_id, Path(self._format_source(assignment_id, student_id)))
        self._book.begin()  # only now, since nobody else can write until it is stored
        with temp_attrs(self.coursedir, ignore=["*"]):
            super().init_assignment(assignment_id, student_id)
        time = Path(self._format_source(assignment_id, student_id)) / "timestamp.txt"
        if self.coursedir.get_existing_timestamp(str(time.parent)) is not None:
            destination = Path(self._format_dest(assignment_id, student_id))
            destination.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(time, destination / time.name, follow_symlinks=False)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Grade one submission and store it. Its record is written last: a run that is killed stores it again."""
        resources = self.init_single_notebook_resources(notebook_filename)
        lesson, student = resources["nbgrader"]["assignment"], resources["nbgrader"]["student"]
        key, graded = self._result
        save(self._book, lesson, student, graded)
        notebook = copy.deepcopy(graded.notebook)  # the same submission of somebody else has the same result
        with temp_attrs(self, _sanitizing=False):
            self._init_preprocessors()
        for preprocessor in self.exporter._preprocessors:
            notebook, resources = preprocessor(notebook, resources)
        destination = Path(self._format_dest(lesson, student), f"{lesson}.ipynb")
        destination.parent.mkdir(parents=True, exist_ok=True)
        write_whole(destination, nbformat.writes(notebook) + "\n")
        self._book.store()
        write_record(self._record(lesson, student), key, graded.ledger)
        self._stored(student, graded.ledger)

    def _graded(self, lesson: str, folder: Path) -> tuple[str, Graded]:
        """The result for what lies in a submission folder, and its name."""
        try:
            data = self._taken(folder)
        except Unreadable as reason:
            from grader.grade import ungraded

            return str(reason), ungraded(self._masters[lesson], self.course.lesson(lesson), str(reason))
        return self._grading_of_run.keys.key(data, lesson), self._grading_of_run.result(data, lesson)

    def _key(self, folder: Path) -> str:
        """The name of the result for what lies in a submission folder; the reason where nothing can be taken."""
        try:
            return self._grading_of_run.keys.key(self._taken(folder), folder.name)
        except Unreadable as reason:
            return str(reason)

    def _taken(self, folder: Path) -> bytes:
        return taken(self.course, folder)

    @property
    def _book(self) -> OneGradebook:
        return _begun(self._gradebook)

    @property
    def _grading_of_run(self) -> Grading:
        return _begun(self._grading)

    def _record(self, lesson: str, student: str) -> Path:
        return ledger_file(Path(self.coursedir.root, self.coursedir.autograded_directory).parent, lesson, student)


def _begun(thing: T | None) -> T:
    """What `start` makes where it was not given."""
    if thing is None:
        raise RuntimeError("start() has not been called")
    return thing


def _timestamp(folder: str) -> datetime | None:
    """The time of a submission, or None where the file says none that can be understood."""
    try:
        text = read_file(Path(folder) / "timestamp.txt")[:100].decode().strip()
        return parse_utc(text) if text else None
    except (Unreadable, UnicodeDecodeError, ValueError, OverflowError):
        return None
