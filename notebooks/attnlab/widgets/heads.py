"""`attention_view`: every head of every layer, and what each query reads."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch
import traitlets as t

from attnlab import pictures
from attnlab.pictures import Table
from attnlab.widgets import html
from attnlab.widgets.attention import AXES, NAMES, Attention, Kind, as_weights, numbered, tokens_of
from attnlab.widgets.map import WINDOW, AttentionMap
from attnlab.widgets.recorder import Recording
from attnlab.widgets.view import View, buttons, follow, slider

__all__ = ["AttentionView", "attention_view", "figure_of"]


class AttentionView(View):
    """Choose kind, layer, head and query; one map is large, the heads beside each other are small.

    kind, layer, head, query: what is shown; may be set
    attention: the record that is shown
    """

    heading = "Attention: who looks at whom"
    kind = t.Unicode()
    layer = t.Int(0)
    head = t.Int(0)
    query = t.Int(0)

    def __init__(self, attentions: Sequence[Attention], problem: str = "") -> None:
        self.attentions = tuple(attentions)
        kinds: list[Kind] = [kind for kind in NAMES if any(a.kind == kind for a in attentions)]
        self.map = AttentionMap(thumbnails=True, query=0)
        self._kinds = buttons("attention", kinds)
        self._layers = buttons("block", ["0"])
        self._query = slider("query", 0)
        self._scale = buttons("scale", [("linear", False), ("square root", True)])
        self._first = [slider("first query", 0), slider("first key", 0)]
        W.jslink((self._query, "value"), (self.map, "query"))
        W.jslink((self._scale, "index"), (self.map, "root"))
        W.jslink((self._layers, "index"), (self.map, "layer"))
        controls = [self._kinds, self._layers, self._query, self._scale, *self._first] if kinds else []
        super().__init__(controls, [self.map] if kinds else [], say_line=not kinds)
        if kinds:
            t.link((self.map, "head"), (self, "head"))
            t.link((self.map, "query"), (self, "query"))
            t.link((self._kinds, "value"), (self, "kind"))
            t.link((self.map, "layer"), (self, "layer"))
            follow(self._choose, self._kinds)
            follow(self._draw, *self._first)
            self.observe(lambda _: self._read(), ["layer", "head", "query"])
            self._choose()
        self.problem = problem
        if not kinds and not problem:
            self.problem = "No attention was seen. Is the function that attends called inside the recording?"

    @property
    def attention(self) -> Attention:
        """The record of the chosen kind and layer, as far as the window shows it."""
        return self._layer().window(self._first[0].value, self._first[1].value, WINDOW)

    def to_figure(self) -> go.Figure:
        return figure_of(self.attention, self.head) if self.attentions else go.Figure()

    def table(self) -> Table:
        return self.attention.table(self.head) if self.attentions else Table(("query", "looks most at"), ())

    def still(self) -> str:
        if not self.attentions:
            return ""
        a = self.attention
        hidden = self._grey(a)[self.head]
        title = f"{a.title}, head {self.head}"
        return f"<p>{escape(title)}</p>{html.cells(a.weights[self.head], a.queries, a.keys, AXES[a.kind], hidden)}"

    def _of_kind(self) -> list[Attention]:
        """The layers of the chosen kind in the last pass: those of its shape."""
        found = [a for a in self.attentions if a.kind == self.kind]
        return [a for a in found if a.weights.shape == found[-1].weights.shape]

    def _layer(self) -> Attention:
        layers = self._of_kind()
        return layers[min(self.layer, len(layers) - 1)]

    def _choose(self) -> None:
        """Another kind: other layers, other lengths."""
        layers = self._of_kind()
        _, T, S = layers[0].weights.shape
        self.map.layer = 0
        self._layers.options = [str(n) for n in range(len(layers))]
        for first, length in zip(self._first, (T, S), strict=True):
            first.max, first.value = max(0, length - WINDOW), 0
            first.layout.display = "none" if length <= WINDOW else ""
        self._draw()

    def _draw(self) -> None:
        """Send all layers and heads of the kind; which of them is large is chosen without the kernel."""
        first = tuple(f.value for f in self._first)
        layers = [a.window(first[0], first[1], WINDOW) for a in self._of_kind()]
        weights = torch.stack([a.weights for a in layers])
        h, T = weights.shape[1:3]
        hidden = torch.stack([self._grey(a) for a in layers])
        names = (layers[0].queries, layers[0].keys)
        queries, keys = (numbered(words, at) for words, at in zip(names, first, strict=True))
        self._query.max = T - 1
        self.map.head = min(self.map.head, h - 1)
        self.map.show(weights, queries, keys, hidden=hidden, axes=list(AXES[layers[0].kind]))
        self._read()

    @staticmethod
    def _grey(a: Attention) -> torch.Tensor:
        """bool (h, T, S), True where a cell is drawn as hidden: it may not be read, and is not."""
        if a.allowed is None:
            return torch.zeros_like(a.weights, dtype=torch.bool)
        return ~a.allowed & (a.weights == 0)

    def _window_notice(self, whole: Attention) -> str:
        told = []
        for name, length, first in zip(("queries", "keys"), whole.weights.shape[1:], self._first, strict=True):
            if length > WINDOW:
                told.append(f"There are {length} {name}; the map shows {first.value} to {first.value + WINDOW - 1}.")
        return " ".join([*told, "Move 'first query' or 'first key' for the others."]) if told else ""

    def _read(self) -> None:
        whole, shown = self._layer(), self.attention
        self.map.title = f"{whole.title}, head {self.head}"
        self.map.marks = shown.leaks()[self.head].flatten().nonzero().flatten().tolist()
        row = min(self.query + self._first[0].value, whole.weights.shape[1] - 1)
        self.line = self.map.line = whole.line(self.head, row)
        self.warnings, self.notice = list(whole.warnings()), self._window_notice(whole)


def attention_view(
    seen: Recording | Attention | Sequence[Attention] | Any,
    queries: Sequence[str] | str | None = None,
    keys: Sequence[str] | str | None = None,
    *,
    kind: Kind = "cross",
    allowed: Any = None,
) -> AttentionView:
    """Look at attention weights: kinds, layers, heads, queries.

    seen: what `recorded_attention` recorded, records themselves, or weights (T, S), (h, T, S) or (L, h, T, S) as a
        tensor or nested lists
    queries, keys, kind, allowed: for plain weights: T and S words, which attention it is, bool (T, S) what may be read
    Raises ValueError in words where shapes do not fit.
    """
    if isinstance(seen, Recording):
        return AttentionView(seen.attentions, seen.problem)
    if isinstance(seen, Attention):
        return AttentionView((seen,))
    if isinstance(seen, list | tuple) and seen and all(isinstance(a, Attention) for a in seen):
        return AttentionView(seen)
    weights = as_weights(seen)
    T, S = weights.shape[-2:]
    mask = None if allowed is None else torch.as_tensor(allowed, dtype=torch.bool)
    if mask is not None and mask.shape != (T, S):
        raise ValueError(f"allowed: the shape {(T, S)} is wanted; this one is {tuple(mask.shape)}.")
    words = tokens_of(queries, T), tokens_of(keys, S)
    return AttentionView([Attention(kind, w, n, *words, mask) for n, w in enumerate(weights)])


def figure_of(attention: Attention, head: int) -> go.Figure:
    """One head as a still picture."""
    weights = attention.weights[head]
    shown = ~weights.isnan() if attention.allowed is None else ~weights.isnan() & (attention.allowed | (weights != 0))
    figure = pictures.heatmap(weights, attention.queries, attention.keys, f"{attention.title}, head {head}", shown)
    query, key = AXES[attention.kind]
    figure.update_xaxes(title=key)
    figure.update_yaxes(title=query)
    return figure
