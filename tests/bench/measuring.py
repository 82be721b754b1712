"""How things are measured: a command with the memory of all its processes, and seconds by phase."""

from __future__ import annotations

import functools
import multiprocessing
import os
import statistics
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

__all__ = ["Clock", "Run", "cpu_of", "loop_scaling", "mean", "measured"]

_LOOK = 0.5  # seconds between two looks at the memory, and more where to look takes more than
_SHARE = 0.01  # this of the time: whoever is measured needs the cores


@dataclass(frozen=True)
class Run:
    """One command: seconds from start to end of its process, and the memory of its whole family in bytes.

    results: seconds from its start to each of its results, in order, where they were looked at
    """

    seconds: float
    peak: int
    results: tuple[float, ...] = ()

    def __add__(self, other: Run) -> Run:
        """One after the other."""
        return Run(self.seconds + other.seconds, max(self.peak, other.peak))


def mean(runs: Sequence[Run]) -> Run:
    """The same command run again and again, as one run."""
    results = tuple(statistics.fmean(found) for found in zip(*(run.results for run in runs), strict=True))
    return Run(statistics.fmean(run.seconds for run in runs), max(run.peak for run in runs), results)


def measured(command: Sequence[str], folder: Path, *, fine: Sequence[int] = (0,), cores: int | None = None) -> Run:
    """Run a command in a folder. Raises SystemExit with what it said where it ends with another code than a fine one.

    fine: exit codes; () for any
    cores: how many it may use; all unless given
    """
    begun = time.monotonic()
    with _only(cores):
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = 0
    ended = threading.Event()

    def watch() -> None:
        nonlocal peak
        pause = _LOOK
        while not ended.wait(pause):
            looked = time.monotonic()
            peak = max(peak, _memory(process.pid))
            pause = max(_LOOK, (time.monotonic() - looked) / _SHARE)

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, said = process.communicate()
    seconds = time.monotonic() - begun
    ended.set()
    watcher.join()
    if fine and process.returncode not in fine:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{said[-3000:]}")
    return Run(seconds, peak)


def loop_scaling(rounds: int = 8) -> float:
    """What this machine makes of two processes at once that share nothing: 2.0 where its cores share nothing."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_loop, range(2)))  # both have started
        alone = together = 0.0
        for _ in range(rounds):
            alone += pool.submit(_loop).result()
            together += max(pool.map(_loop, range(2)))
    return 2 * alone / together


def _loop(_: int = 0) -> float:
    """Seconds for work of a fixed size."""
    begun = time.perf_counter()
    table: dict[int, int] = {}
    for i in range(3_000_000):
        table[i & 1023] = i
    return time.perf_counter() - begun


@contextmanager
def _only(cores: int | None) -> Iterator[None]:
    """What is started in the block runs on so many cores; whoever looks at its memory does not."""
    ours = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(ours)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, ours)


def _memory(pid: int) -> int:
    """Proportional memory of a process and all below it: shared pages count once."""
    total = 0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except (psutil.Error, AttributeError):
            continue
    return total


def cpu_of(pid: int) -> float:
    """Processor seconds that a process has used so far."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


@dataclass
class Clock:
    """Seconds by phase. A phase inside another counts for itself alone, so the sum is the time of the outermost."""

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _open: list[str] = field(default_factory=list)
    _last: float = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    @contextmanager
    def watching(self, *places: tuple[Any, str, str]) -> Iterator[None]:
        """For the time of the block, calls of these functions count as phases.

        places: where a function lies, its name there, and the phase
        """
        with ExitStack() as stack:
            for owner, name, phase in places:
                stack.enter_context(patch.object(owner, name, self._timed(getattr(owner, name), phase)))
            yield

    def _timed(self, function: Callable[..., Any], phase: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.phase(phase):
                return function(*args, **kwargs)

        return timed

    def _turn(self) -> None:
        now = time.perf_counter()
        if self._open:
            self.seconds[self._open[-1]] += now - self._last
        self._last = now
