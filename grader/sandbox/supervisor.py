"""One process beside each kernel: forks it, ends it when its time, memory or disk is spent or the grader is gone."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.sandbox import linux
from grader.sandbox.body import Order, become_kernel
from grader.sandbox.policy import Mode, Policy

__all__ = ["Ending", "children_of", "supervise"]

_TICK = 0.1  # seconds between two looks at memory and disk; the limits on one process hold without looking
_DISK_TICK = 0.5  # seconds between two walks over the kernel's folder, where no file system bounds it


@dataclass(frozen=True)
class Ending:
    """How a kernel ended.

    code: exit code; minus the signal's number where one ended it
    reason: "" where it ended by itself, else the limit that the supervisor ended it for
    """

    code: int
    reason: str = ""
    cpu_seconds: float = 0.0
    largest_bytes: int = 0


def supervise(grader: socket.socket, order: Order, descriptors: Sequence[int], parent: int) -> None:
    """Fork the kernel and watch over it until it has ended and nothing of it is left.

    grader: packets of JSON; we say {"ready": pid} or {"failed": text}, then {"ended": {...}}; the grader says
        {"signal": number}. When it closes, the kernel is killed
    descriptors: the judge's channel and the kernel's listening sockets; closed here after the fork
    parent: process id of the fork server; when that dies, so does the kernel
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    policy, folder = order.walls.policy, order.walls.folder
    try:
        with contextlib.suppress(OSError):
            os.setsid()
        if sys.platform == "linux":
            linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)  # what the kernel leaves behind becomes ours, to be ended
        user = order.walls.before_fork()
        kernel, ready = _fork(grader, order, user, descriptors)
    except Exception as error:
        _say(grader, {"failed": f"{type(error).__name__}: {error}"})
        shutil.rmtree(folder, ignore_errors=True)
        return
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    watch = _Watch(grader, woken, kernel, parent, policy, folder, order.walls.mode)
    reason = "" if watch.started(ready) else watch.reason
    os.close(ready)
    watch.until_end()
    ending = watch.end(reason)
    shutil.rmtree(folder, ignore_errors=True)
    _say(grader, {"ended": ending.__dict__})


def _fork(grader: socket.socket, order: Order, user: int, descriptors: Sequence[int]) -> tuple[int, int]:
    """Returns the kernel's process id and where it reports that it is ready."""
    ready, report = os.pipe()
    kernel = os.fork()
    if kernel:
        os.close(report)
        return kernel, ready
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()  # a group of its own, which an interrupt is sent to
        grader.close()
        os.close(ready)
        become_kernel(order, user, descriptors, report)
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException as error:
        words = f"{type(error).__name__}: {error}"
        where = traceback.extract_tb(error.__traceback__)[-1]
        with contextlib.suppress(OSError):
            os.write(_report_of(descriptors, report), json.dumps({"error": f"{words} ({where.name})"}).encode())
    finally:
        os._exit(code)


def _report_of(descriptors: Sequence[int], report: int) -> int:
    """The report's number: it moves behind the others when the kernel sorts its descriptors."""
    moved = 3 + len(descriptors)
    try:
        os.fstat(moved)
    except OSError:
        return report
    return moved


@dataclass
class _Watch:
    grader: socket.socket
    woken: int  # readable when a child has ended
    kernel: int
    parent: int
    policy: Policy
    folder: str
    mode: Mode
    reason: str = ""

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.policy.life_seconds
        self.pages = resource.getpagesize()
        self.born_with = _own_memory(os.getpid(), self.pages)
        self.disk_at = 0.0
        self.status: tuple[int, float, int] | None = None

    def started(self, ready: int) -> bool:
        """Wait until the kernel says that it is ready, and tell the grader. False where it could not start."""
        if not select.select([ready], [], [], self.policy.start_seconds)[0]:
            self.reason = "start"
            said = b""
        else:
            said = os.read(ready, 65536)
        if said == b"{}":
            _say(self.grader, {"ready": self.kernel})
            return True
        error = json.loads(said)["error"] if said else "it did not get ready"
        _say(self.grader, {"failed": error})
        self._kill(self.reason or "start")
        return False

    def until_end(self) -> None:
        while not self._gone():
            lines: list[Any] = [self.grader, self.woken]
            readable, _, _ = select.select(lines, [], [], self._wait())
            if self.woken in readable:
                os.read(self.woken, 4096)
            if self.grader in readable:
                self._heed()
            self._look()

    def end(self, reason: str) -> Ending:
        """Take down all that the kernel started. Returns how it ended."""
        _end_descendants()
        code, cpu, largest = self.status or (-signal.SIGKILL, 0.0, 0)
        return Ending(code, self.reason or reason, cpu, largest)

    def _wait(self) -> float:
        return max(0.0, min(_TICK, self.deadline - time.monotonic()))

    def _gone(self) -> bool:
        if self.status is None:
            pid, status, usage = os.wait4(self.kernel, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self.status = (code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)
        return self.status is not None

    def _heed(self) -> None:
        try:
            packet = self.grader.recv(4096)
        except OSError:
            packet = b""
        if not packet:
            self._kill("the grader is gone")
            select.select([self.woken], [], [], 1.0)  # the line stays readable; wait for the end, not for it
            return
        number = int(json.loads(packet)["signal"])
        with contextlib.suppress(OSError):
            if number == signal.SIGKILL:
                os.kill(self.kernel, number)
            else:
                os.killpg(self.kernel, number)

    def _look(self) -> None:
        if self.reason:
            return
        if os.getppid() != self.parent:
            self._kill("the fork server is gone")
        elif time.monotonic() > self.deadline:
            self._kill("life")
        elif sys.platform == "linux":
            self._look_at_use()

    def _look_at_use(self) -> None:
        processes = list(_descendants(os.getpid()))
        if len(processes) > self.policy.processes:
            self._kill("processes")
        elif sum(max(_own_memory(p, self.pages) - self.born_with, 0) for p in processes) > self.policy.resident_bytes:
            self._kill("memory")
        elif self.mode is not Mode.NAMESPACES and time.monotonic() > self.disk_at:
            self.disk_at = time.monotonic() + _DISK_TICK
            if _beyond(self.folder, self.policy.disk_bytes, self.policy.inodes):
                self._kill("disk")

    def _kill(self, reason: str) -> None:
        self.reason = self.reason or reason
        with contextlib.suppress(OSError):
            os.kill(self.kernel, signal.SIGKILL)


def _say(grader: socket.socket, packet: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        grader.send(json.dumps(packet).encode())


def children_of(process: int) -> list[int]:
    """The processes that one has started or inherited; none where the system does not tell."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            children += map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split())
    return children


def _descendants(process: int) -> Iterator[int]:
    """The processes below one, from the top down."""
    for child in children_of(process):
        yield child
        yield from _descendants(child)


def _own_memory(process: int, page: int) -> int:
    """Bytes of memory that a process holds and no file backs."""
    try:
        fields = Path(f"/proc/{process}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * page


def _beyond(folder: str, most_bytes: int, most_files: int) -> bool:
    """Whether a folder holds more than that."""
    total = count = 0
    for path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            count += 1
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_blocks * 512  # a block of stat is always 512 bytes
            if total > most_bytes or count > most_files:
                return True
    return False


def _end_descendants() -> None:
    """Kill whatever is left below this process, until there is nothing."""
    while True:
        for process in list(_descendants(os.getpid())):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
