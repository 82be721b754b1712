"""Grade a class: submissions in a pool of processes, one writer into nbgrader's gradebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory

from grader.cache import Cache, Keys
from grader.course import Course, CourseError
from grader.gpu import with_device
from grader.gradebook import Autograde
from grader.grading import Grading
from grader.ledger import Ledger
from grader.pool import LocalPool
from grader.release import masters
from grader.sandbox import Policy
from grader.sandbox.probe import decide
from grader.settings import settings

if TYPE_CHECKING:
    from grader.cluster import DaskPool

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
            pool = LocalPool(course, masters(course), policy, jobs=jobs, device=device)
        else:
            pool = _cluster(course, policy, dask, device)
            for sentence in pool.refused:
                warn(sentence)
        stack.enter_context(pool)
        grading = Grading(Keys(course, device, policy), Cache(course.grading / "cache"), pool, force)
        steps = [
            _step(course, lesson, student, grading, partial(keep, lesson))
            for lesson in lessons
            for student in dict.fromkeys(students)
        ]
        try:
            # all lessons before the first is stored, so that no core waits for the writer between two of them
            begun(sum(step.ask() for step in steps))
            for step in steps:
                step.start()
        except NbGraderException as error:
            raise CourseError(str(error)) from None
    return tuple(rows)


def _cluster(course: Course, policy: Policy, address: str, device: str) -> DaskPool:
    try:
        from grader.cluster import DaskPool  # an extra: not everyone has a cluster
    except ImportError:
        raise CourseError("--dask needs Dask: pip install -r requirements.txt -e '.[cluster]'") from None
    return DaskPool(course, masters(course), policy, address, device=device)


def _step(
    course: Course, lesson: str, student: str, grading: Grading, stored: Callable[[str, Ledger], None]
) -> Autograde:
    config = settings(course)
    config.CourseDirectory.assignment_id = course.lesson(lesson).name
    config.CourseDirectory.student_id = student
    coursedir = CourseDirectory(config=config)
    return Autograde(
        coursedir=coursedir, config=config, course=course, force=grading.force, grading=grading, stored=stored
    )
