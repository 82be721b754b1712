"""Resource limits of one kernel, and the user id that it runs under."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from grader.sandbox import linux
from grader.sandbox.policy import Policy

__all__ = ["apply_limits", "become", "own_id", "tasks_of"]

_LOW_MEMORY_LOCK = 64 << 10  # what Linux gave everyone for decades; notebooks lock nothing


def apply_limits(policy: Policy, *, others: int = 0) -> None:
    """Put this process and its children under the policy's limits.

    others: processes of the same user that are not this kernel's, where they are counted together
    """
    _set(resource.RLIMIT_CORE, 0)  # a crash must not write the process's memory to the disk
    if not policy.gpu:  # CUDA maps the memory of all GPUs and of the host into one range of addresses, terabytes wide
        _set(resource.RLIMIT_AS, _address_space() + policy.address_bytes)
    _set(resource.RLIMIT_CPU, policy.cpu_seconds, policy.cpu_seconds + 2)  # first a signal, then the end
    _set(resource.RLIMIT_FSIZE, policy.file_bytes)
    _set(resource.RLIMIT_NOFILE, policy.open_files)
    _set(resource.RLIMIT_MEMLOCK, _LOW_MEMORY_LOCK)
    _set(resource.RLIMIT_MSGQUEUE, 0)
    _set(resource.RLIMIT_NPROC, policy.processes + others)


def become(user: int, *, reading: bool) -> None:
    """Change from root to a user id that nobody else has.

    reading: keep the right to read files whatever their mode; for a host whose interpreter lies in root's home,
        behind Landlock, which still says what may be read
    """
    if reading:
        linux.prctl(linux.PR_SET_KEEPCAPS, 1)
    linux.drop_bounding_set()
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    linux.capset(1 << linux.CAP_DAC_READ_SEARCH if reading else 0)


def own_id() -> int:
    """A user id that no account and no other kernel has: a high base plus this process's id, which is unique.

    Where root's user namespace has only few ids, as in a container, one of the upper ones that there are.
    """
    most_pids = 4 << 20  # the largest kernel.pid_max
    base = 1_900_000_000  # above what systemd, containers and directories hand out, below 2^31
    first, _, count = max(
        (tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()),
        key=lambda row: row[2],
    )
    if first + count > base + most_pids:
        return base + os.getpid()
    lowest = first + count // 2
    return lowest + os.getpid() % max(count // 2 - 2, 1)  # the last id of 16 bits is nobody's


def tasks_of(user: int) -> int:
    """How many threads run under a user id now."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == user:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:  # it has ended meanwhile
                continue
    return count


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _set(which: int, soft: int, hard: int | None = None) -> None:
    """Lower a limit; one that is lower already stays."""
    _, ceiling = resource.getrlimit(which)
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(which, (soft, hard))
