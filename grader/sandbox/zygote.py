"""The fork server. Run as `python -m grader.sandbox.zygote DESCRIPTOR FOLDER [once]`.

The descriptor is one end of a pair of packet sockets. First it says {"threads": 1, "missing": [...]}; then each packet
is an order for a kernel, with the descriptors that belong to it. When the other end closes, it goes, and all with it;
the grader's FOLDER too, in case the grader was killed.

With "once" it imports nothing, takes one order and becomes that kernel's supervisor: for hosts where a process that has
loaded torch cannot be forked.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

from grader.loading import loading
from grader.sandbox import linux
from grader.sandbox.body import CHANNELS, Order
from grader.sandbox.pages import use_large_pages
from grader.sandbox.preload import preload
from grader.sandbox.supervisor import children_of, supervise

__all__ = ["main"]

_PACKET = 1 << 17  # bytes of an order: the limits and some dozens of paths
_TICK = 1.0  # seconds between two looks whether the grader still is our parent
_PATIENCE = 5.0  # seconds for the supervisors to clear up; they need a tenth
_NAP = 0.005  # seconds between two looks whether they have
_DESCRIPTORS = 2 + len(CHANNELS)  # of an order: the grader's line to the supervisor, the judge's channel, the sockets


def main(arguments: list[str]) -> int:
    """Serve until the grader goes. Exit code 3 where this process must not be forked."""
    control = socket.socket(fileno=int(arguments[0]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "once" in arguments:
        packet, descriptors, _, _ = socket.recv_fds(control, _PACKET, _DESCRIPTORS)
        supervise(socket.socket(fileno=descriptors[0]), Order.from_json(packet.decode()), descriptors[1:], os.getppid())
        return 0
    with loading():
        missing = preload()
    threads = thread_count()
    with contextlib.suppress(ConnectionError):  # the grader had nothing to run after all
        control.send(json.dumps({"threads": threads, "missing": missing}).encode())
    if threads != 1:
        # a pool of threads does not survive a fork: the child's first parallel operation would wait for it for ever
        return 3
    use_large_pages()
    _serve(control, os.getppid())
    shutil.rmtree(arguments[1], ignore_errors=True)
    return 0


def thread_count() -> int:
    """Threads of this process; 1 where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def _serve(control: socket.socket, grader: int) -> None:
    if sys.platform == "linux":
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)  # should a supervisor be killed, its orphans come to us
    supervisors: set[int] = set()
    with _woken_by_children() as woken:
        while os.getppid() == grader:
            lines: list[Any] = [control, woken]
            readable, _, _ = select.select(lines, [], [], _TICK)
            _reap(supervisors, woken)
            if control not in readable:
                continue
            try:
                packet, descriptors, _, _ = socket.recv_fds(control, _PACKET, _DESCRIPTORS)
            except ConnectionError:  # the grader went without having read our greeting
                break
            if not packet:
                break
            order = Order.from_json(packet.decode())
            pid = os.fork()
            if pid == 0:
                _supervise(control, order, descriptors)
            supervisors.add(pid)
            for descriptor in descriptors:
                os.close(descriptor)
    _wait_for(supervisors)


def _supervise(control: socket.socket, order: Order, descriptors: list[int]) -> None:
    """In the fork: never returns."""
    try:
        control.close()
        supervise(socket.socket(fileno=descriptors[0]), order, descriptors[1:], os.getppid())
    finally:
        os._exit(0)


@contextlib.contextmanager
def _woken_by_children() -> Iterator[int]:
    """A descriptor that becomes readable when a child ends."""
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    yield woken


def _reap(supervisors: set[int], woken: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(woken, 4096):
            pass
    while pid := _ended():
        supervisors.discard(pid)
        _end_orphans(supervisors)


def _ended() -> int:
    """A child that has ended, or 0."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


def _end_orphans(supervisors: set[int]) -> None:
    """Kill what a supervisor could not take down because it was killed itself."""
    for child in children_of(os.getpid()):
        if child not in supervisors:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)


def _wait_for(supervisors: set[int]) -> None:
    """Let the supervisors clear up after the grader has gone; then make them go."""
    deadline = time.monotonic() + _PATIENCE
    while supervisors and time.monotonic() < deadline:
        supervisors.discard(_ended())
        time.sleep(_NAP)
    for pid in supervisors:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    _end_orphans(set())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
