"""What a kernel sees of the file system, as data, and the private root that is made of it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import linux
from grader.sandbox.policy import Policy

__all__ = ["DEVICES", "Mount", "View", "around", "build_root", "devices"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")  # the C library, the shell, what a notebook's "!" runs
_PROCESSORS = "/sys/devices/system/cpu"  # torch counts the cores there
_FOR_GPU = ("/sys/devices/system/node", "/sys/bus/pci/devices", "/sys/module/nvidia")  # the driver's library looks here
DEVICES = ("null", "zero", "full", "random", "urandom")  # of /dev; harmless, and programs expect them

_GPU_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia[0-9]*", "nvidia-caps/*")


def devices(policy: Policy) -> tuple[str, ...]:
    """The files of /dev that a kernel may read and write: a GPU's only where the policy has one."""
    if not policy.gpu:
        return DEVICES
    paths = (path for pattern in _GPU_DEVICES for path in Path("/dev").glob(pattern))
    found = sorted(path for path in paths if path.is_char_device() and not path.is_symlink())
    return (*DEVICES, *(str(path.relative_to("/dev")) for path in found))


@dataclass(frozen=True)
class Mount:
    """A folder or file of the host, read-only, and where the kernel sees it."""

    source: str
    target: str


@dataclass(frozen=True)
class View:
    """All that a kernel may read, and what it may not although it lies inside."""

    mounts: tuple[Mount, ...]
    hidden: tuple[str, ...]

    @classmethod
    def of_host(cls, policy: Policy, course_root: Path | None) -> View:
        """The interpreter, its environment, the system's programs, the student library, and what the policy adds.

        Hidden are the course's other parts and the packages `grader` and `solutions`, wherever they are installed.
        """
        wanted = [*_SYSTEM, _PROCESSORS, sys.base_prefix, sys.prefix, _package("attnlab"), *policy.mounts]
        wanted += _FOR_GPU if policy.gpu else ()
        hidden = [_package("grader"), _package("solutions")]
        if course_root is not None:
            hidden += [str(course_root / part) for part in ("solutions", ".grading", "grader", ".git", "tests")]
        return cls(tuple(_mounts(w for w in wanted if w)), tuple(os.path.realpath(h) for h in hidden if h))

    @property
    def readable(self) -> tuple[str, ...]:
        """The host's paths that are readable, each without what is hidden inside it."""
        sources = dict.fromkeys(mount.source for mount in self.mounts)
        return tuple(path for source in sources for path in around(source, self.hidden))

    @property
    def closed_to_others(self) -> bool:
        """Whether another user could not reach some of it where it lies, as in root's home."""
        parents = {parent for mount in self.mounts for parent in (*Path(mount.source).parents, Path(mount.source))}
        return any(not parent.stat().st_mode & 0o001 for parent in parents if parent.is_dir())


def _package(name: str) -> str:
    """The folder of an installed package, or ""."""
    spec = importlib.util.find_spec(name)
    return next(iter(spec.submodule_search_locations or ()), "") if spec else ""


def _mounts(wanted: Iterable[str]) -> Iterator[Mount]:
    """A mount for each path as it is named and as it really is, without those that lie inside another."""
    pairs: dict[str, str] = {}
    for path in wanted:
        real = os.path.realpath(path)
        if os.path.exists(real):
            pairs[os.path.abspath(path)] = real
            pairs[real] = real
    for target in sorted(pairs):
        inside = any(
            target != other and Path(target).is_relative_to(other)
            and pairs[target] == os.path.join(real, os.path.relpath(target, other))
            for other, real in pairs.items()
        )  # fmt: skip
        if not inside:
            yield Mount(pairs[target], target)


def around(path: str, hidden: Iterable[str]) -> tuple[str, ...]:
    """`path`, or where something hidden lies inside it, all its parts that are not hidden."""
    inside = [h for h in hidden if Path(h).is_relative_to(path)]
    if not inside:
        return (path,)
    if path in inside:
        return ()
    return tuple(part for entry in sorted(os.listdir(path)) for part in around(os.path.join(path, entry), inside))


def build_root(view: View, root: str, policy: Policy, *, user: int, folders: Iterable[str]) -> None:
    """Make a root of the view in this mount namespace and move into it; of the host's root nothing stays reachable.

    root: an empty folder, used as a mount point in this namespace only
    folders: made empty and open to the kernel's user
    Needs a mount and a process namespace of its own, and the right to mount in them. Raises OSError.
    """
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)  # nothing that follows reaches the host
    size = f"size={policy.disk_bytes},nr_inodes={policy.inodes},mode=755"
    linux.mount("sandbox", root, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, size)
    for mount in sorted(view.mounts, key=lambda m: m.target):
        _bind(mount.source, root + mount.target)
        linux.set_read_only(root + mount.target)
    for path in _seen(view):
        linux.mount("hidden", root + path, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=4k,nr_inodes=2,mode=755")
    _devices(root, policy)
    _small_files(root, user)
    for folder in folders:
        os.makedirs(root + folder, exist_ok=True)
        os.chmod(root + folder, 0o1777)
    _processes(root)
    os.chdir(root)
    linux.pivot_root_here()
    linux.unmount(".", linux.MNT_DETACH)
    os.chdir("/")


def _seen(view: View) -> Iterator[str]:
    """Where the kernel would see what is hidden."""
    for mount in view.mounts:
        for path in view.hidden:
            if Path(path).is_relative_to(mount.source) and os.path.isdir(path):
                yield os.path.normpath(os.path.join(mount.target, os.path.relpath(path, mount.source)))


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.lexists(target):
            Path(target).touch()
    linux.mount(source, target, None, linux.MS_BIND | linux.MS_REC)


def _devices(root: str, policy: Policy) -> None:
    os.makedirs(f"{root}/dev/shm")
    os.chmod(f"{root}/dev/shm", 0o1777)
    for name in devices(policy):
        _bind(f"/dev/{name}", f"{root}/dev/{name}")
    for name, number in (("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2"), ("fd", "")):
        os.symlink(f"/proc/self/fd{number}", f"{root}/dev/{name}")
    os.makedirs(f"{root}/dev/pts")
    try:  # IPython runs a shell line on a terminal where there is one, through a pipe where not
        options = "newinstance,ptmxmode=0666,mode=620"
        linux.mount("devpts", f"{root}/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, options)
    except OSError:
        return
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")


def _small_files(root: str, user: int) -> None:
    """The few files of /etc that programs expect, without the host's accounts and names."""
    os.makedirs(f"{root}/etc", exist_ok=True)
    files = {
        "passwd": f"learner:x:{user}:{user}::/tmp:/bin/sh\n",
        "group": f"learner:x:{user}:\n",
        "hosts": "127.0.0.1 localhost\n",
        "hostname": "sandbox\n",
    }
    for name, text in files.items():
        Path(f"{root}/etc/{name}").write_text(text)
    for name in ("ld.so.cache", "localtime"):
        if os.path.exists(f"/etc/{name}"):
            shutil.copyfile(f"/etc/{name}", f"{root}/etc/{name}")


def _processes(root: str) -> None:
    os.makedirs(f"{root}/proc", exist_ok=True)
    try:
        linux.mount("proc", f"{root}/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    except OSError:  # inside some containers; Python does without, and shows fewer details
        return
