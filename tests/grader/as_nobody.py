"""Become an ordinary user and then another program: `python as_nobody.py PROGRAM ARGUMENT...`, as root.

The interpreter may lie in root's home, so it is made reachable first, in a mount namespace of this process's own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from grader.sandbox import limits, linux
from grader.sandbox.mounts import View
from grader.sandbox.policy import Policy

NOBODY = 65534


def open_up() -> None:
    """Put an open folder in place of every closed one above the interpreter, with only that in it."""
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    sources = [Path(mount.source) for mount in View.of_host(Policy(), None).mounts]
    for parent in {p for source in sources for p in source.parents if not p.stat().st_mode & 1}:
        handles = [(str(s), os.open(s, os.O_PATH)) for s in sources if s.is_relative_to(parent)]
        linux.mount("open", str(parent), "tmpfs", 0, "mode=755")
        for path, handle in handles:
            os.makedirs(path)
            linux.mount(f"/proc/self/fd/{handle}", path, None, linux.MS_BIND | linux.MS_REC)


if __name__ == "__main__":
    open_up()
    limits.become(NOBODY, reading=False)
    os.environ.update(HOME="/tmp", TMPDIR="/tmp")
    os.execv(sys.argv[1], sys.argv[1:])
