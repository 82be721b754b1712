"""End what runs too long, where the platform lets us."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["TooLongError", "deadline"]


class TooLongError(KeyboardInterrupt):
    """Raised inside the code that ran too long. Whoever lets the learner's own interrupt pass lets this pass too."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TooLongError inside when it takes longer than `seconds`.

    Does nothing off the main thread, on Windows, and where an alarm is already set (a deadline inside another).
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0)
    ):
        yield
        return

    def ring(_number: int, _frame: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again each second: code may swallow the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
