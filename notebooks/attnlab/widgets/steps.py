"""`decode_stepper`: one word at a time, with a say in which."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import torch
import traitlets as t

from attnlab import pictures
from attnlab.pictures import Table
from attnlab.translator import Translator, load_translator
from attnlab.vocabulary import BOS, EOS, words
from attnlab.widgets import html
from attnlab.widgets.attempt import attempt
from attnlab.widgets.recorder import Recording
from attnlab.widgets.view import View, buttons

__all__ = ["DecodeStepper", "decode_stepper"]

CHOICES = 5  # words to choose among: beyond these a trained model gives next to nothing
PACE = 900  # milliseconds a word while playing: time to read the row


class DecodeStepper(View):
    """Step through a translation; overrule a choice and see what follows.

    position: how many words are written; may be set
    prefix: the ids so far, the start token first
    stopped: why there is no next word; "" while there is one
    reading: (S,), what the newest row of the last decoder block's cross-attention reads, mean of its heads; None where
        it could not be seen
    """

    heading = "Decode stepper: one word at a time"
    position = t.Int(0)
    stopped = t.Unicode()

    def __init__(self, functions: dict[str, Callable[..., Any]], translator: Translator, text: str) -> None:
        self._functions, self._translator, self._text = functions, translator, text
        self._arguments = translator.arguments(text)
        self._source = list(words(text))
        self._overruled: dict[int, int] = {}  # position to the id that was chosen instead
        self._scores: dict[tuple[int, ...], torch.Tensor] = {}
        self._read: dict[tuple[int, ...], torch.Tensor | None] = {}
        self._own: Any = None
        self.reading: torch.Tensor | None = None
        self.prefix: list[int] = [BOS]
        self.back, self.forward, self.reset = (
            W.Button(description=name, layout=W.Layout(width="auto", margin="2px 4px 2px 0"))
            for name in ("Back", "Step", "Reset")
        )
        self.play = W.Play(min=0, max=translator.longest, interval=PACE, show_repeat=False)
        self.choice = buttons("next word", ["-"])
        self._prefix, self._top, self._reads = W.HTML(), W.HTML(), W.HTML()
        self._busy = False
        encoded = attempt(functions["encode"], self._arguments[0][None], *self._arguments[1:2], *self._arguments[3:4],
                          self._arguments[5], translator.num_heads)  # fmt: skip
        self._enc = encoded.value
        body = [self._prefix, self.choice, self._top, self._reads]
        super().__init__([self.back, self.forward, self.reset, self.play], body)
        self.problem = encoded.problem
        if not encoded.problem and not isinstance(self._enc, torch.Tensor):
            self.problem = f"encode returned {type(self._enc).__name__}; a tensor is wanted."
        t.link((self.play, "value"), (self, "position"))
        self.forward.on_click(lambda _: self._go(self.position + 1))
        self.back.on_click(lambda _: self._go(self.position - 1))
        self.reset.on_click(lambda _: self._restart())
        self.choice.observe(lambda change: self._overrule(change["new"]), "value")
        self.observe(lambda _: self._draw(), "position")
        self._draw()

    def overrule(self, word: str) -> None:
        """Let `word` come next, whatever scores best. Raises ValueError for a word that is not among the best five."""
        if word not in [name for name, _ in self.choice.options]:
            raise ValueError(f"{word!r} is not among the best {CHOICES} words here.")
        self.choice.value = dict(self.choice.options)[word]

    def to_figure(self) -> go.Figure:
        best, scores, _ = self._best()
        figure = go.Figure(go.Bar(x=best, y=scores, marker_color=html.BAR))
        pictures.dress(figure, "Scores of the next word", "word", "logit")
        return figure

    def table(self) -> Table:
        words, scores, shares = self._best()
        rows = zip(words, scores, shares, strict=True)
        return Table(("next word", "logit", "probability"), tuple((w, f"{s:.2f}", f"{p:.3f}") for w, s, p in rows))

    def still(self) -> str:
        return f"{self._prefix.value}{self._top.value}{self._reads.value}"

    # moving -----------------------------------------------------------------------------------------------------------

    def _go(self, position: int) -> None:
        if 0 <= position <= self._translator.longest and not (self.stopped and position > self.position):
            self.position = position

    def _restart(self) -> None:
        self.play.playing = False
        self._overruled.clear()
        if self.position:
            self.position = 0
        else:
            self._draw()

    def _overrule(self, token: Any) -> None:
        if not self._busy and isinstance(token, int):
            self._overruled = {at: kept for at, kept in self._overruled.items() if at < self.position}
            self._overruled[self.position] = token
            self._tell()

    # computing --------------------------------------------------------------------------------------------------------

    def _next(self, prefix: list[int]) -> int | None:
        """The id that comes after `prefix`: the one that was chosen instead, else the learner's choice."""
        scores = self._logits(prefix)
        if scores is None:
            return None
        if (overruled := self._overruled.get(len(prefix) - 1)) is not None:
            return overruled
        tried = attempt(self._functions["next_token"], scores)
        try:
            token = int(tried.value)
        except (TypeError, ValueError, RuntimeError):
            token = -1
        if tried.problem or not 0 <= token < len(scores):
            self.problem = tried.problem or f"next_token returned {tried.value!r}; an id below {len(scores)} is wanted."
            return None
        return token

    def _logits(self, prefix: list[int]) -> torch.Tensor | None:
        """Scores of the next word (V,), by the learner's blocks; what they read is kept beside."""
        key = tuple(prefix)
        if key in self._scores:
            return self._scores[key]
        if self.problem:
            return None
        _, _, tgt_emb, _, dec_pos_embed, _, dec_blocks, w_head, num_heads, *_ = self._arguments
        dec = (tgt_emb[torch.tensor(prefix)] + dec_pos_embed[: len(prefix)])[None]  # (1, t, d)
        recording = Recording(self._functions["decoder_block"])
        for block in dec_blocks:
            with recording:
                tried = attempt(recording.call, dec, self._enc, block, num_heads)
            if tried.problem or not isinstance(tried.value, torch.Tensor) or tried.value.shape != dec.shape:
                shape = f"decoder_block did not return the shape {tuple(dec.shape)}."
                self.problem = tried.problem or shape
                return None
            dec = tried.value
        cross = recording.of("cross")
        fits = bool(cross) and cross[-1].weights.shape[1:] == (len(prefix), len(self._source))
        self._read[key] = cross[-1].weights.mean(dim=0)[-1] if fits else None
        self._scores[key] = dec[0, -1] @ w_head
        return self._scores[key]

    def _best(self) -> tuple[list[str], list[float], list[float]]:
        """The best words with their scores and probabilities; none where there are no scores."""
        scores = self._logits(self.prefix) if not self.stopped else None
        if scores is None:
            return [], [], []
        best = scores.argsort(descending=True, stable=True)[:CHOICES]
        return self._translator.words(best), scores[best].tolist(), scores.softmax(-1)[best].tolist()

    # showing ----------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        self.prefix, self.stopped = [BOS], ""
        for _ in range(self.position):
            token = self._next(self.prefix)
            if token is None:
                break
            self.prefix.append(token)
            if token == EOS:
                break
        written = len(self.prefix) - 1
        if written < self.position:
            self.position = written  # the sentence ended before: draws again
            return
        if written and self.prefix[-1] == EOS:
            self.stopped = "It stopped because </s>, the end sign, was chosen."
        elif written >= self._translator.longest:
            self.stopped = f"It stopped because the budget of {self._translator.longest} words is spent."
        chosen = None if self.stopped else self._next(self.prefix)
        self._show_prefix()
        self._show_choice(chosen)
        self.back.disabled, self.forward.disabled = not written, bool(self.stopped) or chosen is None
        if self.stopped:
            self.play.playing = False
        self._tell()

    def _show_prefix(self) -> None:
        words = self._translator.words(self.prefix)
        marks = [at - 1 in self._overruled for at in range(len(words))]
        shown = "".join(
            f"<span style='padding:3px 9px;border:1px solid rgba(128,128,128,0.6);border-radius:4px'>{escape(word)}"
            f"{' <small>(overruled)</small>' if mark else ''}</span>"
            for word, mark in zip(words, marks, strict=True)
        )
        source = escape(" ".join(self._source))
        self._prefix.value = (
            f"<div style='font-size:13px;line-height:1.5'>Source: <b>{source}</b></div>"
            "<div style='display:flex;flex-wrap:wrap;align-items:center;gap:5px;font-size:13px;line-height:1.5'>"
            f"Written: {shown}</div>"
        )

    def _show_choice(self, chosen: int | None) -> None:
        words, scores, shares = self._best()
        self.choice.layout.display = "" if words and chosen is not None else "none"
        self._top.value = self._reads.value = ""
        self.reading = None
        if not words:
            return
        texts = [f"score {s:.2f}, probability {p:.3f}" for s, p in zip(scores, shares, strict=True)]
        title = "<div style='font-size:13px'>{}</div>"
        self._top.value = title.format("The best next words:") + html.bars(
            words, shares, texts, [False] * len(words), full=1.0
        )
        self.reading = self._read[tuple(self.prefix)]
        if self.reading is not None:
            about = "This step's cross-attention row, last decoder block, mean of the heads:"
            self._reads.value = title.format(about) + html.chips(self._source, self.reading.tolist())
        if chosen is None:
            return
        scores_of = self._logits(self.prefix)
        assert scores_of is not None
        ids = [int(i) for i in scores_of.argsort(descending=True, stable=True)[:CHOICES]]
        if chosen not in ids:
            ids.append(chosen)
        self._busy = True  # setting a choice here is not overruling
        self.choice.options = list(zip(self._translator.words(ids), ids, strict=True))
        self.choice.value = chosen
        self._busy = False

    def _tell(self) -> None:
        said = self._translator.text(self.prefix)
        if self.stopped:
            self.line = f"{self.stopped} It says: {said}. {self._compared()}".strip()
            return
        token = self._next(self.prefix)
        if token is None:
            self.line = "Nothing more can be computed."
            return
        word = self._translator.words([token])[0]
        reads = ""
        if self.reading is not None:
            s = int(self.reading.argmax())
            reads = f" Position {len(self.prefix) - 1} looks most at source word {s} '{self._source[s]}' "
            reads += f"({float(self.reading[s]):.2f})."
        overruled = ", overruled" if self.position in self._overruled else ""
        self.line = f"Word {self.position + 1} will be '{word}'{overruled}.{reads}"

    def _compared(self) -> str:
        """Whether the learner's own loop writes the same; asked only where nothing was overruled."""
        if self._overruled:
            return ""
        self._own = self._own or attempt(self._functions["decode"], *self._arguments)
        if self._own.problem:
            return str(self._own.problem)
        own = self._own.value
        same = isinstance(own, torch.Tensor) and own.flatten().tolist() == self.prefix
        return (
            "Your seq2seq_greedy_decode says the same." if same else "Your seq2seq_greedy_decode says something else."
        )


def decode_stepper(
    seq2seq_greedy_decode: Callable[..., Any],
    encode: Callable[..., Any],
    decoder_block: Callable[..., Any],
    next_token: Callable[..., Any],
    text: str = "the black cat is small",
) -> DecodeStepper:
    """Translate `text` word by word with the shipped weights, through your functions.

    Raises ValueError in words for a sentence that the translator cannot read.
    """
    functions = {
        "decode": seq2seq_greedy_decode, "encode": encode, "decoder_block": decoder_block, "next_token": next_token,
    }  # fmt: skip
    return DecodeStepper(functions, load_translator(), text)
