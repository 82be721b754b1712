"""Landlock: this process and its children may touch the named paths in the named ways, and nothing else."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from enum import IntFlag

from grader.sandbox import linux

__all__ = ["SIGNALS_SINCE", "Access", "abi", "restrict"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on all machines


class Access(IntFlag):
    """LANDLOCK_ACCESS_FS_* of linux/landlock.h."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13  # from version 2
    TRUNCATE = 1 << 14  # from version 3
    IOCTL_DEV = 1 << 15  # from version 5

    READ = READ_FILE | READ_DIR
    RUN = READ_FILE | READ_DIR | EXECUTE
    OWN = (1 << 15) - 1 & ~(MAKE_CHAR | MAKE_BLOCK)  # a folder of one's own: all but device nodes
    ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


_SINCE = ((2, Access.REFER), (3, Access.TRUNCATE), (5, Access.IOCTL_DEV))
_NET_SINCE, SIGNALS_SINCE = 4, 6
_NET_TCP = 0b11  # bind and connect
_SCOPE = 0b11  # abstract sockets and signals: only within this sandbox


def abi() -> int:
    """The version of Landlock that this host has; 0 for none."""
    try:
        return linux.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1), what="Landlock")
    except OSError:
        return 0


def restrict(rules: Iterable[tuple[str, Access]]) -> None:
    """Allow only these paths, and what is below them, in these ways; no TCP; no signals outwards.

    A path that does not exist is passed over: what is not named stays forbidden. Raises OSError.
    """
    version = abi()
    if not version:
        raise OSError("this host has no Landlock")
    handled = Access((1 << 13) - 1)
    for since, access in _SINCE:
        if version >= since:
            handled |= access
    fields = [int(handled)]
    if version >= _NET_SINCE:
        fields.append(_NET_TCP)
    if version >= SIGNALS_SINCE:
        fields.append(_SCOPE)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = linux.syscall(
        _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0), what="a Landlock ruleset"
    )
    try:
        for path, access in rules:
            _add(ruleset, path, access & handled)
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        linux.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0), what="Landlock")
    finally:
        os.close(ruleset)


def _add(ruleset: int, path: str, access: Access) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, beneath)
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            access &= Access.ON_FILES
        rule = struct.pack("=Qi", int(access), beneath)
        path_beneath = 1
        linux.syscall(
            _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(path_beneath), rule, ctypes.c_uint32(0),
            what=f"a Landlock rule for {path}",
        )  # fmt: skip
