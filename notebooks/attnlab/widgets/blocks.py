"""`block_trace`: a decoder block step by step, with each sublayer to be left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch
import traitlets as t

from attnlab import pictures
from attnlab.compare import difference
from attnlab.pictures import Table
from attnlab.widgets.attempt import attempt
from attnlab.widgets.map import AttentionMap
from attnlab.widgets.view import View, buttons, follow, slider, switch

__all__ = ["BlockTrace", "Stage", "block_trace"]

TOKENS = ("<s>", "le", "chat", "le")
S, D, HEADS = 5, 8, 2  # source tokens, features, heads: small enough to see every number
SEED = 3  # any would do; the picture is the same each time
NUMBERS = 3.0  # features of normalised tokens lie within three standard deviations
SUBLAYERS = ("self-attention", "cross-attention", "feed-forward")


@dataclass(frozen=True)
class Stage:
    """What has been computed after one step.

    value: (T, d)
    reads: what went in
    """

    name: str
    value: torch.Tensor
    reads: str

    @property
    def sizes(self) -> list[float]:
        """Root mean square of each token."""
        sizes: list[float] = self.value.square().mean(dim=-1).sqrt().tolist()
        return sizes


class BlockTrace(View):
    """Walk through a block; leave sublayers out; norm before or after.

    step: which stage is shown
    stages: all that were reached
    """

    heading = "Block trace: what each sublayer does to the target tokens"
    step = t.Int(0)

    def __init__(self, functions: dict[str, Callable[..., Any]]) -> None:
        self._functions = functions
        random = torch.Generator().manual_seed(SEED)
        self._dec = torch.randn(len(TOKENS), D, generator=random, dtype=torch.float64)
        self._enc = torch.randn(S, D, generator=random, dtype=torch.float64)
        self._block = torch.randn(12, D, D, generator=random, dtype=torch.float64) / math.sqrt(D)
        self.stages: tuple[Stage, ...] = ()
        self._step = slider("step", 3 * len(SUBLAYERS))
        self.place = buttons("norm", ["after the addition", "before the sublayer"])
        self.kept = {name: switch(f"with {name}", True) for name in SUBLAYERS}
        self._diagram = W.HTML()
        names = [f"{n} {word}" for n, word in enumerate(TOKENS)]
        self.map = AttentionMap(
            palette="diverging", size=300, query_words=names, key_words=[str(n) for n in range(D)],
            axes=["token", "feature"],
        )  # fmt: skip
        t.link((self._step, "value"), (self, "step"))
        controls = [self._step, self.place, *self.kept.values()]
        super().__init__(controls, [self._diagram, self.map], say_line=False)
        follow(self._trace, self.place, *self.kept.values())
        follow(self._draw, self._step)
        self._trace()

    def to_figure(self) -> go.Figure:
        sizes = [stage.sizes for stage in self.stages]
        curves = {f"{n} {word}": [s[n] for s in sizes] for n, word in enumerate(TOKENS)}
        return pictures.curves(range(len(sizes)), curves, "Size of each token", "step", "root mean square")

    def table(self) -> Table:
        rows = (
            (f"{n} {stage.name}", str((1, *stage.value.shape)), f"{sum(stage.sizes) / len(TOKENS):.2f}", stage.reads)
            for n, stage in enumerate(self.stages)
        )
        return Table(("step", "shape", "mean size", "reads"), tuple(rows))

    def still(self) -> str:
        return str(self._diagram.value)

    def _trace(self) -> None:
        """Run the block with the learner's functions as far as they go."""
        self.problem = ""
        self.stages = tuple(self._run())
        self._step.max = len(self.stages) - 1
        self.notice = "" if self.problem else self._compared()
        self._draw()

    def _run(self) -> Iterator[Stage]:
        x, pre = self._dec[None], self.place.value == "before the sublayer"
        yield Stage("dec goes in", x[0], "the target")
        for name in SUBLAYERS:
            inner = self._call("layer_norm", x) if pre else x
            if inner is None:
                return
            if pre:
                yield Stage("norm", inner[0], "dec")
            read, reads = self._sublayer(name, inner)
            if read is None:
                return
            yield Stage(name, read[0], reads)
            x = x + read
            yield Stage("add", x[0], "what came in, and the sublayer")
            if not pre:
                normed = self._call("layer_norm", x)
                if normed is None:
                    return
                x = normed
                yield Stage("norm", x[0], "the sum")

    def _sublayer(self, name: str, x: torch.Tensor) -> tuple[torch.Tensor | None, str]:
        if not self.kept[name].value:
            return torch.zeros_like(x), "nothing: it is left out"
        block = self._block
        if name == "self-attention":
            causal = self._call("causal_mask", len(TOKENS), like=(len(TOKENS), len(TOKENS)))
            if causal is None:
                return None, ""
            return self._call("multi_head_attention", x, x, *block[:4], HEADS, causal), "earlier target tokens"
        if name == "cross-attention":
            return self._call("cross_attention", x, self._enc[None], block, HEADS), "enc: here the source enters"
        return self._call("feed_forward", x, block[8], block[9]), "each token alone"

    def _call(self, name: str, *args: Any, like: tuple[int, ...] = (1, len(TOKENS), D)) -> torch.Tensor | None:
        tried = attempt(self._functions[name], *args)
        if tried.problem:
            self.problem = tried.problem
        elif not isinstance(tried.value, torch.Tensor) or tuple(tried.value.shape) != like:
            got = tuple(tried.value.shape) if isinstance(tried.value, torch.Tensor) else type(tried.value).__name__
            self.problem = f"{name} returned {got}; the shape {like} is wanted."
        return None if self.problem else tried.value

    def _compared(self) -> str:
        """Whether the learner's block does the same; "" where something is left out or the norm is elsewhere."""
        if self.place.value != "after the addition" or not all(kept.value for kept in self.kept.values()):
            return ""
        tried = attempt(self._functions["decoder_block"], self._dec[None], self._enc[None], self._block, HEADS)
        if tried.problem:
            return tried.problem
        found = difference(tried.value, self.stages[-1].value[None])
        return (
            f"Your decoder_block ends elsewhere: {found}."
            if found
            else "Your decoder_block ends with the same numbers."
        )

    def _draw(self) -> None:
        at = min(self.step, len(self.stages) - 1)
        stage = self.stages[at]
        self._diagram.value = self._boxes(at)
        self.map.show(
            stage.value[None, None], tuple(self.map.query_words), tuple(self.map.key_words),
            bounds=[-NUMBERS, NUMBERS], title=f"step {at}, {stage.name}: (N=1, T={len(TOKENS)}, d={D})",
            sums=[[f"size {size:.2f}", False] for size in stage.sizes],
        )  # fmt: skip
        sizes = f"from {min(stage.sizes):.2f} to {max(stage.sizes):.2f}"
        self.line = self.map.line = f"Step {at}, {stage.name}: reads {stage.reads}. Sizes of the tokens {sizes}."

    def _boxes(self, at: int) -> str:
        """The block as a row of boxes; the step that is shown is framed."""
        made = []
        for n, stage in enumerate(self.stages):
            source = "enc ↓" if stage.reads.startswith("enc") else "&nbsp;"
            out = stage.reads.startswith("nothing")
            frame = "2px solid var(--jp-brand-color1,#1976d2)" if n == at else "1px solid rgba(128,128,128,0.6)"
            style = f"border:{frame};border-radius:4px;padding:2px 7px;{'opacity:0.5;' if out else ''}"
            weight = "font-weight:600;" if n == at else ""
            name = f"<s>{escape(stage.name)}</s>" if out else escape(stage.name)
            current = " aria-current='step'" if n == at else ""
            made.append(
                f"<div style='text-align:center'><div style='font-size:11px;line-height:1.2'>{source}</div>"
                f"<div style='{style}{weight}'{current}>{name}</div></div>"
            )
        arrow = "<div style='align-self:flex-end;padding:3px 1px'>→</div>"
        return (
            f"<div style='display:flex;flex-wrap:wrap;align-items:flex-end;gap:2px;font-size:12px;line-height:1.5'>"
            f"{arrow.join(made)}</div>"
        )


def block_trace(
    decoder_block: Callable[..., Any],
    multi_head_attention: Callable[..., Any],
    cross_attention: Callable[..., Any],
    feed_forward: Callable[..., Any],
    layer_norm: Callable[..., Any],
    causal_mask: Callable[..., Any],
) -> BlockTrace:
    """Walk through a decoder block made of your sublayers, and compare its end with your decoder_block."""
    functions = (decoder_block, multi_head_attention, cross_attention, feed_forward, layer_norm, causal_mask)
    names = ("decoder_block", "multi_head_attention", "cross_attention", "feed_forward", "layer_norm", "causal_mask")
    return BlockTrace(dict(zip(names, functions, strict=True)))
