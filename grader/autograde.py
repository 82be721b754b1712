"""Grade a class: submissions in a pool of processes, one writer into nbgrader's gradebook."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from grader.cache import Cache, Keys
from grader.course import Course, CourseError
from grader.gpu import with_device
from grader.grading import Grading
from grader.ledger import Ledger
from grader.pool import LocalPool
from grader.records import ledger_file
from grader.sandbox import Policy
from grader.sandbox.probe import decide

if TYPE_CHECKING:
    from grader.cluster import DaskPool
    from grader.gradebook import Autograde

__all__ = ["Row", "autograde"]


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
    # the same for keys and workers, and refused before anything begins
    policy = decide(with_device(policy or Policy(), device))
    rows: list[Row] = []

    def keep(lesson: str, who: str, ledger: Ledger) -> None:
        rows.append(Row(lesson, who, ledger))
        stored(rows[-1])

    with ExitStack() as stack:
        pool: LocalPool | DaskPool
        if dask is None:
            pool = stack.enter_context(LocalPool(course, policy, jobs=jobs, device=device))
            if force or _has_news(course, lessons):
                pool.load()
        else:
            pool = stack.enter_context(_cluster(course, policy, dask, device))
            for sentence in pool.refused:
                warn(sentence)
        from nbgrader.converters import NbGraderException  # not above: it takes as long to load as a pool

        grading = Grading(Keys(course, device, policy), Cache(course.grading / "cache"), pool, force)
        steps = _steps(course, lessons, students, grading, keep)
        try:
            for step in steps:
                step.enter()
            # all lessons before the first is stored, so that no core waits for the writer between two of them
            begun(sum(step.ask() for step in steps))
            for step in steps:
                step.start()
        except NbGraderException as error:
            raise CourseError(str(error)) from None
    return tuple(rows)


def _steps(
    course: Course,
    lessons: Sequence[str],
    students: Sequence[str],
    grading: Grading,
    stored: Callable[[str, str, Ledger], None],
) -> list[Autograde]:
    """The autograde steps of a run: for each lesson and student, or pattern of students."""
    from nbgrader.coursedir import CourseDirectory

    from grader.gradebook import Autograde
    from grader.settings import settings

    made = []
    common = settings(course)
    for lesson, student in itertools.product(lessons, dict.fromkeys(students)):
        config = copy.deepcopy(common)
        config.CourseDirectory.assignment_id = course.lesson(lesson).name
        config.CourseDirectory.student_id = student
        coursedir = CourseDirectory(config=config)
        made.append(
            Autograde(
                coursedir=coursedir, config=config, course=course, force=grading.force, grading=grading,
                stored=partial(stored, lesson),
            )
        )  # fmt: skip
    return made


def _has_news(course: Course, lessons: Sequence[str]) -> bool:
    """Whether there surely is something to grade: a submission without a ledger. A quick look at names, no more."""
    folders = ((lesson, folder) for lesson in lessons for folder in (course.grading / "submitted").glob(f"*/{lesson}"))
    return any(not ledger_file(course.grading, lesson, folder.parent.name).exists() for lesson, folder in folders)


def _cluster(course: Course, policy: Policy, address: str, device: str) -> DaskPool:
    try:
        from grader.cluster import DaskPool  # an extra: not everyone has a cluster
    except ImportError:
        raise CourseError("--dask needs Dask: pip install -r requirements.txt -e '.[cluster]'") from None
    return DaskPool(course, policy, address, device=device)
