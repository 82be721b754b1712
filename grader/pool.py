"""Many submissions at once: the pure function on every core, or on every machine of a Dask cluster.

Workers hold a course and a sandbox each; they touch neither the gradebook nor each other.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import Protocol, Self

from grader.course import Course
from grader.grade import Graded, Grader
from grader.sandbox import Policy, Sandbox

__all__ = ["Job", "LocalPool", "Pool", "work"]

TRIES = 2
"""A worker that dies takes the submissions of the others with it; each is given another worker this often in all."""


@dataclass(frozen=True)
class Job:
    """One submission and all that its result depends on.

    masters: lesson name to release notebook, made once by whoever gives out the work
    """

    data: bytes
    lesson: str
    seed: int
    root: Path
    masters: tuple[tuple[str, str], ...]
    policy: Policy
    device: str


def work(job: Job) -> Graded:
    """Grade one job in this process."""
    return _grader(job.root, job.masters, job.policy, job.device).grade(job.data, job.lesson, seed=job.seed)


def _begin() -> None:
    """Called in each new worker: it ends when the process that gives out the work does, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


@cache
def _grader(root: Path, masters: tuple[tuple[str, str], ...], policy: Policy, device: str) -> Grader:
    """One grader, and so one fork server, a process."""
    return Grader(Course(root), Sandbox(policy, course_root=root), dict(masters), device)


class Pool(Protocol):
    """Somewhere that grades submissions. `submit` does not wait."""

    def submit(self, data: bytes, lesson: str) -> Future[Graded]:
        """Begin to grade a submission; the future holds its result."""
        ...


class LocalPool:
    """A pool of processes on this machine, as many as it has cores unless told otherwise."""

    def __init__(
        self,
        course: Course,
        masters: Mapping[str, str],
        policy: Policy,
        *,
        jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self._course = course
        self._masters = masters
        self._policy = policy
        self._device = device
        self._jobs = jobs or len(os.sched_getaffinity(0))
        # forked from a process that has loaded torch and nothing else: no locks held, no threads, one import for all
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["grader.grade"])
        self._executor: ProcessPoolExecutor | None = None

    def submit(self, data: bytes, lesson: str) -> Future[Graded]:
        masters = tuple(self._masters.items())
        job = Job(data, lesson, secrets.randbits(63), self._course.root, masters, self._policy, self._device)
        result: Future[Graded] = Future()
        self._try(job, result, TRIES)
        return result

    def _try(self, job: Job, result: Future[Graded], tries: int) -> None:
        try:
            if self._executor is None:
                self._executor = ProcessPoolExecutor(self._jobs, mp_context=self._context, initializer=_begin)
            attempt = self._executor.submit(work, job)
        except BrokenProcessPool:
            self._executor = None
            return self._try(job, result, tries)
        attempt.add_done_callback(lambda done: self._done(done, job, result, tries - 1))
        return None

    def _done(self, done: Future[Graded], job: Job, result: Future[Graded], tries: int) -> None:
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
