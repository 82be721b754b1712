"""Read what a learning platform hands out: zip files and folders that strangers have filled.

Nothing is unpacked onto the disk. Only notebooks are read, each up to a size, whatever an archive says of itself.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from grader.collect import MAX_BYTES, Unreadable, read_file

__all__ = ["Found", "found_in"]

MAX_ENTRIES = 20_000
"""Entries of one archive; a course of a thousand with ten files each has half of that."""

MAX_INNER = 64 << 20
"""Bytes of an archive inside an archive: what one student zipped instead of handing in the notebook."""

MAX_TOTAL = 2 << 30
"""Bytes of all notebooks of one archive; a thousand with pictures have 1 GB."""

MAX_NAME = 1000
"""Characters of a path in an archive; no system makes longer ones for a class."""

_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)
_LEFT_BY_SYSTEMS = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "__pycache__")


@dataclass(frozen=True)
class Found:
    """One file of a download.

    path: where it was, from the top of the download, with / between parts
    data: the bytes of a notebook; None for anything else
    reason: why it was refused; "" where it was not
    changed: when the archive says that it was changed, as something to be compared
    """

    path: str
    data: bytes | None = None
    reason: str = ""
    changed: tuple[int, ...] = ()


def found_in(source: Path, *, but: Container[str] = ()) -> Iterator[Found]:
    """Everything in a zip file or a folder, in order. What cannot be had comes out with a reason; nothing is raised.

    A zip file in a folder is taken for one that a student handed in. but: names right in the folder that are left out
    """
    if source.is_symlink():
        yield Found(source.name, reason="It is a link, not a file.")
    elif source.is_dir():
        yield from _in_folder(source, but)
    elif source.suffix.lower() == ".zip":
        yield from _archive(source, source.name, "", inner=False)
    else:
        yield _file(source, source.name)


def _in_folder(folder: Path, but: Container[str]) -> Iterator[Found]:
    for at, folders, files in os.walk(folder):  # which follows no links
        folders[:] = sorted(name for name in folders if name not in _LEFT_BY_SYSTEMS)
        for name in [name for name in folders if Path(at, name).is_symlink()]:
            yield Found(Path(at, name).relative_to(folder).as_posix(), reason="It is a link, not a folder.")
        for name in sorted(files):
            path = Path(at, name)
            if _is_noise(PurePosixPath(name)) or (path.parent == folder and name in but):
                continue
            shown = path.relative_to(folder).as_posix()
            if path.suffix.lower() == ".zip":
                yield from _archive(path, shown, f"{shown}/", inner=True)
            else:
                yield _file(path, shown)


def _archive(path: Path, shown: str, above: str, *, inner: bool) -> Iterator[Found]:
    """The files of an archive that lies on the disk; `above` stands before their paths."""
    if path.is_symlink() or not path.is_file():  # opening a fifo would wait for a writer
        yield Found(shown, reason="It is not a plain file.")
        return
    try:
        with path.open("rb") as file:
            yield from _in_archive(file, above, inner=inner)
    except OSError as error:
        yield Found(shown, reason=f"It cannot be read ({error.strerror}).")


def _file(path: Path, shown: str) -> Found:
    if path.suffix.lower() != ".ipynb":
        return Found(shown, reason="It is a link, not a file." if path.is_symlink() else "")
    try:
        return Found(shown, read_file(path), changed=(int(path.stat().st_mtime),))
    except (Unreadable, OSError) as reason:
        return Found(shown, reason=str(reason))


def _in_archive(file: IO[bytes], above: str, *, inner: bool) -> Iterator[Found]:
    """The files of an archive. `inner`: it is a student's own, and archives in it are not opened."""
    here = above.rstrip("/") or "the archive"
    try:
        archive = zipfile.ZipFile(file)
        entries = archive.infolist()
    except _BROKEN:
        yield Found(here, reason="It is not a zip file, or a broken one.")
        return
    if len(entries) > MAX_ENTRIES:
        yield Found(here, reason=f"It has {len(entries)} entries; a download may have {MAX_ENTRIES}.")
        return
    left = MAX_TOTAL
    for entry in entries:
        name = _name(entry)
        if entry.is_dir() or _is_noise(PurePosixPath(name)):
            continue
        shown = above + name[:MAX_NAME]
        if reason := _refused(entry, name):
            yield Found(shown, reason=reason)
        elif name.lower().endswith(".zip"):
            if inner:
                yield Found(shown, reason="It is an archive in an archive in an archive; hand in the notebook.")
                continue
            data = _read(archive, entry, MAX_INNER)
            if isinstance(data, str):
                yield Found(shown, reason=data)
            else:
                yield from _in_archive(io.BytesIO(data), f"{shown}/", inner=True)
        elif name.lower().endswith(".ipynb"):
            data = _read(archive, entry, min(MAX_BYTES, left))
            left -= 0 if isinstance(data, str) else len(data)
            yield Found(shown, reason=data) if isinstance(data, str) else Found(shown, data, changed=entry.date_time)
        else:
            yield Found(shown)


def _name(entry: zipfile.ZipInfo) -> str:
    """An entry's path. Some programs write UTF-8 without saying so."""
    name = entry.orig_filename
    if not entry.flag_bits & 0x800:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _refused(entry: zipfile.ZipInfo, name: str) -> str:
    """Why an entry is not even looked at; "" where it may be."""
    parts = PurePosixPath(name).parts
    if ".." in parts or name.startswith("/") or "\0" in name or (parts and parts[0].endswith(":")):
        return "Its path leads out of the archive."
    if len(name) > MAX_NAME:
        return "Its path is too long."
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "It is a link, not a file."
    if entry.flag_bits & 0x1:
        return "It is locked with a password."
    return ""


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes | str:
    """An entry's bytes, or why it has none. It is read only as far as it may go, whatever size it claims."""
    try:
        with archive.open(entry) as file:
            data = file.read(most + 1)
    except _BROKEN:
        return "It is broken."
    return data if len(data) <= most else f"It is over {most >> 20} MB long when unpacked."


def _is_noise(path: PurePosixPath) -> bool:
    return any(part in _LEFT_BY_SYSTEMS or part.startswith("._") for part in path.parts)
