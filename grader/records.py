"""The ledgers of a class on disk, one file for each submission that is in the gradebook."""

from __future__ import annotations

import json
from pathlib import Path

from grader.cache import write_whole
from grader.ledger import Ledger

__all__ = ["ledger_file", "read_record", "stored_ledgers", "write_record"]


def ledger_file(grading: Path, lesson: str, student: str) -> Path:
    """Where a ledger lies under the grading folder: not in the autograded one, whose files end up in the feedback."""
    return grading / "ledgers" / lesson / f"{student}.json"


def write_record(path: Path, key: str, ledger: Ledger) -> None:
    """Keep a ledger with the name of the result that it is of."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"key": key, "ledger": ledger.to_json()}, ensure_ascii=False))


def read_record(path: Path) -> tuple[str, Ledger] | None:
    """A stored result's name and ledger, or None where there is none that can be read."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return record["key"], Ledger.from_json(record["ledger"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def stored_ledgers(grading: Path, lesson: str) -> dict[str, Ledger]:
    """Student to ledger, for every graded submission of a lesson under the grading folder."""
    files = sorted(ledger_file(grading, lesson, "").parent.glob("*.json"))
    found = ((path.stem, read_record(path)) for path in files)
    return {student: record[1] for student, record in found if record}
