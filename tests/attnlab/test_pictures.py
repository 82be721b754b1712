"""Pictures: what is drawn is what was given, whatever the words are."""

from __future__ import annotations

import warnings

import pytest
import torch

from attnlab import pictures


def test_table_shows_numbers_with_their_words() -> None:
    shown = pictures.table(torch.tensor([[0.625, 1.0], [0.0, 0.25]]), ["J'", "aime"], ["I", "love"], corner="weights")
    assert repr(shown).splitlines() == ["weights     I  love", "J'       0.62  1.00", "aime     0.00  0.25"]
    assert "<th scope='row'>aime</th><td>0.00</td><td>0.25</td>" in shown._repr_html_()


def test_table_escapes_words_and_keeps_integers() -> None:
    shown = pictures.table([[True, 3]], ["<s>"], ["a", "b"])
    assert shown.rows == (("<s>", "True", "3"),)
    assert "&lt;s&gt;" in shown._repr_html_()


@pytest.mark.parametrize("rows, columns", [(["a"], ["b", "c"]), (["a", "b"], ["c"])])
def test_table_refuses_labels_that_do_not_fit(rows: list[str], columns: list[str]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        pictures.table(torch.zeros(2, 2), rows, columns)


def test_heatmap_masks_with_none_and_keeps_repeated_words_apart() -> None:
    weights = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = pictures.heatmap(weights, ["<s>", "a"], ["a", "a"], "Self", torch.ones(2, 2).bool().tril())
        figure.to_json()
    (drawn,) = figure.data
    assert [list(row) for row in drawn.z] == [[1.0, None], [0.25, 0.75]]
    assert (drawn.zmin, drawn.zmax) == (0, 1)
    assert figure.layout.xaxis.ticktext == ("a", "a")
    assert figure.layout.yaxis.ticktext == ("&lt;s&gt;", "a")
    assert "query" in figure.layout.yaxis.title.text and "key" in figure.layout.xaxis.title.text


def test_heatmap_refuses_swapped_axes() -> None:
    with pytest.raises(ValueError, match="2 queries and 3 keys"):
        pictures.heatmap(torch.zeros(3, 2), ["a", "b"], ["c", "d", "e"], "Swapped")


def test_curves_draw_each_series() -> None:
    figure = pictures.curves([1, 2, 3], {"pre": [1, 2, 4], "post": [1, 1, 1]}, "Size", "blocks", "size", log_y=True)
    assert {trace.name: list(trace.y) for trace in figure.data} == {"pre": [1, 2, 4], "post": [1, 1, 1]}
    assert figure.layout.yaxis.type == "log"
    with pytest.raises(ValueError, match="3 points"):
        pictures.curves([1, 2, 3], {"short": [1, 2]}, "Size", "blocks", "size")
