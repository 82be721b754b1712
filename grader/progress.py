"""What a teacher sees while a class is graded, and the table at the end."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader.autograde import Row

__all__ = ["Bar", "shown", "summary"]

_LINES = 10  # in a log, about this many lines for a whole class


class Bar:
    """Counts stored submissions: a live bar in a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, progress: Progress | None) -> None:
        self._console = console
        self._progress = progress
        self._task: TaskID | None = None
        self._began = time.monotonic()
        self._total = self._done = self._ungraded = 0

    def begun(self, total: int) -> None:
        self._total = total
        if self._progress is not None:
            self._task = self._progress.add_task("", total=total, failed=0, rate="")
        else:
            self._console.print(f"{total} submissions", highlight=False)

    def stored(self, row: Row) -> None:
        self._done += 1
        self._ungraded += bool(row.ledger.reason)
        rate = f"{60 * self._done / max(time.monotonic() - self._began, 1e-9):.0f} a minute"
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, advance=1, failed=self._ungraded, rate=rate)
        elif self._done == self._total or self._done % max(1, self._total // _LINES) == 0:
            line = f"{self._done} of {self._total} graded, {self._ungraded} not to be graded, {rate}"
            self._console.print(line, highlight=False)


@contextmanager
def shown(console: Console) -> Iterator[Bar]:
    """A bar for the time of the block."""
    if not console.is_terminal:
        yield Bar(console, None)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} not to be graded, {task.fields[rate]}, left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield Bar(console, progress)


def summary(rows: Sequence[Row]) -> Table:
    """One line a lesson, and one for each submission that a person must look at."""
    table = Table(expand=False)
    for name in ("lesson", "submissions", "mean", "median", "for a person"):
        table.add_column(name, justify="left" if name in ("lesson", "for a person") else "right", overflow="fold")
    for lesson in dict.fromkeys(row.lesson for row in rows):
        mine = [row for row in rows if row.lesson == lesson]
        points = [row.ledger.points for row in mine if not row.ledger.reason] or [0.0]
        looks = [
            f"{row.student}: {row.ledger.reason or 'a check of ours failed'}"
            for row in mine
            if row.ledger.reason or row.ledger.broken
        ]
        table.add_row(
            lesson,
            str(len(mine)),
            f"{statistics.mean(points):.1f}",
            f"{statistics.median(points):g}",
            Text("\n".join(looks) or "–"),
        )
    return table
