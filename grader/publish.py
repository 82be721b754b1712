"""Publish: the student bundle as a repository of its own, with proof that it holds nothing hidden."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.bundle import EXECUTABLE, bundle
from grader.course import Course, CourseError
from grader.secrecy import Leak, leaks

__all__ = ["Published", "publish"]


@dataclass(frozen=True)
class Published:
    """What was written, or why nothing was.

    leaks: everything hidden that was found; where there is any, no file was written
    repository: whether the folder is a git repository; False where this machine has no git
    """

    folder: Path
    files: tuple[str, ...]
    leaks: tuple[Leak, ...] = ()
    repository: bool = False


def publish(course: Course, folder: Path) -> Published:
    """Write the student bundle into an empty or new folder, as a git repository with one commit.

    Its history begins there: nothing of the course's own repository is in it. Raises CourseError where the folder
    holds something, or lies in the course, where the bundle would be a part of what stays with the teacher.
    """
    folder = Path(os.path.abspath(folder))  # a link in it is not followed here: it is refused below
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CourseError(f"{folder} is not a folder; name one that is empty or does not exist yet")
    if folder.is_dir() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; name an empty folder, or one that does not exist yet")
    if course.root in (folder.resolve(), *folder.resolve().parents):
        raise CourseError(f"{folder} lies inside the course; name a folder outside {course.root}")
    files = bundle(course)
    if found := leaks(course, files):
        return Published(folder, (), found)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if name in EXECUTABLE else 0o644)
    return Published(folder, tuple(files), repository=_commit(folder, files))


def _commit(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Make the folder a repository with one commit. Raises CourseError where it holds more than the bundle."""
    if shutil.which("git") is None:
        return False
    # nobody's templates and hooks, and the course's name: who published it is not the learners' business
    _git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    _git(folder, "add", "--force", "--", *files)
    author = ("-c", "user.name=Attention course", "-c", "user.email=course@localhost", "-c", "commit.gpgsign=false")
    _git(folder, *author, "-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "The lessons and their library")
    committed = _git(folder, "ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")
    history = _git(folder, "rev-list", "--all").split()
    borrowed = (folder / ".git/objects/info/alternates").exists()
    if borrowed or len(history) != 1 or sorted(filter(None, committed)) != sorted(files):
        raise CourseError(f"{folder}: the new repository holds more than the bundle; do not give it away")
    return True


def _git(folder: Path, *args: str) -> str:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    outside |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *args], cwd=folder, env=outside, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"git {args[0]} failed in {folder}: {done.stderr.strip()}")
    return done.stdout
