"""The attention map: one widget on a canvas, shared by all views."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import anywidget
import torch
import traitlets as t

from attnlab.widgets.attention import NEAR_ONE

__all__ = ["WINDOW", "AttentionMap", "codes", "sums_of"]

WINDOW = 64
"""Most queries or keys that are drawn at once: with more, a cell is smaller than the eye can tell apart."""

HIDDEN, NOT_A_NUMBER, TOP = 65535, 65534, 65533
"""Codes of a cell: 0 ... TOP is a number between the bounds. Two bytes, half of a float's, are finer than a colour."""

_STATIC = files("attnlab.widgets") / "static"


class AttentionMap(anywidget.AnyWidget):
    """A map (L, h, T, S) of which one layer and head is drawn large. Layer, head and query change without the kernel.

    values: codes of all cells; shape: L, h, T, S; bounds: the numbers that the ends of the scale stand for
    palette: cividis, or diverging for differences; root: square-root scale
    query: the row that is framed, -1 for none
    texts: what the cells say instead of their number; marks: cells with a red frame; both for one head only
    sums: for each row what stands beside it, and whether it is wrong
    """

    _esm = (_STATIC / "map.js").read_text(encoding="utf-8")
    _css = (_STATIC / "map.css").read_text(encoding="utf-8")

    values = t.Bytes().tag(sync=True)
    shape = t.List(t.Int(), [1, 1, 0, 0]).tag(sync=True)
    bounds = t.List(t.Float(), [0.0, 1.0]).tag(sync=True)
    palette = t.Unicode("cividis").tag(sync=True)
    root = t.Int(0).tag(sync=True)  # 0 or 1: the index of a choice can be linked to it
    layer = t.Int(0).tag(sync=True)
    head = t.Int(0).tag(sync=True)
    query = t.Int(-1).tag(sync=True)
    texts = t.List(t.Unicode()).tag(sync=True)
    marks = t.List(t.Int()).tag(sync=True)
    sums = t.List(t.List()).tag(sync=True)
    query_words = t.List(t.Unicode()).tag(sync=True)
    key_words = t.List(t.Unicode()).tag(sync=True)  # `keys` is ipywidgets' own
    axes = t.List(t.Unicode(), ["query (attends)", "key (attended to)"]).tag(sync=True)
    title = t.Unicode().tag(sync=True)
    line = t.Unicode().tag(sync=True)
    size = t.Int(380).tag(sync=True)  # pixels of the longer side: a map and its words fit a notebook's column
    scale = t.Bool(True).tag(sync=True)  # whether a bar of colours stands beside the map
    thumbnails = t.Bool(False).tag(sync=True)

    def show(
        self,
        values: torch.Tensor,
        queries: tuple[str, ...],
        keys: tuple[str, ...],
        *,
        hidden: torch.Tensor | None = None,
        **traits: Any,
    ) -> None:
        """Draw `values` (L, h, T, S) with these words; `hidden` cells are grey. Other traits change with it."""
        bounds = traits.setdefault("bounds", [0.0, 1.0])
        with self.hold_sync():
            self.shape = list(values.shape)
            self.values = codes(values, bounds[0], bounds[1], hidden)
            self.query_words, self.key_words = list(queries), list(keys)
            self.query = min(self.query, len(queries) - 1)
            for name, value in traits.items():
                setattr(self, name, value)


def codes(values: torch.Tensor, low: float, high: float, hidden: torch.Tensor | None = None) -> bytes:
    """Numbers as 16-bit codes; what lies beyond the bounds counts as lying on them."""
    share = ((values.double() - low) / (high - low if high > low else 1.0)).clamp(0.0, 1.0)
    coded = (share.nan_to_num(0.0) * TOP).round().int().masked_fill(values.isnan(), NOT_A_NUMBER)
    if hidden is not None:
        coded = coded.masked_fill(hidden & ~values.isnan(), HIDDEN)
    return bytes(coded.numpy().astype("<u2").tobytes())


def sums_of(weights: torch.Tensor) -> list[list[Any]]:
    """What stands beside each row of (T, S): its sum, and whether that is wrong."""
    shown = []
    for total in weights.sum(dim=-1).tolist():
        wrong = not abs(total - 1.0) <= NEAR_ONE  # also where it is NaN
        shown.append([f"Σ {total:.2f}{' ≠ 1' if wrong else ''}".replace("nan", "NaN"), wrong])
    return shown
