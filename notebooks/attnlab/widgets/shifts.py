"""`shift_view`: what goes in, what comes out and what should, for a target that is shifted or not."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch

from attnlab import pictures
from attnlab.corpus import FRENCH
from attnlab.pictures import Table
from attnlab.translator import Translator, load_translator
from attnlab.vocabulary import BOS, EOS, PAD
from attnlab.widgets import html
from attnlab.widgets.attempt import attempt
from attnlab.widgets.view import View, buttons, follow, switch

__all__ = ["ShiftView", "shift_view"]

SHIFTS = [("-1: not shifted", 0), ("0: shifted once", 1), ("+1: shifted twice", 2)]
PADDING = 2  # padded positions: enough to see that they do not count


class ShiftView(View):
    """Choose the shift and the padding; input, best word, label and loss stand one above the other.

    losses: one for each position, None where it does not count or could not be had
    """

    heading = "Shift view: what goes in, what comes out, what should"

    def __init__(
        self, functions: dict[str, Callable[..., Any]], translator: Translator, english: str, french: str
    ) -> None:
        self._functions, self._translator, self._english, self._french = functions, translator, english, french
        self.losses: list[float | None] = []
        self._rows: list[tuple[str, ...]] = []
        self.shift = buttons("shift", SHIFTS, 1)
        self.padding = switch("padding", False)
        self._aligned = W.HTML()
        super().__init__([self.shift, self.padding], [self._aligned])
        follow(self._draw, self.shift, self.padding)
        self._draw()

    def to_figure(self) -> go.Figure:
        figure = go.Figure(go.Bar(x=[row[0] for row in self._rows], y=self.losses, marker_color=html.BAR))
        pictures.dress(figure, "Loss at each position", "position", "loss")
        return figure

    def table(self) -> Table:
        return Table(("position", "goes in", "best word", "label", "loss"), tuple(self._rows))

    def still(self) -> str:
        return str(self._aligned.value)

    def _draw(self) -> None:
        self.problem = ""
        labels = torch.tensor([[*FRENCH.encode(self._french), EOS, *[PAD] * (PADDING * self.padding.value)]])
        inputs: torch.Tensor | None = labels
        for _ in range(self.shift.value):
            inputs = self._call("shift_right", (1, labels.shape[1]), inputs, BOS) if inputs is not None else None
        logits = None if inputs is None else self._logits(inputs)
        mean = self._losses(logits, labels)
        words = self._translator.words
        T = labels.shape[1]
        goes_in = [""] * T if inputs is None else words(inputs[0])
        best = [""] * T if logits is None else words(logits[0].argmax(dim=-1))
        told = ["not counted" if label == PAD else "" for label in labels[0].tolist()]
        shown = [t if loss is None else f"{loss:.2f}" for t, loss in zip(told, self.losses, strict=True)]
        columns = (map(str, range(T)), goes_in, best, words(labels[0]), shown)
        self._rows = list(zip(*columns, strict=True))
        self._aligned.value = self._html()
        self.line = self._sentence(mean, best, words(labels[0]), logits is not None)

    def _logits(self, inputs: torch.Tensor) -> torch.Tensor | None:
        src = self._translator.source(self._english)[None]  # (1, S)
        w, T = self._translator.weights, inputs.shape[1]
        return self._call(
            "encoder_decoder_forward", (1, T, w["w_head"].shape[1]), src, inputs.float(), w["src_emb"], w["tgt_emb"],
            w["enc_pos_embed"][: src.shape[1]], w["dec_pos_embed"][:T], w["enc_blocks"], w["dec_blocks"], w["w_head"],
            self._translator.num_heads,
        )  # fmt: skip

    def _losses(self, logits: torch.Tensor | None, labels: torch.Tensor) -> float | None:
        """Fill `losses` one position at a time; returns the loss of the whole sentence."""
        counted = [t for t, label in enumerate(labels[0].tolist()) if label != PAD]
        self.losses = [None] * labels.shape[1]
        if logits is None:
            return None
        for t in counted:
            loss = self._call("sequence_loss", (), logits[:, t : t + 1], labels[:, t : t + 1], PAD)
            if loss is None:
                return None
            self.losses[t] = float(loss) if loss == loss else None
        mean = self._call("sequence_loss", (), logits, labels, PAD)
        return None if mean is None else float(mean)

    def _call(self, name: str, shape: tuple[int, ...], *args: Any) -> torch.Tensor | None:
        tried = attempt(self._functions[name], *args)
        if tried.problem:
            self.problem = tried.problem
            return None
        if not isinstance(tried.value, torch.Tensor) or tuple(tried.value.shape) != shape:
            got = tuple(tried.value.shape) if isinstance(tried.value, torch.Tensor) else type(tried.value).__name__
            self.problem = f"{name} returned {got}; the shape {shape} is wanted."
            return None
        return tried.value

    def _html(self) -> str:
        heads = ("", "goes in", "best word", "label")
        lines = ""
        for n, head in enumerate(heads):
            cells = ""
            for row in self._rows:
                wrong = head == "best word" and row[2] and row[4] != "not counted" and row[2] != row[3]
                style = "padding:3px 10px;text-align:center;" + (
                    f"color:{html.WRONG_INK};font-weight:600" if wrong else ""
                )
                cells += f"<td style='{style}'>{escape(row[n])}{' ✗' if wrong else ''}</td>"
            name = escape(head or "position")
            lines += f"<tr><th scope='row' style='text-align:right;padding:3px 10px'>{name}</th>{cells}</tr>"
        names = [f"{row[0]} {row[3]}" for row in self._rows]
        bars = html.bars(names, self.losses, [row[4] for row in self._rows], [False] * len(names), full=1.0)
        table = (
            f"<table style='border-collapse:collapse;font-size:13px;margin-bottom:6px'><tbody>{lines}</tbody></table>"
        )
        return f"{table}<div style='font-size:13px'>Loss at each position, by its label:</div>{bars}"

    def _sentence(self, mean: float | None, best: list[str], labels: list[str], ran: bool) -> str:
        if not ran:
            return "Only the labels can be shown."
        counted = [n for n, label in enumerate(labels) if label != "<pad>"]
        right = sum(best[n] == labels[n] for n in counted)
        told = f"{right} of {len(counted)} best words are the labels"
        meaning = {
            0: "each position is fed its own label, which the model was trained to follow with the next word",
            1: "each position is fed the label before its own",
            2: "each position is fed the label two before its own: the word that matters is missing",
        }[self.shift.value]
        loss = "" if mean is None else f", mean loss {mean:.2f}"
        return f"{told}{loss}: {meaning}."


def shift_view(
    shift_right: Callable[..., Any],
    encoder_decoder_forward: Callable[..., Any],
    sequence_loss: Callable[..., Any],
    english: str = "the black cat is small",
    french: str = "le chat noir est petit",
) -> ShiftView:
    """Teacher forcing with the shipped weights, through your functions: once as it should be, and shifted otherwise.

    Raises ValueError for words that the translator does not know.
    """
    names = ("shift_right", "encoder_decoder_forward", "sequence_loss")
    functions = dict(zip(names, (shift_right, encoder_decoder_forward, sequence_loss), strict=True))
    return ShiftView(functions, load_translator(), english, french)
