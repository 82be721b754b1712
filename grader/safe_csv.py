"""Tables for spreadsheets: quoted as they should be, and without cells that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

__all__ = ["csv_text", "safe_cell"]

_FORMULA = re.compile(r"[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]")  # full-width ones too
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def safe_cell(value: object) -> str:
    """A value as the text of one cell. A name that begins as a formula does is kept from being one by an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(round(value, 6))
    text = _CONTROL.sub(" ", str(value)).strip()
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


def csv_text(names: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A table as the text of a CSV file, with a heading."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([safe_cell(value) for value in line] for line in lines)
    return made.getvalue()
