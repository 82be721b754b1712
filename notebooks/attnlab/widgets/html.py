"""Small pictures made of HTML: bars, shaded words, a table of cells. They read the same with and without a kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import torch

__all__ = ["BAR", "WRONG", "WRONG_INK", "bars", "cells", "chips"]

_CIVIDIS = ((0, 34, 78), (59, 73, 108), (112, 113, 115), (165, 156, 116), (225, 204, 85), (254, 232, 56))
_GREY = "rgba(128,128,128,0.35)"
BAR, WRONG, _FAINT = "#0b6cb0", "#b34700", "rgba(128,128,128,0.5)"  # those of check's report
WRONG_INK = f"var(--jp-error-color1,{WRONG})"  # letters want more contrast on a dark page than a bar does
MOST = 24  # cells a side that a still table shows; more would not fit a page


def shade(share: float) -> tuple[str, str]:
    """Background of a weight 0 ... 1 and the ink that can be read on it."""
    at = min(max(share, 0.0), 1.0) * (len(_CIVIDIS) - 1)
    low = min(int(at), len(_CIVIDIS) - 2)
    r, g, b = (round(p + (at - low) * (q - p)) for p, q in zip(_CIVIDIS[low], _CIVIDIS[low + 1], strict=True))
    return f"rgb({r},{g},{b})", "#000" if 0.3 * r + 0.59 * g + 0.11 * b > 125 else "#fff"


def cells(
    values: torch.Tensor, queries: Sequence[str], keys: Sequence[str], axes: tuple[str, str], hidden: torch.Tensor
) -> str:
    """Weights (T, S) as a table with shaded cells; "" where there are too many for a page."""
    if max(values.shape) > MOST:
        return ""
    head = "".join(f"<th scope='col'>{escape(word)}</th>" for word in keys)
    body = ""
    for word, row, grey in zip(queries, values.tolist(), hidden.tolist(), strict=True):
        body += f"<tr><th scope='row'>{escape(word)}</th>"
        for value, is_hidden in zip(row, grey, strict=True):
            if is_hidden and not value:
                body += f"<td style='background:{_GREY}'></td>"
            else:
                back, ink = shade(value) if not math.isnan(value) else (WRONG, "#fff")
                text = "NaN" if math.isnan(value) else f"{value:.2f}"
                body += f"<td style='background:{back};color:{ink}'>{text}</td>"
        body += "</tr>"
    corner = f"{escape(axes[0])} ↓<br>{escape(axes[1])} →"
    return f"<table><thead><tr><th>{corner}</th>{head}</tr></thead><tbody>{body}</tbody></table>"


def bars(
    labels: Sequence[str], heights: Sequence[float | None], texts: Sequence[str], wrong: Sequence[bool],
    full: float = 0.0,
) -> str:  # fmt: skip
    """A bar for each label, the longest as wide as there is room; None draws none. Wrong ones are orange and say so.

    full: a height below which no bar is as wide as there is room
    """
    largest = max((h for h in heights if h is not None and math.isfinite(h)), default=0.0)
    largest = max(largest, full) or 1.0
    rows = ""
    for label, height, text, bad in zip(labels, heights, texts, wrong, strict=True):
        share = 0.0 if height is None or not math.isfinite(height) else max(height, 0.0) / largest
        style, sign = (f"font-weight:600;color:{WRONG_INK}", " ⚠") if bad else ("", "")
        bar = f"<div style='width:{100 * share:.1f}%;height:14px;background:{WRONG if bad else BAR}'></div>"
        rows += (
            f"<div role='row' style='display:contents'><div role='rowheader' style='text-align:right'>"
            f"{escape(label)}</div><div role='presentation' style='border-left:1px solid {_FAINT}'>{bar}</div>"
            f"<div role='cell' style='{style}'>{escape(text)}{sign}</div></div>"
        )
    return (
        "<div role='table' style='display:grid;grid-template-columns:max-content minmax(120px,320px) max-content;"
        f"gap:3px 8px;align-items:center;line-height:1.3;font-size:13px'>{rows}</div>"
    )


def chips(words: Sequence[str], weights: Sequence[float | None]) -> str:
    """Words shaded by their weights and numbered; None is padding, crossed out."""
    made = ""
    for n, (word, weight) in enumerate(zip(words, weights, strict=True)):
        if weight is None or math.isnan(weight):
            style, text = f"background:{_GREY}", "hidden" if weight is None else "NaN"
            word = f"<s>{escape(word)}</s>"
        else:
            back, ink = shade(weight)
            style, text, word = f"background:{back};color:{ink}", f"{weight:.2f}", escape(word)
        made += (
            f"<div style='{style};padding:4px 10px;border-radius:4px;text-align:center;line-height:1.3'>"
            f"<small>{n}</small> {word}<br><small>{text}</small></div>"
        )
    return f"<div style='display:flex;flex-wrap:wrap;gap:6px;font-size:13px'>{made}</div>"
