"""Results on demand: from the cache where nothing changed, else from wherever submissions are graded."""

from __future__ import annotations

import secrets
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cache import Cache, Keys
from grader.collect import Unreadable, read_notebook, recognise, take_one
from grader.course import Course
from grader.ledger import Graded
from grader.pool import Pool

if TYPE_CHECKING:
    from grader.grade import Grader

__all__ = ["Grading", "Here", "taken"]


@dataclass(frozen=True)
class Here:
    """Grades in this process, one after another."""

    grader: Grader

    def submit(self, data: bytes, lesson: str) -> Future[Graded]:
        future: Future[Graded] = Future()
        future.set_result(self.grader.grade(data, lesson, seed=secrets.randbits(63)))
        return future


@dataclass(frozen=True)
class Grading:
    """One run's results.

    force: grade anew what the cache holds; what this run has graded itself is still not graded twice
    """

    keys: Keys
    cache: Cache
    pool: Pool
    force: bool = False
    _asked: dict[str, Future[Graded]] = field(default_factory=dict)

    def ask(self, data: bytes, lesson: str) -> str:
        """See to it that this submission is being graded, without waiting. Returns the name of its result."""
        key = self.keys.key(data, lesson)
        if key not in self._asked and (self.force or not self.cache.holds(key)):
            future = self._asked[key] = self.pool.submit(data, lesson)
            future.add_done_callback(lambda done: self._keep(key, done))
        return key

    def result(self, data: bytes, lesson: str) -> Graded:
        """Wait for the result of this submission. Raises what grading it raised: a fault of ours, never of theirs."""
        key = self.ask(data, lesson)
        if key in self._asked:
            return self._asked[key].result()
        kept = self.cache.get(key)
        if kept is None:  # there a moment ago, and unreadable
            self._asked[key] = self.pool.submit(data, lesson)
            return self._asked[key].result()
        return kept

    def _keep(self, key: str, done: Future[Graded]) -> None:
        """Keep a result as soon as it is there, so that a run that is killed loses nothing that was graded."""
        if not done.cancelled() and done.exception() is None:
            graded = done.result()
            if not graded.ledger.broken:  # a check of ours failed: to be tried again
                self.cache.put(key, graded)


def taken(course: Course, folder: Path) -> bytes:
    """The notebook that counts in a submission's folder, which bears its lesson's name. Raises Unreadable."""

    def likeness(data: bytes) -> int:
        try:
            return int(recognise(read_notebook(data), course.lessons) == folder.name)
        except Unreadable:
            return 0

    return take_one(folder, folder.name, likeness)
