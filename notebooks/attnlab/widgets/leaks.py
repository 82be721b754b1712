"""`leak_probe`: change one token of the input and see which outputs move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch
import traitlets as t

from attnlab import pictures
from attnlab.pictures import Table
from attnlab.widgets import html
from attnlab.widgets.attempt import attempt
from attnlab.widgets.attention import numbered, quoted, tokens_of
from attnlab.widgets.view import View, follow, slider

__all__ = ["LeakProbe", "leak_probe"]

STEADY = 1e-6  # of the largest entry: far above rounding, far below what a changed token does


class LeakProbe(View):
    """Choose the token that changes; a bar for each position shows how far its output moves.

    changed: the position that changes
    moved: (T, T), how far output t (across) moves when input s (down) changes; None where the function gave nothing
    """

    heading = "Leak probe: change one token, see which outputs move"
    changed = t.Int(0)

    def __init__(self, function: Callable[..., Any], x: torch.Tensor, words: tuple[str, ...], vocabulary: int) -> None:
        self.words = words
        self.moved: torch.Tensor | None = None
        self._slider = slider("changed token", len(words) - 1)
        self._bars = W.HTML()
        t.link((self._slider, "value"), (self, "changed"))
        super().__init__([self._slider], [self._bars])
        self._measure(function, x, vocabulary)
        follow(self._draw, self._slider)
        self._draw()

    def leaks(self) -> list[tuple[int, int]]:
        """(changed token, output that moves although it comes earlier), all of them."""
        return [] if self.moved is None else [(s, o) for s, o in self._moves().nonzero().tolist() if o < s]

    def to_figure(self) -> go.Figure:
        figure = go.Figure(go.Bar(x=self._names(), y=self._row(), marker_color=html.BAR))
        pictures.dress(figure, f"Token {self.changed} changes", "output position", "largest change of a feature")
        return figure

    def table(self) -> Table:
        if self.moved is None:
            return Table(("changed token", "outputs that move"), ())
        moves = self._moves()
        rows = (
            (f"{s} {word}", ", ".join(map(str, moves[s].nonzero().flatten().tolist())) or "none")
            for s, word in enumerate(self.words)
        )
        return Table(("changed token", "outputs that move"), tuple(rows))

    def still(self) -> str:
        return str(self._bars.value)

    def _measure(self, function: Callable[..., Any], x: torch.Tensor, vocabulary: int) -> None:
        outputs = []
        for s in (None, *range(len(self.words))):
            tried = attempt(function, x if s is None else _bumped(x, s, vocabulary))
            rows = None if tried.problem else _rows(tried.value, len(self.words))
            if rows is None:
                wanted = f"a row for each of the {len(self.words)} tokens is wanted"
                self.problem = tried.problem or f"The function returned {_what(tried.value)}; {wanted}."
                return
            outputs.append(rows)
        self.moved = (torch.stack(outputs[1:]) - outputs[0]).abs().amax(dim=-1)  # (T, T)
        self._tiny = STEADY * float(torch.stack(outputs).nan_to_num().abs().max())
        if outputs[0].isnan().any():
            at = outputs[0].isnan().any(dim=-1).nonzero().flatten().tolist()
            self.warnings = [f"The output is NaN, not a number, at position {', '.join(map(str, at))}."]

    def _moves(self) -> torch.Tensor:
        assert self.moved is not None
        return self.moved > self._tiny

    def _names(self) -> list[str]:
        return list(numbered(self.words))

    def _row(self) -> list[float | None]:
        row: list[float] = [] if self.moved is None else self.moved[self.changed].tolist()
        return [value if value == value else None for value in row]  # NaN cannot be drawn

    def _draw(self) -> None:
        if self.moved is None:
            return
        s, moves = self.changed, self._moves()[self.changed].tolist()
        row = self._row()
        texts = ["NaN" if v is None else f"moves by {v:.2g}" if m else "stays" for v, m in zip(row, moves, strict=True)]
        names = [f"{name}{' (changed)' if n == s else ''}" for n, name in enumerate(self._names())]
        self._bars.value = html.bars(names, row, texts, [m and n < s for n, m in enumerate(moves)])
        early = [n for n, m in enumerate(moves) if m and n < s]
        others = [n for n, m in enumerate(moves) if m and n >= s]
        first = f"Token {s} {quoted(self.words[s])} changes: "
        if early:
            self.line = f"{first}a leak. {_moving(early).capitalize()}, and that is before it."
        else:
            after = _moving(others) if others else "no output moves"
            self.line = f"{first}{after}{', and none before it' if s else ''}."


def leak_probe(
    function: Callable[[torch.Tensor], Any], x: Any, tokens: Sequence[str] | str | None = None, *, vocabulary: int = 0
) -> LeakProbe:
    """Find out what an output really reads, by changing its input.

    function: takes x, gives a row for each position: (T, ...) or (1, T, ...)
    x: features (T, d) or (1, T, d); with `vocabulary`, the number of words, ids (T,) or (1, T)
    tokens: T words, or a sentence of so many
    Raises ValueError in words for another shape.
    """
    tensor = torch.as_tensor(x)
    dims = (1, 2) if vocabulary else (2, 3)
    if tensor.dim() not in dims or (tensor.dim() == dims[1] and len(tensor) != 1) or not tensor.numel():
        wanted = "(T,) or (1, T)" if vocabulary else "(T, d) or (1, T, d)"
        raise ValueError(f"x: the shape {wanted} is wanted; this one is {tuple(tensor.shape)}.")
    length = tensor.shape[-1] if vocabulary else tensor.shape[-2]
    words = tokens_of(tokens, length)
    if len(words) != length:
        raise ValueError(f"x has {length} tokens, and there are {len(words)} words for them.")
    return LeakProbe(function, tensor, words, vocabulary)


def _bumped(x: torch.Tensor, s: int, vocabulary: int) -> torch.Tensor:
    """x with another token at s."""
    changed = x.clone()
    if vocabulary:
        changed[..., s] = (changed[..., s] + 1) % vocabulary
    else:  # not the same for every feature: a normalisation would take that off again
        changed[..., s, :] += 1.0 + torch.arange(x.shape[-1], dtype=x.dtype).cos()
    return changed


def _rows(value: Any, length: int) -> torch.Tensor | None:
    """The output as (T, numbers), float64; None where it has no row for each position."""
    if not isinstance(value, torch.Tensor) or value.dtype.is_complex:
        return None
    if value.dim() > 1 and value.shape[0] == 1 and value.shape[1] == length:
        value = value[0]
    if value.dim() < 1 or value.shape[0] != length:
        return None
    return value.to("cpu", torch.float64).reshape(length, -1)


def _what(value: Any) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__


def _moving(positions: list[int]) -> str:
    """Which outputs move, in words."""
    if len(positions) == 1:
        return f"output {positions[0]} moves"
    return f"outputs {', '.join(map(str, positions[:-1]))} and {positions[-1]} move"
