"""Grade a class: submissions in a pool of processes, one writer into nbgrader's gradebook."""

from __future__ import annotations

import copy
import itertools
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from typing import TYPE_CHECKING

from grader.cache import Cache, Keys
from grader.course import Course, CourseError
from grader.gpu import with_device
from grader.grading import Grading
from grader.ledger import Ledger
from grader.loading import loading
from grader.pool import LocalPool
from grader.records import ledger_file
from grader.sandbox import Policy
from grader.sandbox.probe import decide

if TYPE_CHECKING:
    from traitlets.config import Config

    from grader.cluster import DaskPool
    from grader.gradebook import Autograde
    from grader.one_gradebook import OneGradebook

__all__ = ["Row", "autograde"]


_log = logging.getLogger("nbgrader.autograde")
_log.setLevel(logging.ERROR)  # what could not be stored, and why; the rest is in the rows


@dataclass(frozen=True)
class Row:
    """One submission of the class."""

    lesson: str
    student: str
    ledger: Ledger


def autograde(
    course: Course,
    lessons: Sequence[str],
    *,
    jobs: int | None = None,
    dask: str | None = None,
    students: Sequence[str] = ("*",),
    device: str = "cpu",
    policy: Policy | None = None,
    force: bool = False,
    warn: Callable[[str], None] = lambda _: None,
    begun: Callable[[int], None] = lambda _: None,
    stored: Callable[[Row], None] = lambda _: None,
) -> tuple[Row, ...]:
    """Grade all submissions of these lessons and store them. Returns a row for each.

    jobs: worker processes; one a core unless given
    dask: address of a Dask scheduler, whose workers grade instead
    students: names of students' folders, or patterns of them
    warn: called with a sentence for each worker of a cluster that is not used
    begun: called once with the number of submissions; stored: called with each row as it is stored
    Raises CourseError where there is nothing to grade.
    """
    policy = with_device(policy or Policy(), device)
    rows: list[Row] = []

    def keep(lesson: str, who: str, ledger: Ledger) -> None:
        rows.append(Row(lesson, who, ledger))
        stored(rows[-1])

    with ExitStack() as stack:
        pool: LocalPool | DaskPool
        if dask is None:
            pool = stack.enter_context(LocalPool(course, policy, jobs=jobs, device=device))
            if force or _something_is_new(course, lessons, students):
                pool.load()
            policy = decide(policy)
        else:
            policy = decide(policy)
            pool = stack.enter_context(_cluster(course, policy, dask, device))
            for sentence in pool.refused:
                warn(sentence)
        grading = Grading(Keys(course, device, policy), Cache(course.grading / "cache"), pool, force)
        lessons = [course.lesson(name).name for name in lessons]
        _store(course, lessons, students, grading, begun, keep)
    return tuple(rows)


def _store(
    course: Course,
    lessons: Sequence[str],
    students: Sequence[str],
    grading: Grading,
    begun: Callable[[int], None],
    stored: Callable[[str, str, Ledger], None],
) -> None:
    """Ask for every submission, and store each when it is its turn."""
    with loading():  # not at the top: nbgrader takes a while, and so do the workers, who have begun now
        from nbgrader.converters import NbGraderException

        from grader.one_gradebook import one_gradebook
        from grader.settings import settings

    config = settings(course)
    try:
        with one_gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id) as gradebook:
            steps = _steps(course, config, lessons, students, grading, gradebook, stored)
            # all lessons before the first is stored, so that no core waits for the writer between two of them
            begun(sum(step.ask() for step in steps))
            for step in steps:
                step.start()
    except NbGraderException as error:
        raise CourseError(str(error)) from None


def _something_is_new(course: Course, lessons: Sequence[str], students: Sequence[str]) -> bool:
    """Whether a submission surely is to be graded, since it has no ledger. A quick look at names, no more.

    Nothing is found where nbgrader's configuration has other folders; then workers begin when they are asked.
    """
    submitted = course.grading / "submitted"
    return any(
        not ledger_file(course.grading, lesson, folder.parent.name).exists()
        for lesson in lessons
        for folder in submitted.glob(f"*/{lesson}")
        if any(fnmatch(folder.parent.name, pattern) for pattern in students)
    )


def _steps(
    course: Course,
    common: Config,
    lessons: Sequence[str],
    students: Sequence[str],
    grading: Grading,
    gradebook: OneGradebook,
    stored: Callable[[str, str, Ledger], None],
) -> list[Autograde]:
    """The autograde steps of a run: for each lesson and student, or pattern of students."""
    from nbgrader.coursedir import CourseDirectory

    from grader.gradebook import Autograde

    made = []
    for lesson, student in itertools.product(lessons, dict.fromkeys(students)):
        config = copy.deepcopy(common)
        config.CourseDirectory.assignment_id = lesson
        config.CourseDirectory.student_id = student
        coursedir = CourseDirectory(config=config)
        made.append(
            Autograde(
                coursedir=coursedir, config=config, course=course, force=grading.force, grading=grading,
                gradebook=gradebook, stored=partial(stored, lesson),
            )
        )  # fmt: skip
        made[-1].log = _log
    return made


def _cluster(course: Course, policy: Policy, address: str, device: str) -> DaskPool:
    try:
        from grader.cluster import DaskPool  # an extra: not everyone has a cluster
    except ImportError:
        raise CourseError("--dask needs Dask: pip install -r requirements.txt -e '.[cluster]'") from None
    return DaskPool(course, policy, address, device=device)
