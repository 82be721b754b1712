"""Many submissions at once: the pure function on every core, or on every machine of a Dask cluster.

Workers hold a course and a sandbox each; they touch neither the gradebook nor each other.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import forkserver
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Protocol, Self

from grader.course import Course
from grader.ledger import Graded
from grader.loading import loading
from grader.sandbox import Policy
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.probe import can_fork, decide

if TYPE_CHECKING:
    from grader.grade import Grader
    from grader.sandbox.orders import Orders

__all__ = ["Job", "LocalPool", "Pool", "Setting", "work"]

TRIES = 2
"""A worker that dies takes the submissions of the others with it; each is given another worker this often in all."""


@dataclass(frozen=True)
class Setting:
    """What all submissions of a run have in common."""

    root: Path
    policy: Policy
    device: str


@dataclass(frozen=True)
class Job:
    """One submission and all that its result depends on."""

    data: bytes
    lesson: str
    seed: int
    setting: Setting


_graders: dict[Setting, Grader] = {}
"""The graders of this process; as a rule there is one, and with it one sandbox."""


def work(job: Job) -> Graded:
    """Grade one job in this process."""
    if job.setting not in _graders:
        _graders[job.setting] = _grader(job.setting, Course(job.setting.root))
    return _graders[job.setting].grade(job.data, job.lesson, seed=job.seed)


def _grader(setting: Setting, course: Course, orders: Orders | None = None) -> Grader:
    from grader.grade import Grader  # not above: torch comes with it, and who only gives out work needs none
    from grader.release import masters
    from grader.sandbox import Sandbox

    sandbox = Sandbox(setting.policy, course_root=setting.root, orders=orders)
    return Grader(course, sandbox, masters(course), setting.device)


def _begin(setting: Setting, course: Course, orders: Orders) -> None:
    """Called in each new worker. It ends when the process that gives out the work does, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()
    with loading():
        _graders[setting] = _grader(setting, course, orders)


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


class Pool(Protocol):
    """Somewhere that grades submissions. `submit` does not wait."""

    def submit(self, data: bytes, lesson: str) -> Future[Graded]:
        """Begin to grade a submission; the future holds its result."""
        ...


class LocalPool:
    """A pool of processes on this machine, as many as it has cores unless told otherwise.

    They are forked from a process that has loaded torch and nothing else: no locks held, no threads, one import for
    all. Their kernels come from one fork server.
    """

    def __init__(self, course: Course, policy: Policy, *, jobs: int | None = None, device: str = "cpu") -> None:
        self._course = course
        self._policy = policy
        self._device = device
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._context = multiprocessing.get_context("forkserver")
        self._executor: ProcessPoolExecutor | None = None
        self._kernels: ForkServer | None = None

    def load(self) -> None:
        """Begin to load what workers and kernels need, without waiting: for who has something to do meanwhile."""
        if self._kernels is None:
            self._kernels = ForkServer(forking=can_fork())
            self._context.set_forkserver_preload(["grader.worker"])
            forkserver.ensure_running()

    def submit(self, data: bytes, lesson: str) -> Future[Graded]:
        result: Future[Graded] = Future()
        self._try(Job(data, lesson, secrets.randbits(63), self._setting), result, TRIES)
        return result

    def _try(self, job: Job, result: Future[Graded], tries: int) -> None:
        try:
            self._executor = self._executor or self._workers()
            attempt = self._executor.submit(work, job)
        except BrokenProcessPool:
            self._executor = None
            return self._try(job, result, tries)
        attempt.add_done_callback(lambda done: self._done(done, job, result, tries - 1))
        return None

    @cached_property
    def _setting(self) -> Setting:
        return Setting(self._course.root, decide(self._policy), self._device)

    def _workers(self) -> ProcessPoolExecutor:
        self.load()
        assert self._kernels is not None
        given = self._setting, self._course, self._kernels.ready(self._setting.policy.start_seconds)
        return ProcessPoolExecutor(self._jobs, mp_context=self._context, initializer=_begin, initargs=given)

    def _done(self, done: Future[Graded], job: Job, result: Future[Graded], tries: int) -> None:
        if done.cancelled():  # the run ends without it
            result.cancel()
            return
        error = done.exception()
        if error is None:
            result.set_result(done.result())
        elif isinstance(error, BrokenProcessPool) and tries > 0:
            self._executor = None
            self._try(job, result, tries)
        else:
            result.set_exception(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        if self._kernels is not None:
            self._kernels.close()
