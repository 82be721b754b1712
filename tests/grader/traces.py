"""What an attack may leave behind or reach outside: baits to watch, and the grader's own footprint to compare."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.sandbox.supervisor import children_of

MARK = "attack-was-here"
"""The name that attacks give to files which they must not be able to make."""

SETTLED = 2.0  # seconds after which nothing of a kernel may be there any more; it needs a hundredth


@dataclass(frozen=True)
class Bait:
    """Things that everyone on this machine can reach, and no kernel.

    text: what the secret file holds
    """

    folder: Path
    text: str
    sockets: tuple[socket.socket, ...]
    names: dict[str, Any]

    @property
    def secret(self) -> Path:
        return self.folder / "secret.txt"

    def untouched(self) -> None:
        assert self.secret.read_text() == self.text, "the secret was changed"
        assert sorted(p.name for p in self.folder.iterdir()) == ["secret.txt", "socket"]
        for end in self.sockets:
            with contextlib.suppress(BlockingIOError):
                end.accept()
                raise AssertionError(f"somebody called {end.getsockname()}")
        course = self.names["COURSE"]
        for place in (*("/", "/tmp", "/var/tmp", "/dev/shm", sys.prefix, Path.home()), course, f"{course}/notebooks"):
            assert not Path(place, MARK).exists(), f"a file was made in {place}"


@contextlib.contextmanager
def bait(course: Path) -> Iterator[Bait]:
    """Set the baits out."""
    folder = Path(tempfile.mkdtemp(prefix="bait-", dir="/tmp"))
    folder.chmod(0o777)
    text = f"the-secret-{os.urandom(8).hex()}"
    (folder / "secret.txt").write_text(text)
    (folder / "secret.txt").chmod(0o666)
    port, local, abstract = (socket.socket(f) for f in (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX))
    port.bind(("127.0.0.1", 0))
    local.bind(str(folder / "socket"))
    (folder / "socket").chmod(0o666)
    abstract.bind(f"\0{folder.name}")
    for end in (port, local, abstract):
        end.listen()
        end.setblocking(False)
    names = {
        "SECRET": folder / "secret.txt", "COURSE": course, "PORT": port.getsockname()[1], "SOCKET": folder / "socket",
        "ABSTRACT": folder.name, "GRADER": os.getpid(),
    }  # fmt: skip
    os.environ["BAIT_PASSWORD"] = text
    try:
        yield Bait(folder, text, (port, local, abstract), names)
    finally:
        del os.environ["BAIT_PASSWORD"]
        for end in (port, local, abstract):
            end.close()
        shutil.rmtree(folder)


@dataclass(frozen=True)
class Footprint:
    """The grader's processes, descriptors and temporary files at one moment."""

    processes: frozenset[int]
    descriptors: tuple[str, ...]
    files: frozenset[str]

    @classmethod
    def now(cls, temporary: Path) -> Footprint:
        """temporary: the folder that this grader alone uses for temporary files"""
        files = frozenset(str(p.relative_to(temporary)) for p in temporary.rglob("*"))
        return cls(frozenset(below(os.getpid())), tuple(sorted(_descriptors())), files)

    def added(self, temporary: Path) -> dict[str, object]:
        """What has come since and stays: {} for nothing. A supervisor may take a moment to go."""
        deadline = time.monotonic() + SETTLED
        while True:
            now = self.now(temporary)
            processes, files = now.processes - self.processes, now.files - self.files
            more = Counter(now.descriptors) - Counter(self.descriptors)
            found = {"processes": processes, "files": files, "descriptors": more}
            left = {name: what for name, what in found.items() if what}
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.02)


def below(process: int) -> Iterator[int]:
    """Its children, and theirs."""
    for child in children_of(process):
        yield child
        yield from below(child)


def _descriptors() -> Iterator[str]:
    """What each open descriptor is, without the numbers that differ every time."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            yield os.readlink(f"/proc/self/fd/{name}").split(":")[0]


def memory() -> int:
    """Bytes of memory that this process holds now."""
    return _status("VmRSS")


def watch_memory() -> None:
    """Begin anew to note the most memory that this process holds."""
    Path("/proc/self/clear_refs").write_text("5")


def most_memory() -> int:
    """The most bytes of memory that this process has held since `watch_memory`."""
    return _status("VmHWM")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))
