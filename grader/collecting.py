"""Collect a lesson's submissions from downloads: one notebook for each student, and a row for whatever was there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath

from rich.table import Table
from rich.text import Text

from grader.collect import Unreadable, read_notebook, recognise
from grader.course import Course, CourseError
from grader.downloads import Found, found_in
from grader.names import Sender, display_name, sender_of, student_id
from grader.safe_csv import csv_text

__all__ = ["Row", "State", "Student", "Taken", "choose", "rows_csv", "submit", "summary", "table"]

_NO_NOTEBOOK = "It is not a notebook."


class State(StrEnum):
    """What became of a file."""

    TAKEN = "taken"
    UNCHANGED = "unchanged"  # the very same was there already
    KEPT = "kept"  # something else was there already, and stays
    OLDER = "older"  # another of the same student's counts
    IGNORED = "ignored"  # not a notebook
    REFUSED = "refused"


@dataclass(frozen=True)
class Row:
    """One file of a download and what became of it."""

    file: str
    student: str
    state: State
    reason: str = ""


@dataclass(frozen=True)
class Student:
    """A student as a download names them. `number` is a learning platform's lasting one, or ""."""

    id: str
    name: str
    number: str = ""


@dataclass(frozen=True)
class Taken:
    """The notebook that counts for a student."""

    student: Student
    file: str
    data: bytes
    note: str = ""


@dataclass
class _Candidate:
    """What a student sent, the best of it so far."""

    sender: Sender
    best: Found | None = None
    rank: tuple[int, int, tuple[int, ...], int] = (0, 0, (), 0)
    rows: list[Row] = field(default_factory=list)


def choose(
    course: Course, lesson: str, sources: Iterable[Path], known: Mapping[str, str] | None = None
) -> tuple[list[Taken], list[Row]]:
    """What counts in these downloads (zip files, folders, notebooks), and rows for all that does not.

    Of several notebooks of one student those of this lesson come first, then the latest attempt, then the last changed.
    known: ids of students whom the gradebook knows already, by the platform's lasting number
    Raises CourseError where a source is not there.
    """
    course.lesson(lesson)
    senders: dict[tuple[str, str], _Candidate] = {}
    rows: list[Row] = []
    for source in sources:
        if not source.exists():
            raise CourseError(f"{source} is not there; name a zip file, a folder or a notebook")
        for found in _in_source(course, source):
            sender = sender_of(found.path)
            if sender is None or not student_id(sender.name):
                rows.append(Row(found.path, "", State.REFUSED, found.reason or "Its name tells no student."))
                continue
            key = ("", sender.number) if sender.lasting else (sender.name, sender.number)
            _consider(senders.setdefault(key, _Candidate(sender)), sender, found, course, lesson)
    taken = []
    for candidate, student, note in _named(senders, known or {}):
        mine = [Row(row.file, student.id, row.state, row.reason) for row in candidate.rows]
        if candidate.best is None:
            files = ", ".join(PurePosixPath(row.file).name for row in mine if row.reason == _NO_NOTEBOOK)
            if files:
                mine.append(Row("", student.id, State.REFUSED, f"No notebook was handed in, but {files[:200]}."))
        elif candidate.best.data is not None:
            taken.append(Taken(student, candidate.best.path, candidate.best.data, note))
        rows += mine
    return taken, rows


def submit(lesson: str, taken: Iterable[Taken], *, folder: Path, force: bool = False) -> Iterator[Row]:
    """Put what counts where nbgrader looks for it: `folder`/STUDENT/LESSON/LESSON.ipynb.

    force: replace what lies there already and is not the same
    """
    for one in taken:
        place = folder / one.student.id / lesson
        path = place / f"{lesson}.ipynb"
        old = sorted(place.iterdir()) if place.is_dir() else []
        if path.is_file() and path.read_bytes() == one.data:
            yield Row(one.file, one.student.id, State.UNCHANGED, one.note)
            continue
        if old and not force:
            reason = "Something else was collected before and was kept; --force replaces it."
            yield Row(one.file, one.student.id, State.KEPT, reason)
            continue
        for file in old:
            if not file.is_dir() or file.is_symlink():
                file.unlink()
        place.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.data)
        yield Row(one.file, one.student.id, State.TAKEN, one.note)


def summary(rows: list[Row]) -> str:
    """How many files came to what, in words."""
    counts = Counter(row.state for row in rows)
    return ", ".join(f"{counts[state]} {state}" for state in State if counts[state]) or "nothing there"


def table(rows: list[Row]) -> Table:
    """The files that a teacher should know of, and why."""
    made = Table(expand=False)
    for name in ("student", "", "file", "why"):
        made.add_column(name, overflow="fold")
    for row in rows:
        if row.reason and row.state is not State.IGNORED:  # names of files are never markup
            made.add_row(Text(row.student), row.state.value, Text(_printable(row.file)), Text(_printable(row.reason)))
    return made


