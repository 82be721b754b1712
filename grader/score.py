"""Score notebooks by name, outside any gradebook."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.collect import Unreadable, read_file
from grader.grade import Grader
from grader.ledger import Ledger

__all__ = ["score"]


def score(files: Iterable[Path], grader: Grader) -> Iterator[tuple[str, Ledger]]:
    """Grade each file, in order. A file that cannot be read comes out ungraded, with the reason."""
    for path in files:
        try:
            ledger = grader.grade(read_file(path), seed=secrets.randbits(63)).ledger
        except Unreadable as reason:
            ledger = Ledger(None, (), str(reason))
        yield str(path), ledger
