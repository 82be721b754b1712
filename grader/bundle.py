"""The student bundle: which files learners get, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.course import Course, CourseError
from grader.release import release_text

__all__ = ["EXECUTABLE", "bundle"]

_FILES = (".gitignore", "Makefile", "README.md", "pyproject.toml", "requirements.txt")
_BINDER = ("environment.yml", "jupyter_server_config.json", "overrides.json", "postBuild")
_LIBRARY = (".py", ".json", ".js", ".css", ".safetensors", ".typed")  # attnlab's files; `py.typed` has no stem

EXECUTABLE = frozenset({"binder/postBuild"})


def bundle(course: Course) -> Mapping[str, bytes]:
    """Path within the bundle to contents.

    Files are taken by name and kind, so that what else lies in `notebooks/` stays there. The notebooks are made from
    the lessons' text: one that was opened and solved in place is not what is given away.
    Raises CourseError where a file is missing or is a link.
    """
    names = [*_FILES, *(f"binder/{name}" for name in _BINDER)]
    library = course.notebooks / "attnlab"
    names += [
        path.relative_to(course.notebooks).as_posix()
        for path in sorted(library.rglob("*"))
        if path.suffix in _LIBRARY and "__pycache__" not in path.parts and ".ipynb_checkpoints" not in path.parts
    ]
    made = {name: _read(course.notebooks / name) for name in names}
    for name, lesson in course.lessons.items():
        made[f"{name}/{name}.ipynb"] = release_text(lesson).encode()
    return made


def _read(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise CourseError(f"{path} is not a plain file; the student bundle needs it, so put it back")
    return path.read_bytes()
