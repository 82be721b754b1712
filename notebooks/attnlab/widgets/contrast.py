"""`contrast_view`: your result beside the right one on a public example, and where they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch

from attnlab import pictures
from attnlab.pictures import Table
from attnlab.public.examples import EXAMPLES
from attnlab.public.record import right_value
from attnlab.widgets.attempt import attempt, name_of
from attnlab.widgets.fingerprint import fingerprint
from attnlab.widgets.map import AttentionMap
from attnlab.widgets.view import View, buttons, follow, slider

__all__ = ["ContrastView", "contrast_view"]

PARTS = {"attention": ("mixed values", "weights")}  # of what an exercise returns
AXES = ["row", "column"]
NOISE = 0.01  # of the range: smaller differences look like none, so that rounding is not painted


class ContrastView(View):
    """Three maps: yours, the right one, yours minus the right one.

    mine, right: the slices that are shown, (rows, columns); `mine` is None where there is none to show
    """

    heading = "Contrast: yours, the right one, and the difference"

    def __init__(self, function: Callable[..., Any], exercise: str, examples: list[str]) -> None:
        self._function, self._exercise = function, exercise
        self.mine: torch.Tensor | None = None
        self.right = torch.zeros(1, 1)
        self.example = buttons("example", [(name.split("/")[1], name) for name in examples])
        self.part = buttons("value", [(name, n) for n, name in enumerate(PARTS.get(exercise, ("it",)))])
        self.slice = slider("example of the batch", 0)
        self.part.value = len(self.part.options) - 1  # the weights, where there are any
        self.example.layout.display = "" if len(examples) > 1 else "none"
        self.part.layout.display = "" if exercise in PARTS else "none"
        self.maps = [AttentionMap(size=190, scale=False, axes=AXES) for _ in range(3)]
        row = W.HBox(self.maps, layout=W.Layout(flex_flow="row wrap"))
        super().__init__([self.example, self.part, self.slice], [row])
        follow(self._draw, self.example, self.part, self.slice)
        self._draw()

    def to_figure(self) -> go.Figure:
        values = self.right if self.mine is None else self.mine - self.right
        names = [str(n) for n in range(max(values.shape))]
        figure = go.Figure(go.Heatmap(z=_without_nan(values), x=names[: values.shape[1]], y=names[: values.shape[0]]))
        pictures.dress(figure, "Right" if self.mine is None else "Yours minus right", *reversed(AXES))
        figure.update_yaxes(autorange="reversed")
        return figure

    def table(self) -> Table:
        heading = ("row", "yours", "right")
        if self.mine is None:
            return Table(heading, tuple((str(n), "", _numbers(row)) for n, row in enumerate(self.right)))
        rows = zip(self.mine, self.right, strict=True)
        return Table(heading, tuple((str(n), _numbers(a), _numbers(b)) for n, (a, b) in enumerate(rows)))

    def _draw(self) -> None:
        example = EXAMPLES[self.example.value]
        right = _part(right_value(self.example.value), self.part.value)
        tried = attempt(self._function, *example.inputs())
        mine = None if tried.problem else _part(tried.value, self.part.value)
        self.problem = tried.problem
        if mine is not None and mine.shape != right.shape:
            self.problem = f"Yours has the shape {tuple(mine.shape)}; {tuple(right.shape)} is right."
            mine = None
        elif mine is None and not tried.problem:
            self.problem = f"{self._exercise} returned {type(tried.value).__name__}; tensors are wanted."
        rights = right.reshape(-1, *right.shape[-2:])
        self.slice.max = len(rights) - 1
        self.slice.layout.display = "none" if len(rights) == 1 else ""
        self.right = rights[self.slice.value]
        self.mine = None if mine is None else mine.reshape(rights.shape)[self.slice.value]
        self._show(right.shape)
        self.line = fingerprint(mine, right) if mine is not None else "The right result is shown; yours is missing."

    def _show(self, shape: torch.Size) -> None:
        low, high = float(self.right.min()), float(self.right.max())
        low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        gap = None if self.mine is None else self.mine - self.right
        largest = max(NOISE * (high - low), 0.0 if gap is None else float(gap.nan_to_num().abs().max()))
        for view, values, title, bounds in (
            (self.maps[0], self.mine, f"yours, of shape {tuple(shape)}", [low, high]),
            (self.maps[1], self.right, "right", [low, high]),
            (self.maps[2], gap, "yours minus right", [-largest, largest]),
        ):
            view.layout.display = "none" if values is None else ""
            if values is None:
                continue
            rows, columns = (tuple(map(str, range(n))) for n in values.shape)
            texts = [_short(value) for value in values.flatten().tolist()]
            palette = "diverging" if view is self.maps[2] else "cividis"
            view.show(values[None, None], rows, columns, bounds=bounds, texts=texts, palette=palette, title=title)


def contrast_view(function: Callable[..., Any]) -> ContrastView:
    """Your function's result on the public examples of its exercise, beside the right one.

    Raises ValueError for a function that answers no exercise, or one whose results are no tables.
    """
    exercise = name_of(function)
    found = [
        name for name, example in EXAMPLES.items()
        if example.exercise == exercise and _part(right_value(name), 0) is not None
    ]  # fmt: skip
    if not found:
        raise ValueError(f"There is no public example with a table of numbers for {exercise!r}.")
    return ContrastView(function, exercise, found)


def _part(value: Any, part: int) -> Any:
    """One tensor of a result, float64, with at least two axes; None where there is none."""
    if isinstance(value, tuple | list):
        value = value[part] if part < len(value) else None
    if not isinstance(value, torch.Tensor) or value.dim() < 2 or value.dtype.is_complex:
        return None
    return value.detach().to("cpu", torch.float64)


def _short(value: float) -> str:
    if value != value:
        return "NaN"
    return "0" if abs(value) < 5e-4 else f"{value:.2f}" if abs(value) < 100 else f"{value:.0e}"


def _numbers(row: torch.Tensor) -> str:
    return " ".join(_short(value) for value in row.tolist())


def _without_nan(values: torch.Tensor) -> list[list[float | None]]:
    return [[v if v == v else None for v in row] for row in values.tolist()]
