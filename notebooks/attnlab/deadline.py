"""End what runs too long, where the platform lets us."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["TooLongError", "deadline"]


class TooLongError(KeyboardInterrupt):
    """Raised inside the code that ran too long. Whoever lets the learner's own interrupt pass lets this pass too."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TooLongError inside when it takes longer than `seconds`.

    An alarm of someone else's that rings sooner is left alone, a later one is set again afterwards. Does nothing off
    the main thread and on Windows, where there are no alarms.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    theirs, every = signal.getitimer(signal.ITIMER_REAL)
    if 0.0 < theirs <= seconds:
        yield
        return

    def ring(_number: int, _frame: Any) -> None:
        raise TooLongError

    handler = signal.signal(signal.SIGALRM, ring)
    began = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again each second: code may swallow the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if theirs:  # at once where it is overdue; 0 would switch it off
            signal.setitimer(signal.ITIMER_REAL, max(theirs - (time.monotonic() - began), 1e-6), every)
