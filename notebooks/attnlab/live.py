"""A loss curve that grows while a model trains, with a progress bar under it; in a terminal, one line."""

from __future__ import annotations

import math
from typing import Any

from attnlab.house import PASSED, box, div
from attnlab.shell import current_shell, has_kernel

__all__ = ["LossCurve"]

EVERY = 10  # steps from one drawing to the next: about a quarter of a second
WIDTH, HEIGHT, EDGE = 480, 170, 46  # pixels of the curve, and of the room for the numbers beside it
HIGHEST, LOWEST = 1, -2  # powers of ten at the ends of the axis: a loss between 10 and 0.01


class LossCurve:
    """Give it the loss of each step as it comes: `add`.

    losses: those so far
    """

    def __init__(self, steps: int) -> None:
        """steps: how many there will be."""
        self.losses: list[float] = []
        self._steps = steps
        self._shown: Any = None  # the handle of the display that is kept up to date

    def add(self, loss: float) -> None:
        """Take the next step's loss, and draw from time to time."""
        self.losses.append(loss)
        if len(self.losses) % EVERY and len(self.losses) != self._steps:
            return
        if not has_kernel(current_shell()):
            print(f"\r{self!r} ", end="\n" if len(self.losses) == self._steps else "", flush=True)
        elif self._shown is None:
            from IPython.display import display  # there is a kernel, so there is IPython

            self._shown = display(self, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._shown.update(self)

    def __repr__(self) -> str:
        step = len(self.losses)
        filled = 24 * step // self._steps if self._steps else 0
        loss = f", loss {self.losses[-1]:.3f}" if self.losses else ""
        return f"[{'=' * filled}{' ' * (24 - filled)}] step {step} of {self._steps}{loss}"

    def _repr_html_(self) -> str:
        """Called by Jupyter at each drawing. Who cannot see the curve reads the line under it."""
        step, share = len(self.losses), 100 * len(self.losses) / max(1, self._steps)
        begun = f" It began at {self.losses[0]:.2f}." if self.losses else ""
        said = f"Step {step} of {self._steps}, loss {self.losses[-1]:.3f}." if self.losses else "Nothing yet."
        done = div(f"width:{share:.1f}%;height:8px;background:{PASSED.colour};", "")
        bar = div(f"max-width:{WIDTH}px;margin-left:{EDGE}px;background:rgba(128,128,128,0.3);", done)
        return box(self._curve() + bar + div(f"margin-left:{EDGE}px;", said + begun))

    def _curve(self) -> str:
        lines = ""
        for power in range(LOWEST, HIGHEST + 1):
            y = _height(10.0**power)
            lines += f'<line x1="{EDGE}" x2="{EDGE + WIDTH}" y1="{y:.0f}" y2="{y:.0f}" stroke="#808080" opacity="0.4"/>'
            lines += f'<text x="{EDGE - 6}" y="{y + 4:.0f}" text-anchor="end" font-size="12">{10.0**power:g}</text>'
        drawn = [n for n in range(len(self.losses)) if n % EVERY == 0 or n == len(self.losses) - 1]
        across = WIDTH / max(1, self._steps - 1)
        points = " ".join(f"{EDGE + n * across:.1f},{_height(self.losses[n]):.1f}" for n in drawn)
        line = f'<polyline points="{points}" fill="none" stroke="{PASSED.colour}" stroke-width="2"/>'
        size = f'width="{EDGE + WIDTH}" height="{HEIGHT}" viewBox="0 0 {EDGE + WIDTH} {HEIGHT}"'
        label = 'role="img" aria-label="Loss of each step so far, on a logarithmic scale"'
        return f'<svg {size} {label} fill="currentColor" style="max-width:100%;">{lines}{line}</svg>'


def _height(loss: float) -> float:
    """Where a loss is drawn, in pixels from the top; what lies beyond the ends is drawn at them."""
    power = math.log10(loss) if loss > 0 else LOWEST if loss == loss else HIGHEST
    share = (min(max(power, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
    return 8 + (HEIGHT - 16) * (1 - share)
