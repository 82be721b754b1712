"""Still pictures for the lessons: a heatmap, curves, a table of numbers with words at its edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go
from torch import Tensor

__all__ = ["Table", "curves", "dress", "heatmap", "table"]

CLEAR = "rgba(0,0,0,0)"  # lets a dark or a light page show through
GREY = "rgba(128,128,128,0.35)"  # masked cells: a colour that the scale does not have
CELL, EDGE = 48, 110  # pixels a cell, and around all cells: a title and words of about ten letters fit


@dataclass(frozen=True)
class Table:
    """A table that reads well both as text and as HTML: a heading, then rows, each beginning with its label."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        lines = (self.heading, *self.rows)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if n else cell.ljust(width)
                for n, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in self.heading)
        body = "".join(
            f"<tr><th scope='row'>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table(
    values: Tensor | Sequence[Sequence[object]],
    rows: Sequence[object],
    columns: Sequence[object],
    *,
    digits: int = 2,
    corner: str = "",
) -> Table:
    """`values` (rows, columns) with labels, floats with `digits` decimals. Labels that do not fit raise ValueError."""
    cells = values.tolist() if isinstance(values, Tensor) else values
    if len(cells) != len(rows) or any(len(row) != len(columns) for row in cells):
        raise ValueError(f"{len(rows)} row and {len(columns)} column labels do not fit the values")
    body = tuple((str(label), *(_show(cell, digits) for cell in row)) for label, row in zip(rows, cells, strict=True))
    return Table((corner, *map(str, columns)), body)


def heatmap(
    weights: Tensor, queries: Sequence[str], keys: Sequence[str], title: str, allowed: Tensor | None = None
) -> go.Figure:
    """Attention weights (T, S), colours fixed from 0 to 1, a word for each query (down) and key (across).

    allowed: bool (T, S); keys that are not allowed are drawn grey
    """
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(f"weights {tuple(weights.shape)} with {len(queries)} queries and {len(keys)} keys")
    cells: list[list[float | None]] = weights.detach().tolist()
    if allowed is not None:
        shown = allowed.expand(weights.shape).tolist()
        cells = [[w if s else None for w, s in zip(*pair, strict=True)] for pair in zip(cells, shown, strict=True)]
    figure = go.Figure(
        go.Heatmap(
            z=cells,
            zmin=0,
            zmax=1,
            colorscale="Cividis",
            xgap=1,
            ygap=1,
            colorbar={"title": "weight"},
            hovertemplate="query %{y}, key %{x}: %{z:.3f}<extra></extra>",
        )
    )
    dress(figure, title, "key (attended to)", "query (attends)")
    figure.update_xaxes(showgrid=False, **_ticks(keys))
    figure.update_yaxes(showgrid=False, autorange="reversed", **_ticks(queries))
    figure.update_layout(plot_bgcolor=GREY, width=CELL * len(keys) + 2 * EDGE, height=CELL * len(queries) + 2 * EDGE)
    return figure


def curves(
    x: Sequence[float],
    ys: Mapping[str, Sequence[float]],
    title: str,
    x_title: str,
    y_title: str,
    *,
    log_y: bool = False,
) -> go.Figure:
    """One named curve for each entry of `ys`, over the same `x`."""
    if any(len(y) != len(x) for y in ys.values()):
        raise ValueError(f"every curve wants {len(x)} points")
    figure = go.Figure([go.Scatter(x=list(x), y=list(y), name=escape(name)) for name, y in ys.items()])
    dress(figure, title, x_title, y_title)
    figure.update_layout(showlegend=True, width=640, height=380)  # fits a notebook's text column
    if log_y:
        figure.update_yaxes(type="log", dtick=1)  # a line for each power of ten
    return figure


def _show(cell: object, digits: int) -> str:
    return f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell)


def _ticks(words: Sequence[str]) -> dict[str, object]:
    """Positions are integers: words as categories would merge where one is repeated, and `<s>` would vanish as HTML."""
    return {"tickvals": list(range(len(words))), "ticktext": [escape(word) for word in words]}


def dress(figure: go.Figure, title: str, x_title: str, y_title: str) -> None:
    """Give a figure its titles, and colours that can be seen on a light and on a dark page."""
    figure.update_layout(
        title=escape(title), xaxis_title=x_title, yaxis_title=y_title, paper_bgcolor=CLEAR, plot_bgcolor=CLEAR,
        font_color="#808080",  # mid grey: readable on white and on black
        margin={"l": EDGE, "r": EDGE // 2, "t": EDGE // 2, "b": EDGE // 2},
    )  # fmt: skip
    # plotly's own lines are white: none could be seen on a light page, and all would glare on a dark one
    figure.update_xaxes(gridcolor=GREY, zeroline=False)
    figure.update_yaxes(gridcolor=GREY, zeroline=False)
