"""What runs too long is ended, and what does not is left alone."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from attnlab.deadline import TooLongError, deadline


def busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_ends_what_runs_too_long() -> None:
    with pytest.raises(TooLongError), deadline(0.05):
        busy(60)


def test_code_that_catches_exceptions_is_ended_too() -> None:
    with pytest.raises(TooLongError), deadline(0.05):
        while True:
            with contextlib.suppress(Exception):
                busy(60)


@pytest.fixture
def alarm() -> Iterator[None]:
    """An alarm of someone else's, an hour away; the one of pytest's own time limit is set again afterwards."""
    handler, timer = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, 3600)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *timer)


def test_an_alarm_that_rings_later_is_set_again(alarm: None) -> None:  # noqa: ARG001
    handler = signal.getsignal(signal.SIGALRM)
    with pytest.raises(ValueError), deadline(60):
        assert signal.getitimer(signal.ITIMER_REAL)[0] <= 60
        raise ValueError
    assert 3500 < signal.getitimer(signal.ITIMER_REAL)[0] <= 3600
    assert signal.getsignal(signal.SIGALRM) is handler


def test_without_an_alarm_none_is_left(alarm: None) -> None:  # noqa: ARG001
    signal.setitimer(signal.ITIMER_REAL, 0)
    with deadline(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_outer_deadline_holds_inside_another() -> None:
    with pytest.raises(TooLongError), deadline(0.05), deadline(60):
        busy(60)


def test_does_nothing_off_the_main_thread() -> None:
    done: list[bool] = []

    def run() -> None:
        with deadline(0.01):
            busy(0.05)
        done.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done == [True]
