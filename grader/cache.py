"""Results by content: what was graded once, and has not changed in anything that matters, is not graded again."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import attnlab
import grader
from grader.course import Course
from grader.ledger import Graded, Ledger
from grader.sandbox import Policy

__all__ = ["Cache", "Keys", "write_whole"]


@dataclass(frozen=True)
class Keys:
    """Names results by everything that they depend on but the secret seed, on which no honest score depends."""

    course: Course
    device: str
    policy: Policy

    def key(self, data: bytes, lesson: str) -> str:
        """The name of the result for this submission of this lesson."""
        parts = [hashlib.sha256(data).hexdigest(), self._grader, self._lessons[lesson], self.device, self.policy.digest]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @cached_property
    def _grader(self) -> str:
        """The code that grades, the student library included."""
        roots = [Path(module.__file__ or "").parent for module in (grader, attnlab)]
        return _digest(path for root in roots for path in sorted(root.rglob("*")) if path.suffix in _KEPT)

    @cached_property
    def _lessons(self) -> dict[str, str]:
        """For each lesson its own text, those before it, its hidden checks, and what all hidden checks share."""
        hidden = self.course.solutions / "hidden"
        shared = [*sorted(hidden.glob("*.py")), *sorted((hidden / "faults").rglob("*.py"))]
        names = list(self.course.lessons)
        return {
            name: _digest(
                [
                    *(self.course.lessons[earlier].path for earlier in names[: i + 1]),
                    *(hidden / "checks" / f"{exercise}.py" for exercise in self.course.lessons[name].exercises),
                    *shared,
                ]
            )
            for i, name in enumerate(names)
        }


_KEPT = (".py", ".json", ".safetensors")  # what a result can depend on; not byte code, not notebooks


def _digest(paths: Iterable[Path]) -> str:
    made = hashlib.sha256()
    for path in paths:
        made.update(f"{path.name}\n".encode())
        made.update(hashlib.sha256(path.read_bytes()).digest())
    return made.hexdigest()


@dataclass(frozen=True)
class Cache:
    """Results on disk, one file each. A file is whole or not there: it is written aside and then renamed."""

    folder: Path

    def holds(self, key: str) -> bool:
        """Whether there is a result of this name."""
        return self._path(key).exists()

    def get(self, key: str) -> Graded | None:
        """The result of this name, or None. A file that cannot be read counts as not there."""
        import nbformat  # not above: workers can begin to load meanwhile

        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
            notebook = nbformat.from_dict(record["notebook"])
            nbformat.validate(notebook)
            return Graded(notebook, Ledger.from_json(record["ledger"]))
        except (OSError, ValueError, KeyError, TypeError, nbformat.ValidationError):
            return None

    def put(self, key: str, graded: Graded) -> None:
        """Keep a result under this name."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps({"notebook": graded.notebook, "ledger": graded.ledger.to_json()}))

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.json"


def write_whole(path: Path, text: str) -> None:
    """Write a file such that a reader, and a kill at any moment, finds the old contents or the new, nothing between."""
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise
