"""Large pages for what forks share: a fork copies one entry for 2 MB instead of 512, and its end drops as many."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox import linux

__all__ = ["use_large_pages"]

SIZE = 2 << 20
"""Bytes of a large page, where the others have 4 kB. Where it has more, the system refuses our pieces."""


def use_large_pages() -> int:
    """Put what this process has in memory of its own into large pages. Returns how many there are now.

    With 240 MB of loaded modules, a kernel's two forks and ends take 12 ms instead of 36. A system that has no such
    pages (they can be made on demand since Linux 6.1), or none left, refuses, and nothing is lost.
    """
    done = 0
    if sys.platform == "linux":
        for start in _pieces():
            with contextlib.suppress(OSError):
                linux.collapse(start, SIZE)
                done += 1
    return done


def _pieces() -> Iterator[int]:
    """The addresses of whole pieces of SIZE in memory that is private, written to, and backed by no file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        extent, rights, _, _, inode, *_ = line.split()
        if rights == "rw-p" and inode == "0" and "[stack]" not in line:
            start, end = (int(address, 16) for address in extent.split("-"))
            yield from range(-(-start // SIZE) * SIZE, end // SIZE * SIZE, SIZE)
