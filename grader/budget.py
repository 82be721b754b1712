"""What a diagnosis may spend."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Budget", "SpentError"]


@dataclass
class Budget:
    """Evaluations of faulty references, and seconds of this thread's CPU time.

    Evaluations are what decides as a rule; the seconds are there for inputs that are dearer than foreseen.
    """

    evaluations: int = 4000  # a cheap exercise's call takes 0.1 ms to 0.3 ms
    seconds: float = 1.5  # of the 2 s that a failing exercise may cost; the rest is for the last call and for asking
    clock: Callable[[], float] = time.thread_time
    started: float = field(init=False)
    spent: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def spend(self) -> None:
        """Note one evaluation. Raises SpentError where there is none left."""
        if self.spent >= self.evaluations or self.clock() - self.started > self.seconds:
            raise SpentError
        self.spent += 1


class SpentError(Exception):
    """The budget is used up."""
