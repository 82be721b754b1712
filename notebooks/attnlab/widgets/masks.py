"""`mask_lab`: scores, masked scores and weights side by side, through the learner's own softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch

from attnlab.pictures import Table
from attnlab.widgets import html
from attnlab.widgets.attempt import attempt, together
from attnlab.widgets.attention import AXES, NEAR_ONE, Attention
from attnlab.widgets.heads import figure_of
from attnlab.widgets.map import AttentionMap, sums_of
from attnlab.widgets.view import View, buttons, follow, slider, switch

__all__ = ["MaskLab", "mask_lab"]

SENTENCE = ("<s>", "the", "cat", "sees", "the", "dog")
SCORES = (  # some rows below zero throughout: there a finite penalty leaks first
    (1.2, 0.3, -0.6, 0.8, 0.1, -0.4),
    (0.5, -0.9, 1.4, 0.2, 0.7, 0.9),
    (-1.1, -0.7, -1.9, -0.5, -1.4, 0.6),
    (0.4, 0.1, 1.8, 0.9, -0.3, 1.1),
    (-1.6, -0.8, -1.2, -2.0, -0.9, -0.2),
    (0.2, 0.6, 0.3, 1.7, -0.5, 1.0),
)
PENALTY = -1e9  # the finite number that many programs hide with
POWERS = 10  # the scale of the scores goes up to 10^10, where the penalty is the largest score


class MaskLab(View):
    """Move the mask and its place, and watch the sums of the rows.

    attention: the weights that are shown; None where there are none
    """

    heading = "Mask lab: what is hidden, when, and with which number"

    def __init__(
        self,
        masked_softmax: Callable[..., Any],
        causal_mask: Callable[..., Any] | None,
        padding_mask: Callable[..., Any] | None,
    ) -> None:
        self._softmax, self._causal_mask, self._padding_mask = masked_softmax, causal_mask, padding_mask
        self.attention: Attention | None = None
        self.causal = switch("causal mask", True)
        self.padding = slider("words of padding", len(SENTENCE))
        self.place = buttons("mask", ["before the softmax", "after it"])
        self.diagonal = buttons("diagonal", [("-1", -1), ("0", 0), ("+1", 1)], 0)
        self.number = buttons("hide with", ["minus infinity", "-1e9"])
        self.power = slider("scores times 10 to the", POWERS)
        self.maps = [AttentionMap(size=180, scale=False, axes=list(AXES["decoder"])) for _ in range(3)]
        controls = [self.causal, self.diagonal, self.padding, self.place, self.number, self.power]
        row = W.HBox(self.maps, layout=W.Layout(flex_flow="row wrap"))
        super().__init__(controls, [row])
        follow(self._draw, *controls)
        self._draw()

    def to_figure(self) -> go.Figure:
        return figure_of(self.attention, 0) if self.attention else go.Figure()

    def table(self) -> Table:
        if self.attention is None:
            return Table(("query", "row sum"), ())
        sums = self.attention.weights[0].sum(dim=-1).tolist()
        rows = tuple((f"{n} {word}", f"{sums[n]:.3f}") for n, word in enumerate(self.attention.queries))
        return Table(("query", "row sum"), rows)

    def still(self) -> str:
        a = self.attention
        return html.cells(a.weights[0], a.queries, a.keys, AXES[a.kind], self._hidden) if a else ""

    def _draw(self) -> None:
        problems: list[str] = []
        self._words = tuple(SENTENCE[: len(SENTENCE) - self.padding.value]) + ("<pad>",) * self.padding.value
        scores = torch.tensor(SCORES, dtype=torch.float64) * 10.0**self.power.value
        allowed = self._allowed(problems)
        self._hidden = ~allowed
        after, finite = self.place.value == "after it", self.number.value == "-1e9"
        masked = scores if after else scores.masked_fill(~allowed, PENALTY if finite else -torch.inf)
        if after:
            tried = attempt(self._softmax, scores)
        elif finite:
            tried = attempt(self._softmax, masked)
        else:
            tried = attempt(self._softmax, scores, allowed)
        weights = tried.value
        problems += [tried.problem] if tried.problem else []
        if not tried.problem and not (isinstance(weights, torch.Tensor) and weights.shape == scores.shape):
            shape = tuple(weights.shape) if isinstance(weights, torch.Tensor) else type(weights).__name__
            problems.append(f"masked_softmax returned {shape}; weights of shape {tuple(scores.shape)} are wanted.")
            weights = None
        self.number.disabled = after
        unit = f", in units of 10^{self.power.value}" if self.power.value else ""
        self._show(0, f"scores (6, 6){unit}", scores)
        self._show(
            1, f"{'scores, not masked' if after else 'masked scores'}{unit}", masked, hidden=(masked == -torch.inf)
        )
        self.maps[2].layout.display = "none" if weights is None else ""
        self.attention = None
        if weights is not None:
            self._show_weights(weights.double() * (allowed if after else 1.0), allowed)
        self.problem = together(problems)
        self.line = self._sentence(after, finite)
        self.warnings = list(self.attention.warnings()) if self.attention else []

    def _allowed(self, problems: list[str]) -> torch.Tensor:
        """bool (T, T) by the learner's masks; by ours where they cannot be had."""
        T = len(SENTENCE)
        plain = torch.ones(T, T, dtype=torch.bool)
        allowed = plain.tril(self.diagonal.value) if self.causal.value else plain
        if self.causal.value and self.diagonal.value == 0 and self._causal_mask is not None:
            allowed = self._mask(self._causal_mask, allowed, problems, T)
        ids = torch.tensor([[0 if word == "<pad>" else 1 for word in self._words]])
        words = ids.ne(0)[:, None]
        if self._padding_mask is not None:
            words = self._mask(self._padding_mask, words, problems, ids, 0)
        return allowed & words[0]

    @staticmethod
    def _mask(function: Callable[..., Any], wanted: torch.Tensor, problems: list[str], *args: Any) -> torch.Tensor:
        tried = attempt(function, *args)
        fits = isinstance(tried.value, torch.Tensor) and tried.value.shape == wanted.shape
        if fits and tried.value.dtype == torch.bool:
            return tried.value
        name = getattr(function, "__name__", "the mask")
        problems.append(tried.problem or f"{name} did not return a bool mask of shape {tuple(wanted.shape)}.")
        return wanted

    def _names(self, n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of queries and keys; the queries' words stand beside the first map only, so that three fit in a row."""
        names = tuple(f"{at} {word}" for at, word in enumerate(self._words))
        return (tuple(map(str, range(len(names)))) if n else names), names

    def _show(self, n: int, title: str, scores: torch.Tensor, **more: Any) -> None:
        scores = scores / 10.0**self.power.value
        top = max(abs(score) for row in SCORES for score in row)
        texts = [_short(value) for value in scores.flatten().tolist()]
        hidden = more.pop("hidden", None)
        self.maps[n].show(
            scores[None, None], *self._names(n), hidden=hidden, bounds=[-top, top], texts=texts, title=title, **more
        )  # fmt: skip

    def _show_weights(self, weights: torch.Tensor, allowed: torch.Tensor) -> None:
        a = self.attention = Attention("decoder", weights[None], queries=self._words, keys=self._words, allowed=allowed)
        self.maps[2].show(
            weights[None, None],
            *self._names(2),
            hidden=~allowed & (weights == 0),
            title="weights, and their row sums",
            sums=sums_of(weights),
            marks=a.leaks()[0].flatten().nonzero().flatten().tolist(),
        )

    def _sentence(self, after: bool, finite: bool) -> str:
        if self.attention is None:
            return "Scores and masked scores are shown; weights wait for masked_softmax."
        weights, sums = self.attention.weights[0], self.attention.weights[0].sum(dim=-1)
        right = int(((sums - 1).abs() < NEAR_ONE).sum())
        leaks = int((self.attention.leaks()[0] & ~weights.isnan()).sum())
        empty = int((~self._hidden).any(dim=-1).logical_not().sum())
        parts = [f"{right} of {len(weights)} rows sum to 1"]
        parts.append(
            f"{_counted(leaks, 'hidden key is', 'hidden keys are')} read all the same"
            if leaks
            else "no hidden key is read"
        )
        if empty:
            parts.append(f"{_counted(empty, 'row has', 'rows have')} no key left")
        where = "Masked after the softmax" if after else f"Hidden with {'-1e9' if finite else 'minus infinity'}"
        return f"{where}, scores times 10^{self.power.value}: {', '.join(parts)}."


def mask_lab(
    masked_softmax: Callable[..., Any],
    causal_mask: Callable[..., Any] | None = None,
    padding_mask: Callable[..., Any] | None = None,
) -> MaskLab:
    """Hide keys in every way there is, right and wrong, and see what your softmax makes of it.

    masked_softmax, causal_mask, padding_mask: those of lesson 1; without the masks ours are used
    """
    return MaskLab(masked_softmax, causal_mask, padding_mask)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _short(value: float) -> str:
    if value == -torch.inf:
        return "−∞"
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
