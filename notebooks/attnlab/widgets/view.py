"""What all views have in common: controls, a line in words, warnings, a form that reads without a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import anywidget
import ipywidgets as W
import plotly.graph_objects as go
import traitlets as t

from attnlab.pictures import Table

__all__ = ["View", "buttons", "follow", "slider", "switch"]

_NOTE = "margin:4px 0;padding:4px 8px;border-left:4px solid {};line-height:1.4;font-size:13px;"
_WARNING, _CALM = "#b34700", "#0b6cb0"  # those of check's report: readable on light and on dark


class Keys(anywidget.AnyWidget):
    """Lets the controls beside it have the keyboard, and gives them names for screen readers."""

    _esm = (files("attnlab.widgets") / "static" / "keys.js").read_text(encoding="utf-8")


class View(W.VBox):  # type: ignore[misc]
    """A widget of the course. Observe its traits, or ask for `to_figure()` and `table()`.

    line: what is to be seen, in one sentence
    warnings: what cannot be right, each in a sentence
    problem: why there is nothing, or less, to be seen; "" where all is well
    notice: what else should be known
    """

    line = t.Unicode()
    warnings = t.List(t.Unicode())
    problem = t.Unicode()
    notice = t.Unicode()
    heading = ""

    def __init__(self, controls: Sequence[W.Widget], body: Sequence[W.Widget], *, say_line: bool = True) -> None:
        """say_line: whether the line stands below the body; a map that holds it says it itself."""
        self._say_line = say_line
        self._said = W.HTML()
        self._said.add_class("attnlab-said")
        row = W.HBox(list(controls), layout=W.Layout(flex_flow="row wrap", align_items="flex-end"))
        head = W.HTML(f"<div style='font-weight:600;font-size:15px;line-height:1.3'>{escape(self.heading)}</div>")
        super().__init__([head, row, *body, self._said, Keys()])
        self.add_class("attnlab-view")
        self.observe(lambda _: self._say(), ["line", "warnings", "problem", "notice"])
        self._say()

    def to_figure(self) -> go.Figure:
        """What is shown now as a still picture."""
        raise NotImplementedError

    def table(self) -> Table:
        """What is shown now as rows of words and numbers."""
        raise NotImplementedError

    def still(self) -> str:
        """A piece of HTML that shows the same without a kernel; after it the table is shown."""
        return ""

    def _say(self) -> None:
        parts = [f"<div role='status' style='line-height:1.4'>{escape(self.line)}</div>"] * self._say_line
        self._said.value = "".join((*parts, *self._notes()))

    def _notes(self) -> list[str]:
        notes = [(self.problem, _CALM if "is not written yet" in self.problem else _WARNING)] * bool(self.problem)
        notes += [(f"⚠ {warning}", _WARNING) for warning in self.warnings]
        notes += [(self.notice, _CALM)] * bool(self.notice)
        return [f"<div role='note' style='{_NOTE.format(colour)}'>{escape(note)}</div>" for note, colour in notes]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Called by Jupyter. The page and the text are shown where nobody can run the widget."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        words = [self.heading, self.line, *self.warnings, self.problem, self.notice]
        table = self.table()
        bundle["text/plain"] = "\n".join([*filter(None, words), repr(table)])
        bundle["text/html"] = (
            f"<div><p><b>{escape(self.heading)}</b></p>{self.still()}<p>{escape(self.line)}</p>"
            f"{''.join(self._notes())}{table._repr_html_()}"
            "<p><small>Run the cell to move the controls.</small></p></div>"
        )
        return bundle


def buttons(label: str, options: Sequence[Any], value: Any = None) -> W.ToggleButtons:
    """A choice of one among a few. `options` are words, or pairs of word and value."""
    made = W.ToggleButtons(
        options=options, description=label, style={"button_width": "auto", "description_width": "auto"}
    )
    if value is not None:
        made.value = value
    made.layout.margin, made.layout.width = "2px 14px 2px 0", "max-content"
    return made


def slider(label: str, most: int, value: int = 0, least: int = 0) -> W.IntSlider:
    """A whole number, at every step."""
    made = W.IntSlider(value, least, max(least, most), description=label, style={"description_width": "auto"})
    made.layout.width = "340px"  # the longest name, and 150 pixels to move in
    made.layout.margin = "2px 14px 2px 0"
    return made


def switch(label: str, value: bool) -> W.ToggleButton:
    """On or off."""
    return W.ToggleButton(value, description=label, layout=W.Layout(width="auto", margin="2px 14px 2px 0"))


def follow(update: Callable[[], None], *controls: W.Widget) -> None:
    """Call `update` whenever one of these controls changes."""
    for control in controls:
        control.observe(lambda _: update(), "value")
