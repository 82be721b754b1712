"""The few calls of Linux that Python does not offer, by ctypes, so that nothing needs to be compiled."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from typing import Any

__all__ = [
    "MACHINE", "capset", "collapse", "drop_bounding_set", "mount", "parent_death_signal", "pivot_root_here", "prctl",
    "set_read_only", "syscall", "unmount", "unshare",
]  # fmt: skip

MACHINE = platform.machine() if sys.platform == "linux" else ""
"""x86_64 or aarch64 where the sandbox knows the system calls by number; anything else has no seccomp filter here."""

# from linux/sched.h
CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
# from linux/mount.h
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
# from linux/prctl.h
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 8, 24, 36, 38
# from linux/capability.h
CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_READ_SEARCH = 2

# from asm-generic/mman-common.h
MADV_COLLAPSE = 25

MOUNT_SETATTR = 442  # the same number on both machines
PIVOT_ROOT = 155 if MACHINE == "x86_64" else 41

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(number: int, *arguments: Any, what: str) -> int:
    """Make a system call by number. Raises OSError, named by `what`."""
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), what)


def collapse(start: int, length: int) -> None:
    """madvise(2): put this memory into large pages now."""
    advice = ctypes.c_int(MADV_COLLAPSE)
    _checked(_libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), advice), "collapsing memory")


def unshare(flags: int) -> None:
    """Leave the namespaces of these kinds for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare({flags:#x})")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """mount(2)."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    data = None if options is None else options.encode()
    _checked(_libc.mount(*encoded, ctypes.c_ulong(flags), data), f"mounting {source} on {target}")


def unmount(target: str, flags: int) -> None:
    """umount2(2)."""
    _checked(_libc.umount2(os.fsencode(target), ctypes.c_int(flags)), f"unmounting {target}")


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace")]


def set_read_only(target: str) -> None:
    """Make a mount and all below it read-only, without devices and set-user-id programs. Needs Linux 5.12."""
    attributes = _MountAttributes(ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV, 0, 0, 0)
    syscall(
        MOUNT_SETATTR, ctypes.c_int(AT_FDCWD), os.fsencode(target), ctypes.c_uint(AT_RECURSIVE),
        ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)), what=f"making {target} read-only",
    )  # fmt: skip


def pivot_root_here() -> None:
    """Make the working directory, a mount, the root; the old root ends up on top of it and can be unmounted as "."."""
    syscall(PIVOT_ROOT, b".", b".", what="pivot_root")


def prctl(option: int, *arguments: int) -> int:
    """prctl(2) with up to four numbers."""
    numbers = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *numbers), f"prctl({option})")


def parent_death_signal(signal: int) -> None:
    """Have the kernel send `signal` to this process when its parent dies. A change of user id undoes it."""
    prctl(PR_SET_PDEATHSIG, signal)


def drop_bounding_set() -> None:
    """Give up the right to gain any capability by running a program."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # past the last capability that this system has
            break


def capset(capabilities: int) -> None:
    """Have exactly these capabilities (bits below 32), and none to hand on to programs that are run."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(capabilities, capabilities, 0, 0, 0, 0)
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(data)), "capset")
