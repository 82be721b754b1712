"""Read what a student handed in: one notebook's code and text out of whatever bytes and files there are."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.lesson import Lesson

__all__ = ["MAX_BYTES", "SubmittedCell", "Unreadable", "read_file", "read_notebook", "recognise", "take_one"]

MAX_BYTES = 32 << 20
"""A notebook of these lessons with all pictures stays under 2 MB; sixteen times that is not a notebook any more."""

MAX_CELLS = 1000
"""The longest lesson has well under a hundred."""

MAX_SOURCE = 1 << 20
"""Characters of one cell; a person writes a few thousand."""

MAX_PARTS = 500_000
"""Objects and lists in a notebook's JSON, where any takes some hundred bytes of memory; a lesson has a thousand."""

MAX_VALUES = 4_000_000
"""Values in it, of some sixty bytes each; a picture drawn from numbers may have a hundred thousand."""


class Unreadable(Exception):  # noqa: N818  (a reason, not an error of ours)
    """There is no notebook to be graded here. Its text is the reason that the student and teacher read."""


@dataclass(frozen=True)
class SubmittedCell:
    """One cell as it was handed in, without outputs.

    grade_id, cell_id: "" where the notebook has none
    """

    is_code: bool
    source: str
    grade_id: str = ""
    cell_id: str = ""


def read_file(path: Path) -> bytes:
    """The bytes of a file that a student named. Raises Unreadable for what is not a plain file of reasonable size."""
    try:
        # O_NONBLOCK: opening a fifo must not wait for a writer; O_NOFOLLOW: a link may point at anything
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise Unreadable("There is no such file.") from None
    except OSError as error:
        what = "It is a link, not a file" if path.is_symlink() else f"It cannot be opened ({error.strerror})"
        raise Unreadable(f"{what}.") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise Unreadable("It is not a plain file.")
    with os.fdopen(handle, "rb") as file:
        if status.st_size > MAX_BYTES:
            raise Unreadable(f"It is {status.st_size >> 20} MB long; a notebook may have {MAX_BYTES >> 20} MB.")
        return file.read(MAX_BYTES + 1)


def read_notebook(data: bytes) -> tuple[SubmittedCell, ...]:
    """The cells of a notebook in any of the formats that editors leave behind. Raises Unreadable with the reason."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"It is over {MAX_BYTES >> 20} MB long.")
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable("The file is empty.")
    # counted before anything is made of them; those in text count too, which makes no difference at this size
    if data.count(b"{") + data.count(b"[") > MAX_PARTS or data.count(b",") > MAX_VALUES:
        raise Unreadable("It holds too many parts to be a notebook of this course.")
    try:
        tree = json.loads(_text(data))
    except (ValueError, RecursionError):
        raise Unreadable("It is not a notebook: not JSON. Perhaps it was saved half, or is a web page.") from None
    if not isinstance(tree, dict):
        raise Unreadable("It is not a notebook: the JSON holds no cells.")
    cells = tree.get("cells")
    if cells is None and isinstance(sheets := tree.get("worksheets"), list):  # nbformat 3
        cells = [c for sheet in sheets if isinstance(sheet, dict) for c in sheet.get("cells") or []]
    if not isinstance(cells, list):
        raise Unreadable("It is not a notebook: the JSON holds no cells.")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"It has {len(cells)} cells; a submission may have {MAX_CELLS}.")
    return tuple(_cell(cell) for cell in cells if isinstance(cell, dict))


def _text(data: bytes) -> str:
    """Decode by byte-order mark, else UTF-8, else Latin-1, which always succeeds."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _cell(cell: Mapping[str, Any]) -> SubmittedCell:
    is_code = cell.get("cell_type") == "code"
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        source = ""
    if len(source) > MAX_SOURCE:
        raise Unreadable(f"One of its cells has {len(source)} characters; a cell may have {MAX_SOURCE}.")
    # what cannot be sent to a kernel or saved again: null bytes, lone surrogates
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").encode("utf-8", "replace").decode()
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    cell_id = cell.get("id")
    return SubmittedCell(
        is_code, source, grade_id if isinstance(grade_id, str) else "", cell_id if isinstance(cell_id, str) else ""
    )


def recognise(cells: tuple[SubmittedCell, ...], lessons: Mapping[str, Lesson]) -> str | None:
    """The lesson that a notebook belongs to, told by its cells and not by the file's name. None where none fits."""
    scores = {name: _likeness(cells, lesson) for name, lesson in lessons.items()}
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best is not None and scores[best] > 0 else None


def _likeness(cells: tuple[SubmittedCell, ...], lesson: Lesson) -> int:
    """How many of the lesson's exercises the cells answer."""
    return sum(
        any(cell.grade_id in (name, f"test_{name}") or defines(cell, name) for cell in cells)
        for name in lesson.exercises
    )


def defines(cell: SubmittedCell, name: str) -> bool:
    """Whether a code cell gives `name` a meaning at its top level. Looks at the text, since it may not parse."""
    definition = rf"^(async )?(def|class) +{name}\b|^{name} *[:=][^=]"
    return cell.is_code and re.search(definition, cell.source, re.M) is not None


def take_one(folder: Path, lesson: str, likeness: Callable[[bytes], int]) -> bytes:
    """The one notebook that counts in a submission folder, whatever else lies there.

    likeness: says of a file's bytes how much it looks like this lesson; 0 for what cannot be read
    The file with the lesson's own name comes first; else the one that is most like the lesson; else the first by name.
    Raises Unreadable where there is none.
    """
    named = folder / f"{lesson}.ipynb"
    if named.exists() or named.is_symlink():
        return read_file(named)
    found = sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)[:_MAX_FILES]
    if not found:
        raise Unreadable("No notebook was handed in.")
    readable, reason = [], Unreadable("No notebook was handed in.")
    for path in found:
        try:
            readable.append(read_file(path))
        except Unreadable as error:
            reason = error
    if not readable:
        raise reason
    return max(readable, key=likeness)  # the first of equals: sorted by name


_MAX_FILES = 50  # notebooks looked at in one submission folder
