"""Grade on a Dask cluster: the same pure function as the local pool's, on every machine's workers.

A worker needs the course checkout and its environment, and a fork server of its own, which starts with its first
submission. It needs neither the gradebook nor anything else of the teacher's machine.
"""

from __future__ import annotations

import platform
import secrets
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from threading import Lock
from typing import Any, Self

import torch
from distributed import Client

import grader
from grader.cache import Keys
from grader.course import Course, CourseError
from grader.ledger import Graded
from grader.pool import Job, Setting, work
from grader.sandbox import Policy

__all__ = ["DaskPool"]

_PATIENCE = 30.0  # seconds to wait for the scheduler and its first worker; both answer within one
_ONE_AT_A_TIME = Lock()  # a sandbox is for one thread; a worker with several threads takes turns


class DaskPool:
    """Workers of a running cluster, those that would grade as this machine does.

    address: of the scheduler, as `dask scheduler` prints it
    refused: a sentence for each worker that has another course, other versions, or no checkout; it gets no work
    Raises CourseError where the scheduler does not answer or no worker is left.
    """

    def __init__(self, course: Course, policy: Policy, address: str, *, device: str = "cpu") -> None:
        self._shared = {"policy": policy, "device": device}
        try:
            self._client = Client(address, timeout=_PATIENCE)
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise CourseError(f"no Dask cluster with a worker at {address}: {error}") from None
        ours = _versions(course)
        theirs = self._client.run(_versions)
        self.refused = tuple(_refusal(worker, ours, found) for worker, found in theirs.items() if found != ours)
        self._workers = [worker for worker, found in theirs.items() if found == ours]
        if not self._workers:
            self._client.close()
            raise CourseError("no worker of the cluster can be used.\n" + "\n".join(self.refused))

    def submit(self, data: bytes, lesson: str) -> Future[Graded]:
        result: Future[Graded] = Future()
        task = self._client.submit(
            _work, data, lesson, secrets.randbits(63), self._shared, workers=self._workers, pure=False
        )
        task.add_done_callback(lambda done: _settle(done, result))
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


def _work(data: bytes, lesson: str, seed: int, shared: Mapping[str, Any]) -> Graded:
    """In the worker: grade one submission with this machine's checkout."""
    with _ONE_AT_A_TIME:
        return work(Job(data, lesson, seed, Setting(_checkout(), **shared)))


def _settle(done: Any, result: Future[Graded]) -> None:
    try:
        result.set_result(done.result())
    except BaseException as error:  # also a cancelled task's; whoever waits must hear of it
        result.set_exception(error)


def _checkout() -> Path:
    """The course that this process's grader belongs to."""
    return Path(grader.__file__ or "").resolve().parents[1]


def _versions(course: Course | None = None) -> dict[str, str]:
    """What a result depends on besides the submission, on this machine."""
    course = course or Course(_checkout())
    keys = Keys(course, "", Policy())
    found = {"Python": platform.python_version(), "torch": torch.__version__}
    return found | {lesson: keys.key(b"", lesson) for lesson in course.lessons}


def _refusal(worker: str, ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    other = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return f"worker {worker} is not used: it has another {', '.join(other)}; bring its checkout up to date"
