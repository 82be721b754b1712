"""`cross_view`: target words ask, source words answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch
import traitlets as t

from attnlab import chapter
from attnlab.pictures import Table
from attnlab.widgets import html
from attnlab.widgets.attempt import attempt
from attnlab.widgets.attention import AXES, Attention, numbered
from attnlab.widgets.heads import figure_of
from attnlab.widgets.map import AttentionMap
from attnlab.widgets.recorder import Recording
from attnlab.widgets.view import View, buttons, follow, slider

__all__ = ["CrossView", "cross_view"]

ROLES = {"target asks source": ("target", "source"), "source asks target": ("source", "target"),
         "target asks itself": ("target", "target")}  # fmt: skip


class CrossView(View):
    """Choose who gives the queries and who the keys and values, how much of the source is padding, and a query.

    query: whose row is read
    attention: the record that is shown; None where there is none
    """

    heading = "Cross-attention: who asks whom"
    query = t.Int(0)

    def __init__(
        self, function: Callable[..., Any], sides: dict[str, tuple[tuple[str, ...], torch.Tensor]],
        block: torch.Tensor, num_heads: int,
    ) -> None:  # fmt: skip
        self._function, self._sides, self._block, self._heads = function, sides, block, num_heads
        self.attention: Attention | None = None
        self.roles = buttons("roles", list(ROLES))
        self.padding = slider("source padding", len(sides["source"][0]) - 1)
        self._query = slider("query", len(sides["target"][0]) - 1)
        self.map = AttentionMap(query=0, size=300, thumbnails=True)
        self._words = W.HTML()
        W.jslink((self._query, "value"), (self.map, "query"))
        t.link((self.map, "query"), (self, "query"))
        super().__init__([self.roles, self.padding, self._query], [self.map, self._words], say_line=False)
        follow(self._draw, self.roles, self.padding)
        self.map.observe(lambda _: self._read(), ["query", "head"])
        self._draw()

    def to_figure(self) -> go.Figure:
        return figure_of(self.attention, self.map.head) if self.attention else go.Figure()

    def table(self) -> Table:
        return self.attention.table(self.map.head) if self.attention else Table(("query", "looks most at"), ())

    def still(self) -> str:
        a = self.attention
        if a is None:
            return ""
        hidden = torch.zeros(a.weights.shape[1:], dtype=torch.bool) if a.allowed is None else ~a.allowed
        return html.cells(a.weights[self.map.head], a.queries, a.keys, AXES[a.kind], hidden) + str(self._words.value)

    def _draw(self) -> None:
        asks, answers = ROLES[self.roles.value]
        (queries, x_q), (keys, x_kv) = self._sides[asks], self._sides[answers]
        self.padding.disabled = answers != "source"
        padding = 0 if self.padding.disabled else self.padding.value
        allowed = torch.ones(1, 1, len(keys), dtype=torch.bool)
        allowed[..., len(keys) - padding :] = False
        keys = (*keys[: len(keys) - padding], *["<pad>"] * padding)
        recording = Recording(self._function, kind="cross")
        with recording:
            tried = attempt(recording.call, x_q[None], x_kv[None], self._block, self._heads, allowed)
        wanted = (len(queries), len(keys))
        seen = recording.attentions[-1] if recording.attentions else None
        self.attention, self.problem = None, tried.problem
        if seen is None:
            self.problem = (
                self.problem or "It returned, but made its weights in a way that cannot be seen from outside."
            )
        elif seen.weights.shape[1:] != wanted:
            self.problem = (
                f"Weights of shape {tuple(seen.weights.shape[1:])} were made; {wanted[0]} {asks} words that read "
                f"{wanted[1]} {answers} words make {wanted}. Where do queries and keys come from?"
            )
        else:
            self.attention = Attention(
                "cross", seen.weights, queries=queries, keys=keys, allowed=allowed[0].expand(wanted)
            )
            axes = [f"query ({asks} position, attends)", f"key ({answers} position, attended to)"]
            grey = ~allowed & (seen.weights == 0)
            self.map.show(seen.weights[None], numbered(queries), numbered(keys), hidden=grey[None], axes=axes)
        self.map.layout.display = self._words.layout.display = "none" if self.attention is None else ""
        self._query.max = len(queries) - 1
        self.warnings = list(self.attention.warnings()) if self.attention else []
        self._read()

    def _read(self) -> None:
        a = self.attention
        if a is None:
            self.line = self.map.line = self._words.value = ""
            return
        h, T, S = a.weights.shape
        asks, answers = ROLES[self.roles.value]
        head, query = min(self.map.head, h - 1), min(self.query, T - 1)
        self.map.title = f"queries from the {asks}, keys and values from the {answers}: weights (h={h}, T={T}, S={S})"
        self.map.marks = a.leaks()[head].flatten().nonzero().flatten().tolist()
        assert a.allowed is not None
        row = [w if ok or w else None for w, ok in zip(a.weights[head, query].tolist(), a.allowed[query], strict=True)]
        self._words.value = html.chips(a.keys, row)
        shape = "not square, so no causal mask could fit" if T != S else "square"
        self.line = self.map.line = f"{a.line(head, query)} The map is {T} by {S}, {shape}."


def cross_view(
    cross_attention: Callable[..., Any],
    dec: torch.Tensor | None = None,
    enc: torch.Tensor | None = None,
    block: torch.Tensor | None = None,
    num_heads: int = 1,
    target: Sequence[str] = (),
    source: Sequence[str] = (),
) -> CrossView:
    """See which source words each target word reads, through your `cross_attention`.

    dec (T, d), enc (S, d), block (12, d, d), and the words of both; the chapter's example where they are left out
    """
    if dec is None or enc is None or block is None:
        dec, enc, block, target, source = _chapters_example()
    sides = {}
    for name, x, words in (("target", dec, target), ("source", enc, source)):
        if x.dim() != 2 or len(x) != len(words):
            raise ValueError(f"{name}: {len(words)} words want a tensor ({len(words)}, d), not {tuple(x.shape)}.")
        sides[name] = (tuple(words), x)
    return CrossView(cross_attention, sides, block, num_heads)


def _chapters_example() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, tuple[str, ...], tuple[str, ...]]:
    """The chapter's words in this course's layout: one head of width d. Columns of zeros leave the scores as they are,
    and a factor makes up for the wider root."""
    e = chapter.cross_attention_example()
    d, d_k = e.dec.shape[1], len(e.w_q)
    block = torch.zeros(12, d, d, dtype=e.dec.dtype)
    block[4, :, :d_k] = e.w_q.T * math.sqrt(d / d_k)
    block[5, :, :d_k] = e.w_k.T
    block[6, :, :d_k] = e.w_v.T
    block[7] = torch.eye(d, dtype=e.dec.dtype)
    return e.dec, e.enc, block, tuple(e.target), tuple(e.source)