def _printable(text: str) -> str:
    """Without what a terminal would obey: the words come from archives that strangers made."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def rows_csv(rows: Iterable[Row]) -> str:
    """The rows as a table for spreadsheets."""
    return csv_text(
        ("student", "state", "file", "reason"), [(r.student, r.state.value, r.file, r.reason) for r in rows]
    )


def _in_source(course: Course, source: Path) -> Iterator[Found]:
    """What is in a source, one folder around everything taken off; downloads that lie in a folder likewise."""
    zips = sorted(source.glob("*.zip")) if source.is_dir() and not source.is_symlink() else []
    inner = [path for path in zips if _is_download(course, path)]
    but = {path.name for path in inner}
    depth = int(_is_wrapped(course, [found.path for found in found_in(source, but=but)]))  # all data would be too much
    for found in found_in(source, but=but):
        path = PurePosixPath(*PurePosixPath(found.path).parts[depth:]).as_posix()
        yield Found(path, found.data, found.reason, found.changed)
    for download in inner:
        yield from _in_source(course, download)


def _is_download(course: Course, path: Path) -> bool:
    """Whether a zip file in a folder holds many students' files, and is not one student's own with a lesson in it."""
    sent = sender_of(path.name)
    first = [PurePosixPath(found.path).parts[0] for found in found_in(path)]
    return not (sent and sent.platform) and bool(first) and not any(_is_lesson(course, name) for name in first)


def _is_lesson(course: Course, name: str) -> bool:
    return any(PurePosixPath(name).stem.startswith(lesson) for lesson in course.lessons)


def _is_wrapped(course: Course, paths: list[str]) -> bool:
    """Whether one folder lies around all: not a platform's own, and not a student's, in which a lesson lies."""
    parts = [PurePosixPath(path).parts for path in paths]
    if not parts or any(len(each) < 2 for each in parts) or len({each[0] for each in parts}) > 1:
        return False
    sent = sender_of(parts[0][0])
    inside = {each[1] for each in parts}
    is_students = any(_is_lesson(course, name) for name in inside) or bool(sent and sent.platform)
    return len(inside) > 1 and not is_students


def _consider(candidate: _Candidate, sender: Sender, found: Found, course: Course, lesson: str) -> None:
    if found.data is None:
        state = State.REFUSED if found.reason else State.IGNORED
        candidate.rows.append(Row(found.path, "", state, found.reason or _NO_NOTEBOOK))
        return
    folders = set(PurePosixPath(found.path).parts[1:-1])
    if lesson not in folders and folders.intersection(course.lessons):
        candidate.rows.append(Row(found.path, "", State.IGNORED, "It lies in another lesson's folder."))
        return
    rank = (_likeness(found.data, course, lesson), sender.attempt, found.changed, len(candidate.rows))
    if candidate.best is None or rank > candidate.rank:
        if candidate.best is not None:
            candidate.rows.append(Row(candidate.best.path, "", State.OLDER, "Another of the same student's counts."))
        candidate.best, candidate.rank = found, rank
    else:
        candidate.rows.append(Row(found.path, "", State.OLDER, "Another of the same student's counts."))


def _likeness(data: bytes, course: Course, lesson: str) -> int:
    """2: a notebook of this lesson; 1: one of something else; 0: none that can be read. All are taken, if alone."""
    try:
        return 2 if recognise(read_notebook(data), course.lessons) == lesson else 1
    except Unreadable:
        return 0


def _named(
    senders: Mapping[tuple[str, str], _Candidate], known: Mapping[str, str]
) -> Iterator[tuple[_Candidate, Student, str]]:
    """Give each sender an id that is nobody else's, and always the same where the platform's number lasts."""
    same: dict[str, list[_Candidate]] = defaultdict(list)
    for candidate in senders.values():
        same[student_id(candidate.sender.name).casefold()].append(candidate)
    owners = {id.casefold(): number for number, id in known.items()}
    for base, candidates in same.items():
        for i, candidate in enumerate(candidates, start=1):
            sender = candidate.sender
            lasting = sender.number if sender.lasting else ""
            name, note = student_id(sender.name), ""
            if lasting in known and lasting:
                name = known[lasting]
            elif len(candidates) > 1 or owners.get(base, lasting) != lasting:
                name = f"{name}_{sender.number or i}"
                if not lasting:
                    note = "Another student has this name, and no lasting number tells them apart: look at both."
            late = "Handed in late, says Canvas." if sender.late else ""
            yield (
                candidate,
                Student(name, display_name(sender.name), lasting),
                " ".join(part for part in (note, late) if part),
            )
