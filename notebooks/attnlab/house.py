"""The house style of what is shown in a notebook: a frame, badges, and colours that hold on light and dark pages."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

__all__ = ["FAILED", "OPEN", "PASSED", "Mark", "badge", "box", "div"]


@dataclass(frozen=True)
class Mark:
    """How a verdict looks: a sign and a word, so that colour is never alone in saying it."""

    sign: str
    word: str
    colour: str


# Blue and orange can be told apart by nearly everyone; both hold white letters (contrast above 4.5) and show on white
# and on black.
PASSED = Mark("✓", "passed", "#0b6cb0")
FAILED = Mark("✗", "failed", "#b34700")
OPEN = Mark("–", "not run", "#6b6b6b")


def badge(mark: Mark) -> str:
    """The mark as a piece of HTML: its sign and its word on its colour."""
    return (
        f'<span style="display:inline-block;min-width:5em;padding:0 0.5em;margin-right:0.6em;border-radius:3px;'
        f'background:{mark.colour};color:#ffffff;">{escape(mark.sign)} {escape(mark.word)}</span>'
    )


def box(content: str) -> str:
    """The frame. Colours come from the notebook's theme where it has one, and from the page around elsewhere."""
    return div(
        "max-width:60em;padding:0.6em 0.8em;line-height:1.45;font-family:var(--jp-ui-font-family, sans-serif);"
        "font-size:var(--jp-ui-font-size1, 0.9em);color:var(--jp-ui-font-color1, inherit);"
        "border:1px solid var(--jp-border-color2, rgba(128,128,128,0.5));border-radius:4px;",
        content,
    )


def div(style: str, content: str) -> str:
    """`content`, which is HTML already, in a block of this style."""
    return f'<div style="{style}">{content}</div>'
