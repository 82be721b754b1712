"""A seccomp filter, written by hand as classic BPF: system calls that no notebook needs are refused."""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from grader.sandbox import linux

__all__ = ["DENIED", "Filter", "install"]

_MACHINES = {"x86_64": 0, "aarch64": 1}  # column of the table below
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_* of linux/audit.h

DENIED: dict[str, tuple[int | None, int | None]] = {
    # other processes' memory and descriptors
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    # mounts and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "unshare": (272, 97), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    # parts of the kernel with a long record of holes
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "memfd_secret": (447, 447),
    # files by handle, past the root
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # memory that outlives the process: it would count against no limit
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    # priorities and processors of others
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setparam": (142, 118),
    "sched_setaffinity": (203, 122), "sched_setattr": (314, 274), "mbind": (237, 235), "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238), "move_pages": (279, 239),
    # the machine itself
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443), "syslog": (103, 116),
    "lookup_dcookie": (212, 18), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "personality": (135, 92), "vhangup": (153, 58), "sethostname": (170, 161),
    "setdomainname": (171, 162), "nfsservctl": (180, 42), "uselib": (134, None), "ustat": (136, None),
    "sysfs": (139, None), "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None),
}  # fmt: skip
"""Name to number on x86_64 and aarch64; None where the machine has no such call. Refused with EPERM."""

_CALLS = {
    "socket": (41, 198), "socketpair": (53, 199), "clone": (56, 220), "clone3": (435, 435), "ioctl": (16, 29),
    "prlimit64": (302, 261), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "sched_setscheduler": (144, 119),
}  # fmt: skip
"""Calls that are refused for some arguments only, or in another way."""

_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
    "truncate": (76, 45),  # which Landlock only covers from its third version on
}  # fmt: skip
"""Calls that change a file which need not be opened first, so that Landlock does not see them. They do nothing and say
that they have: IPython copies files with their modes when it starts, as many programs do."""

_AF_UNIX = 1
_NEW_NAMESPACES = 0x7E020080  # CLONE_NEW* of linux/sched.h, the time namespace included
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: type into the terminal that the grader runs in
_X32 = 0x40000000  # system calls of the x32 convention would pass the table by another number

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ, ... of bpf.h
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000  # SECCOMP_RET_*
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16  # offsets into struct seccomp_data; an argument's low half comes first


@dataclass(frozen=True)
class Filter:
    """What a filter lets through besides the table.

    sockets: whether new sockets (of this machine only) may be made; pairs always may
    signals_to: the one process that may be sent signals; None for any that can be seen
    attributes: whether modes, owners and times of files may be changed; not where files of the grader's own user can
        be named, whatever Landlock says of them
    """

    sockets: bool
    signals_to: int | None = None
    attributes: bool = True

    def program(self, machine: str) -> bytes:
        """The filter as BPF for x86_64 or aarch64. Raises KeyError for any other machine."""
        column = _MACHINES[machine]
        call = {name: numbers[column] for name, numbers in _CALLS.items()}
        lines = [_if_equal(_AUDIT[machine], skip=1), _give(_KILL)]
        program = [_load(_ARCHITECTURE), *lines, _load(_NUMBER)]
        if machine == "x86_64":
            program += [_line(_AT_LEAST, 0, 1, _X32), _refuse(errno.ENOSYS)]
        # clone3 hides its flags behind a pointer, where a filter cannot look; libc falls back to clone
        program += _when(call["clone3"], [_refuse(errno.ENOSYS)])
        # zmq asks for it at each thread and aborts at an error; told that it is done, it goes on
        program += _when(call["sched_setscheduler"], [_refuse(0)])
        new_namespaces = _line(_ANY_BIT, 0, 1, _NEW_NAMESPACES)
        program += _when(call["clone"], [_load(_ARGUMENT), new_namespaces, _refuse(errno.EPERM)])
        program += _when(call["socket"], self._sockets())
        program += _when(call["socketpair"], _only(0, (_AF_UNIX,), errno.EAFNOSUPPORT))
        program += _when(call["ioctl"], _never(1, _TERMINAL_INPUT))
        program += _when(call["prlimit64"], _only(0, (0,), errno.EPERM))
        if self.signals_to is not None:
            for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
                program += _when(call[name], _only(0, (self.signals_to,), errno.EPERM))
            for name in ("tkill", "pidfd_send_signal"):
                program += _when(call[name], [_refuse(errno.EPERM)])
        for numbers in DENIED.values():
            program += _when(numbers[column], [_refuse(errno.EPERM)])
        for numbers in () if self.attributes else _ATTRIBUTES.values():
            program += _when(numbers[column], [_refuse(0)])
        return b"".join([*program, _give(_ALLOW)])

    def _sockets(self) -> list[bytes]:
        return _only(0, (_AF_UNIX,) if self.sockets else (), errno.EAFNOSUPPORT)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def install(rules: Filter) -> None:
    """Put this process and all that come from it under the filter, for good. Raises OSError or KeyError."""
    number = {"x86_64": 317, "aarch64": 277}[linux.MACHINE]
    code = rules.program(linux.MACHINE)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    set_mode_filter = 1
    flags = (ctypes.c_uint(set_mode_filter), ctypes.c_uint(0))
    linux.syscall(number, *flags, ctypes.byref(program), what="installing a seccomp filter")


def _line(code: int, if_true: int, if_false: int, operand: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _load(offset: int) -> bytes:
    return _line(_LOAD, 0, 0, offset)


def _give(result: int) -> bytes:
    return _line(_RETURN, 0, 0, result)


def _refuse(code: int) -> bytes:
    return _give(_ERRNO | code)


def _if_equal(operand: int, *, skip: int) -> bytes:
    """Skip that many lines where the loaded number is this one."""
    return _line(_EQUAL, skip, 0, operand)


def _when(number: int | None, body: list[bytes]) -> list[bytes]:
    """Run `body`, then allow, for one system call; go on with the number still loaded for all others."""
    if number is None:
        return []
    return [_line(_EQUAL, 0, len(body) + 1, number), *body, _give(_ALLOW)]


def _only(argument: int, values: Iterable[int], code: int) -> list[bytes]:
    """Refuse unless the argument is one of these."""
    values = tuple(values)
    jumps = [_if_equal(value, skip=len(values) - i) for i, value in enumerate(values)]
    return [_load(_ARGUMENT + 8 * argument), *jumps, _refuse(code)]


def _never(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Refuse where the argument is one of these."""
    jumps = [_if_equal(value, skip=len(values) - i) for i, value in enumerate(values)]
    return [_load(_ARGUMENT + 8 * argument), *jumps, _give(_ALLOW), _refuse(errno.EPERM)]
