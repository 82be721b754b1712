"""Put a process that is about to become a kernel behind its walls."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import landlock, limits, linux, mounts, seccomp
from grader.sandbox.landlock import Access
from grader.sandbox.mounts import View
from grader.sandbox.policy import Mode, Policy

__all__ = ["Places", "Walls"]


@dataclass(frozen=True)
class Places:
    """The kernel's own folders: where it works, its home, and for temporary files."""

    work: str
    home: str
    temporary: str

    @classmethod
    def under(cls, base: str) -> Places:
        return cls(f"{base}/submission", f"{base}/home", f"{base}/tmp")

    def __iter__(self) -> Iterator[str]:
        return iter((self.work, self.home, self.temporary))


@dataclass(frozen=True)
class Walls:
    """What confines one kernel.

    mode: how
    view: what it may read
    root: an empty folder of the host that its own root is mounted on, in its namespace only
    folder: a folder of the host that belongs to this kernel; holds its files where it has no root of its own
    """

    mode: Mode
    policy: Policy
    view: View
    root: str
    folder: str

    def before_fork(self) -> int:
        """Called in the supervisor, before it forks the kernel. Returns the kernel's user id. Raises OSError."""
        user = limits.own_id() if os.geteuid() == 0 and self.mode is not Mode.NONE else os.geteuid()
        if self.mode is Mode.NAMESPACES:
            if os.geteuid() != 0:
                _own_user_namespace()
            linux.unshare(linux.CLONE_NEWPID)  # holds for the children: the first one is process 1 there
        return user

    def close(self, user: int) -> Places:
        """Called in the kernel's process: shut it in, for good. Returns where it lives. Raises OSError.

        Before this the process has the grader's rights, after it those of nobody in particular.
        """
        as_root = os.geteuid() == 0
        places = self._own_root(user) if self.mode is Mode.NAMESPACES else self._own_folder(user)
        if self.mode is Mode.NONE:
            if sys.platform == "linux":
                linux.parent_death_signal(signal.SIGKILL)
            return places
        reading = self.mode is Mode.LANDLOCK and as_root and self.view.closed_to_others
        rules = tuple(self._rules(places))
        shared = limits.tasks_of(user) if self.mode is Mode.LANDLOCK and not as_root else 0
        limits.apply_limits(self.policy, others=shared)
        if as_root:
            limits.become(user, reading=reading)
        elif self.mode is Mode.NAMESPACES:
            linux.drop_bounding_set()
            linux.capset(0)
        linux.parent_death_signal(signal.SIGKILL)
        if landlock.abi():
            landlock.restrict(rules)
        elif self.mode is Mode.LANDLOCK:
            raise OSError("this host has no Landlock")
        own_process_only = self.mode is Mode.LANDLOCK and landlock.abi() < landlock.SIGNALS_SINCE
        seccomp.install(
            seccomp.Filter(
                sockets=self.mode is Mode.NAMESPACES,
                signals_to=os.getpid() if own_process_only else None,
                attributes=self.mode is Mode.NAMESPACES or as_root,
            )
        )
        return places

    def _own_root(self, user: int) -> Places:
        linux.unshare(
            linux.CLONE_NEWNS | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS | linux.CLONE_NEWNET | linux.CLONE_NEWCGROUP
        )
        places = Places("/submission", "/tmp/home", "/tmp")
        mounts.build_root(self.view, self.root, self.policy, user=user, folders=places)
        return places

    def _own_folder(self, user: int) -> Places:
        places = Places.under(self.folder)
        for place in places:
            os.mkdir(place, 0o700)
            if user != os.geteuid():
                os.chown(place, user, user)
        return places

    def _rules(self, places: Places) -> Iterator[tuple[str, Access]]:
        """What Landlock lets through. Inside a root of its own this doubles the mounts' own rules."""
        for device in mounts.devices(self.policy):
            # only a GPU is spoken to by ioctl
            ioctl = Access(0) if device in mounts.DEVICES else Access.IOCTL_DEV
            yield f"/dev/{device}", Access.READ_FILE | Access.WRITE_FILE | ioctl
        for place in places:
            yield place, Access.OWN
        if self.mode is Mode.NAMESPACES:
            for mount in self.view.mounts:
                yield mount.target, Access.RUN
            yield "/dev/shm", Access.OWN
            yield "/dev/pts", Access.READ | Access.WRITE_FILE | Access.IOCTL_DEV
            yield "/", Access.READ_DIR  # it is its own
            yield "/etc", Access.READ
            yield "/proc", Access.READ | Access.WRITE_FILE
            return
        for path in self.view.readable:
            yield path, Access.RUN
        for parent in _parents(self.view):
            yield parent, Access.READ_DIR
        for path in ("/etc/ld.so.cache", "/etc/localtime", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"):
            yield path, Access.READ_FILE
        yield f"/proc/{os.getpid()}", Access.READ
        if self.policy.gpu:
            yield "/proc/driver/nvidia", Access.READ
            yield "/proc/devices", Access.READ_FILE


def _parents(view: View) -> Iterator[str]:
    """Folders that hold something hidden: an import lists them, so their names, and only those, may be read."""
    for mount in view.mounts:
        for path in view.hidden:
            for parent in Path(path).parents:
                if parent.is_relative_to(mount.source):
                    yield str(parent)


def _own_user_namespace() -> None:
    """A user namespace in which this user is itself and may mount."""
    user, group = os.geteuid(), os.getegid()
    linux.unshare(linux.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
