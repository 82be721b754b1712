"""`break_it`: choose a mistake, predict what becomes of a translation, then see its attention and its words change."""

from __future__ import annotations

from html import escape

import ipywidgets as W
import plotly.graph_objects as go
import torch

from attnlab import pictures
from attnlab.mistakes import MISTAKES, OUTCOMES, Functions, edited, encoded, outcome, read_through, translated
from attnlab.pictures import Table
from attnlab.translator import load_translator
from attnlab.vocabulary import EOS, words
from attnlab.widgets import html
from attnlab.widgets.attention import Attention, Kind
from attnlab.widgets.map import AttentionMap, sums_of
from attnlab.widgets.recorder import Recording
from attnlab.widgets.view import View, buttons, follow

__all__ = ["BreakIt", "break_it"]

SENTENCES = ("the black cat is small", "the old horse does not like the small bird")
KINDS: tuple[tuple[str, Kind], ...] = (("encoder", "encoder"), ("decoder", "decoder"), ("cross", "cross"))
FIRST: dict[str, Kind] = {"01_mask": "decoder", "04_full_forward": "encoder"}  # which attention is shown first
TITLES = ("as it should be", "with the mistake")
SIZE = 250  # pixels of a map: two of them and their words fit a notebook's column
NOT_YET = "I have not predicted yet"


class BreakIt(View):
    """The library's translator with one mistake in it, beside the same without.

    right, broken: what each writes, as ids
    maps: the attention of each, mean of the heads of the last block; `broken` ones only once there is a prediction
    """

    heading = "Break it: one mistake, and what becomes of the sentence"

    def __init__(self, lesson: str, texts: tuple[str, ...]) -> None:
        self._translator = load_translator()
        self._mistakes = {mistake.id: mistake for mistake in MISTAKES[lesson]}
        self.fault = buttons("mistake", [(name.replace("_", " "), name) for name in self._mistakes])
        self.text = buttons("sentence", list(texts))
        self.kind = buttons("attention", KINDS, FIRST.get(lesson, "cross"))
        choices = [(NOT_YET, ""), *((said, name) for name, said in OUTCOMES.items())]
        self.prediction = buttons("I predict:", choices)
        self.right: list[int] = []
        self.broken: list[int] = []
        self.maps = [AttentionMap(size=SIZE, scale=False) for _ in range(2)]
        self._told, self._caption = W.HTML(), W.HTML()
        self._seen: list[Attention] = []
        self._tried: dict[tuple[str, str, str], tuple[list[int], Attention]] = {}
        row = W.HBox(self.maps, layout=W.Layout(flex_flow="row wrap"))
        body = [self._told, self._caption, row]  # what is said first: the maps may be high
        super().__init__([self.fault, self.text, self.kind, self.prediction], body, say_line=False)
        follow(self._forget, self.fault, self.text)
        follow(self._draw, self.kind, self.prediction)
        self._draw()

    def to_figure(self) -> go.Figure:
        seen, title = self._seen[-1], "With the mistake" if self.broken else "As it should be"
        return pictures.heatmap(seen.weights.nan_to_num(0.0).mean(dim=0), seen.queries, seen.keys, title)

    def table(self) -> Table:
        rows = [("as it should be", self._translator.text(self.right))]
        if self.broken:
            rows.append((self.fault.value.replace("_", " "), self._spelled(self.broken)))
        return Table(("the library's functions", "they say"), tuple(rows))

    def still(self) -> str:
        parts = []
        for seen, title in zip(self._seen, TITLES, strict=False):
            mean = seen.weights.mean(dim=0)
            shown = html.cells(
                mean, seen.queries, seen.keys, ("query", "key"), torch.zeros_like(mean, dtype=torch.bool)
            )
            parts.append(f"<div style='margin-right:1em'><p>{title}</p>{shown}</div>")
        return f"<div style='display:flex;flex-wrap:wrap'>{''.join(parts)}</div>"

    def _forget(self) -> None:
        """Another mistake or sentence wants another prediction."""
        if self.prediction.value:
            self.prediction.value = ""  # draws
        else:
            self._draw()

    def _draw(self) -> None:
        mistake = self._mistakes[self.fault.value]
        self.right, seen = self._try("")
        self.broken, self._seen = [], [seen]
        self.notice = f"The mistake: {mistake.words}. Predict, then you see it."
        self.line = f"As it should be, it says: {self._spelled(self.right)}."
        if self.prediction.value:
            self.broken, seen = self._try(mistake.id)
            self._seen.append(seen)
            self.line, self.notice = self._became(), f"{mistake.symptom} {mistake.help}"
        self._told.value = f"<div role='status' style='line-height:1.4'>{escape(self.line)}</div>"
        h, *_ = seen.weights.shape
        self._caption.value = (
            f"<div style='line-height:1.4'>{escape(seen.title)}; shown is the mean of {h} heads.</div>"
        )
        for view, seen, title in zip(self.maps, self._seen, TITLES, strict=False):
            mean = seen.weights.mean(dim=0)
            T, S = mean.shape
            view.show(mean[None, None], seen.queries, seen.keys, title=f"{title}, ({T}, {S})", sums=sums_of(mean))
        self.maps[1].layout.display = "" if self.broken else "none"

    def _became(self) -> str:
        became = outcome(self.right, self.broken)
        hit = "as you predicted" if became == self.prediction.value else "not as you predicted"
        return (
            f"With the mistake it says: {self._spelled(self.broken)}. "
            f"What became of it is: {OUTCOMES[became]}; {hit}. Right is: {self._spelled(self.right)}."
        )

    def _spelled(self, ids: list[int]) -> str:
        """A translation in words, also where there is none, or no end."""
        return (self._translator.text(ids) or "nothing") + ("" if ids[-1] == EOS else " …, without end")

    def _try(self, name: str) -> tuple[list[int], Attention]:
        """What is written with this mistake, "" for none, and the chosen attention of the last block on the way."""
        key = (name, self.text.value, self.kind.value)
        if key not in self._tried:
            self._tried[key] = self._computed(edited(self._mistakes.get(name)))
        return self._tried[key]

    def _computed(self, functions: Functions) -> tuple[list[int], Attention]:
        text, translator = self.text.value, self._translator
        ids = translated(functions, translator, text)
        source, target = words(text), translator.words(ids[:-1])
        with torch.no_grad(), Recording(functions["encode"], source=source, target=target) as encoding:
            enc = encoded({"encode": encoding.call}, translator, text)
        with torch.no_grad(), Recording(functions["decoder_block"], source=source, target=target) as decoding:
            read_through({"decoder_block": decoding.call}, translator, enc, ids[:-1])
        return ids, (encoding if self.kind.value == "encoder" else decoding).of(self.kind.value)[-1]


def break_it(lesson: str, *texts: str) -> BreakIt:
    """Try the public mistakes of a lesson on the translator that comes with the course.

    It is made of the library's functions, not of yours. texts: other sentences to translate.
    Raises LookupError for a lesson that has no mistakes, ValueError for words that the translator does not know.
    """
    if lesson not in MISTAKES:
        raise LookupError(f"There are no mistakes for {lesson!r}; there are for {', '.join(MISTAKES)}.")
    for text in texts:
        load_translator().arguments(text)
    return BreakIt(lesson, texts or SENTENCES)
