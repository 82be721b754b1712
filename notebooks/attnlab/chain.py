"""`earlier`: hand a function of an earlier lesson on to this one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attnlab.deadline import TooLongError, deadline
from attnlab.examine import Findings, examine, quiet
from attnlab.exercises import EXERCISES, LESSONS
from attnlab.notebook import Definitions, UnreadableError, read_definitions
from attnlab.stand_ins import STAND_INS
from attnlab.verdict import Verdict

__all__ = ["FOLDER", "Taken", "earlier", "take", "tried_once"]

FOLDER = "ATTNLAB_NOTEBOOKS"
"""Environment variable: the one folder in which notebooks are looked for. Set but empty, none are: grading does so."""

_SECONDS = 5.0  # an honest notebook's definitions and checks take well under one


def earlier(lesson: str, name: str) -> Callable[..., Any]:
    """The learner's own function of an earlier lesson where it passes its public checks, the stand-in otherwise.

    Prints one line that says which, and why. Raises LookupError for a lesson or name that cannot be taken.
    """
    _known(lesson, name)
    taken = take(lesson, name)
    if taken.function is None:
        print(f"{name}: the library's stand-in ({taken.why})")
        return STAND_INS[name]
    print(f"{name}: yours, from {lesson}")
    return taken.function


@dataclass(frozen=True)
class Taken:
    """What the learner's notebook holds for one exercise.

    function: the learner's own, where it passes its public checks; else None
    why: why there is none, in words; "" where there is one
    findings: what the checks found; None where there was nothing to check
    stand_ins: exercises whose stand-in it calls, itself or through functions of earlier lessons
    """

    function: Callable[..., Any] | None = None
    why: str = ""
    findings: Findings | None = None
    stand_ins: tuple[str, ...] = ()


def take(lesson: str, name: str) -> Taken:
    """Look at the learner's own function in the saved notebook. Raises nothing but KeyboardInterrupt."""
    try:
        with quiet(), deadline(_SECONDS):
            function, findings = _own(lesson, name)
            return Taken(function, "", findings, tuple(e for e in EXERCISES if e in _stand_ins_under(lesson, name)))
    except _Unusable as unusable:
        return Taken(why=str(unusable), findings=unusable.findings)
    except TooLongError:
        for given_up in _given_up:
            given_up.add((lesson, name))
        return Taken(why=_too_long())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the notebook may hold anything
        return Taken(why=f"yours cannot be used: its cells raise {type(error).__name__}")


_given_up: list[set[tuple[str, str]]] = []  # what ran too long, while somebody wants it tried once only


@contextmanager
def tried_once() -> Iterator[None]:
    """Inside, what ran too long is not tried again for every function that rests on it."""
    _given_up.append(set())
    try:
        yield
    finally:
        _given_up.pop()


def _too_long() -> str:
    return f"yours ran for more than {_SECONDS:g} seconds"


def _known(lesson: str, name: str) -> None:
    if lesson not in LESSONS:
        raise LookupError(f"There is no lesson {lesson!r}; the lessons are {', '.join(LESSONS)}.")
    names = [exercise.name for exercise in LESSONS[lesson] if exercise.name in STAND_INS]
    if name not in names:
        raise LookupError(f"Lesson {lesson} hands on no {name!r}; it hands on {', '.join(names) or 'nothing'}.")


class _Unusable(Exception):  # noqa: N818  (a finding, not an error)
    """The learner's own function is not taken. Says why, for the line that is printed."""

    def __init__(self, why: str, findings: Findings | None = None) -> None:
        super().__init__(why)
        self.findings = findings


@dataclass
class _Opened:
    """A notebook as it was read: its definitions, and what was found about each function and below it."""

    key: str
    definitions: Definitions
    findings: dict[str, Findings] = field(default_factory=dict)
    stand_ins: dict[str, frozenset[str]] = field(default_factory=dict)


_opened: dict[Path, _Opened] = {}
_opening: list[str] = []  # lessons whose functions are being taken, the outermost first


def _own(lesson: str, name: str) -> tuple[Callable[..., Any], Findings]:
    """The learner's function, and what its checks found. Raises _Unusable, or whatever its notebook raises."""
    if lesson in _opening:
        raise _Unusable(f"{lesson} takes it from itself")
    if any((lesson, name) in given_up for given_up in _given_up):
        raise _Unusable(_too_long())
    _opening.append(lesson)
    try:
        opened = _open(lesson)
        if name not in opened.definitions:
            raise _Unusable(f"{lesson} does not define it")
        function: Callable[..., Any] = opened.definitions.value(name)
        if name not in opened.findings:
            opened.findings[name] = examine(name, function)
    finally:
        _opening.remove(lesson)
    findings = opened.findings[name]
    if findings.unwritten:
        raise _Unusable("yours is not written yet", findings)
    if not findings.passed:
        lost = [result.name for result in findings.results if result.verdict not in (Verdict.PASSED, Verdict.SKIPPED)]
        raise _Unusable(f"yours does not pass yet: {', '.join(lost)}", findings)
    return function, findings


def _stand_ins_under(lesson: str, name: str) -> frozenset[str]:
    """Exercises whose stand-in the learner's function rests on. Its notebook must have been opened."""
    opened = _open(lesson)
    if name not in opened.stand_ins:
        found: frozenset[str] = frozenset()
        for value in filter(callable, opened.definitions.under(name)):
            found |= {other for other, stand_in in STAND_INS.items() if value is stand_in}
            for before in list(LESSONS)[: list(LESSONS).index(lesson)]:
                for exercise in LESSONS[before]:
                    if _handed_on(value, before, exercise.name):
                        found |= _stand_ins_under(before, exercise.name)
        opened.stand_ins[name] = found
    return opened.stand_ins[name]


def _handed_on(value: Any, lesson: str, name: str) -> bool:
    """Whether `value` is the learner's function that `earlier` has handed on from a notebook of this lesson."""
    return any(
        opened.definitions.value(name) is value
        for path, opened in _opened.items()
        if path.stem == lesson and name in opened.findings
    )


def _open(lesson: str) -> _Opened:
    """The lesson's notebook, read again only when it or one before it has changed."""
    path = _notebook(lesson)
    try:
        key = _key(path, lesson)
        if path not in _opened or _opened[path].key != key:
            _opened[path] = _Opened(key, read_definitions(lesson, path.read_text(encoding="utf-8")))
    except (UnreadableError, OSError, UnicodeDecodeError) as error:
        why = error if isinstance(error, UnreadableError) else "the file cannot be opened"
        raise _Unusable(f"{path.name} cannot be read: {why}") from error
    return _opened[path]


def _notebook(lesson: str) -> Path:
    for folder in _folders():
        path = folder / lesson / f"{lesson}.ipynb"
        if path.is_file():
            return path
    raise _Unusable(f"no notebook {lesson} beside this one")


def _folders() -> Iterator[Path]:
    """Where the lessons' folders may lie: here, one up (a notebook runs in its own folder), beside this library."""
    named = os.environ.get(FOLDER)
    if named is not None:
        yield from [Path(named).absolute()] if named else []
        return
    try:
        here = Path.cwd()
    except OSError:  # the folder has been deleted under the kernel
        pass
    else:
        yield from (here, here.parent)
    yield Path(__file__).parents[1]


def _key(path: Path, lesson: str) -> str:
    """A digest of all that the lesson's functions can depend on: its notebook and those before it."""
    digest = hashlib.sha256()
    for name in list(LESSONS)[: list(LESSONS).index(lesson) + 1]:
        other = path.parents[1] / name / f"{name}.ipynb"
        content = other.read_bytes() if other.is_file() else b""
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()
