"""Who handed a file in, told by the path that a learning platform gives it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

__all__ = ["Sender", "display_name", "sender_of", "student_id"]

LONGEST = 60
"""Characters of a student's id; it becomes a folder's name, which may have 255 bytes, four a letter."""

# Moodle: "Full Name_1234_assignsubmission_file_/any.ipynb", or the same without folders
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<file>.*)", re.S)
# Canvas: "lastfirst_1234_5678_any.ipynb", "lastfirst_LATE_1234_5678_any-1.ipynb"; the second number grows in time
_CANVAS = re.compile(r"(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<number>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.S)
# a second download of the same file: "name (1).ipynb"
_AGAIN = re.compile(r"(?P<name>.+?) ?\((?P<attempt>\d+)\)", re.S)


@dataclass(frozen=True)
class Sender:
    """Who sent a file, as far as its path tells.

    name: as the platform writes it
    number: the platform's own for the student (Canvas) or for this submission (Moodle); "" where it gives none
    attempt: larger is later
    lasting: whether the number is the student's in every lesson
    """

    name: str
    number: str = ""
    attempt: int = 0
    lasting: bool = False
    late: bool = False
    platform: str = ""


def sender_of(path: str) -> Sender | None:
    """Who sent the file at this path of a download, or None where that cannot be told.

    Outside the platforms' own forms the first folder names the student; for a file in no folder its own name does.
    """
    parts = PurePosixPath(unicodedata.normalize("NFC", path)).parts
    for part in parts:
        if found := _MOODLE.fullmatch(part):
            return Sender(found["name"], found["number"], platform="Moodle")
    if not parts:
        return None
    if found := _CANVAS.fullmatch(parts[-1] if len(parts) == 1 else parts[0]):
        return Sender(found["name"], found["number"], int(found["upload"]), True, bool(found["late"]), "Canvas")
    is_file = len(parts) == 1 or parts[0].lower().endswith(".zip")
    name = PurePosixPath(parts[0]).stem if is_file else parts[0]
    if found := _AGAIN.fullmatch(name):
        return Sender(found["name"], attempt=int(found["attempt"]))
    return Sender(name)


def display_name(name: str) -> str:
    """A name as it may be shown anywhere: formgrader puts it into its pages as it is, markup and all."""
    text = unicodedata.normalize("NFC", name)
    kept = (letter for letter in text if unicodedata.category(letter)[0] in "LMN" or letter in " .,'’-()@_")
    return " ".join("".join(kept).split())[:LONGEST]


def student_id(name: str) -> str:
    """A name as a folder's name on every system: letters of any script, digits, and . _ @ - between them.

    "" where nothing is left.
    """
    text = unicodedata.normalize("NFC", name)
    kept = "".join(letter if unicodedata.category(letter)[0] in "LMN" or letter in ".@-" else "_" for letter in text)
    return re.sub("_+", "_", kept)[:LONGEST].strip("._-@")
