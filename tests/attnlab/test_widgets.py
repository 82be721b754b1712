"""The widgets without a browser: what they compute, what they say, and what they are when nobody can run them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from html import escape
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

import attnlab
from attnlab import (
    attention_view,
    block_trace,
    contrast_view,
    cross_view,
    decode_stepper,
    leak_probe,
    mask_lab,
    recorded_translation,
    shift_view,
)
from attnlab.widgets.attention import Attention, as_weights
from attnlab.widgets.map import HIDDEN, NOT_A_NUMBER, TOP, codes
from attnlab.widgets.view import View
from grader.course import Course
from grader.reference import Reference

Functions = Mapping[str, Callable[..., Any]]


@pytest.fixture(scope="module")
def right(course: Course) -> SimpleNamespace:
    """The course's own functions, as attributes."""
    return SimpleNamespace(**Reference(tuple(course.lessons.values())).functions)


def _leak(f: Any) -> View:
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    return leak_probe(lambda x: f.masked_softmax(x @ x.T, f.causal_mask(len(x))) @ x, x, "<s> a b a")


VIEWS: dict[str, Callable[[Any], View]] = {
    "mask_lab": lambda f: mask_lab(f.masked_softmax, f.causal_mask, f.padding_mask),
    "leak_probe": _leak,
    "contrast_view": lambda f: contrast_view(f.masked_softmax),
    "cross_view": lambda f: cross_view(f.cross_attention),
    "block_trace": lambda f: block_trace(
        f.decoder_block, f.multi_head_attention, f.cross_attention, f.feed_forward, f.layer_norm, f.causal_mask
    ),
    "attention_view": lambda f: attention_view(recorded_translation(f.encoder_decoder_forward)),
    "shift_view": lambda f: shift_view(f.shift_right, f.encoder_decoder_forward, f.sequence_loss),
    "decode_stepper": lambda f: decode_stepper(f.seq2seq_greedy_decode, f.encode, f.decoder_block, f.next_token),
}


class _Each:
    """Every name is one function, which the checks below choose."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            return self.function(*args, **kwargs)

        called.__name__ = name
        return called


# what every view must do ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_keeps_the_contract(name: str, right: Any, capsys: pytest.CaptureFixture[str]) -> None:
    view = VIEWS[name](right)
    assert capsys.readouterr().out == ""  # it returns, it does not display
    assert view.line and not view.problem and not view.warnings
    figure = view.to_figure()
    assert type(figure) is go.Figure
    assert "NaN" not in figure.to_json()
    assert view.table().rows
    bundle = view._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert view.heading in bundle["text/html"] and view.line in bundle["text/plain"]
    assert "<table" in bundle["text/html"] and "<script" not in bundle["text/html"]
    json.dumps(bundle)  # nothing in it that a notebook could not store


@pytest.mark.parametrize("name", VIEWS)
def test_a_stub_gets_one_calm_sentence(name: str) -> None:
    def stub(*_: Any, **__: Any) -> Any:
        raise NotImplementedError

    view = VIEWS[name](_Each(stub))
    assert "is not written yet" in view.problem
    assert "Traceback" not in str(view._repr_mimebundle_()) and "NotImplementedError" not in view.problem
    view.to_figure()
    view.table()


@pytest.mark.parametrize("name", VIEWS)
def test_an_exception_is_told_with_type_message_and_shapes(name: str) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise IndexError("index 9 is out of range")

    view = VIEWS[name](_Each(broken))
    assert "IndexError: index 9 is out of range" in view.problem
    assert view.problem in view._repr_mimebundle_()["text/plain"]
    if name not in ("contrast_view", "block_trace"):  # whose first call takes no tensor
        assert "shape" in view.problem


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("value", [None, 3, "words", torch.zeros(0), torch.zeros(2, 7, 3, 5), (1, 2)])
def test_a_nonsense_value_is_told_in_words(name: str, value: Any) -> None:
    view = VIEWS[name](_Each(lambda *_, **__: value))
    assert view.problem
    view._repr_mimebundle_()
    view.to_figure()


@pytest.mark.parametrize("name", VIEWS)
def test_words_of_the_learner_are_escaped(name: str) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("<img src=x onerror=alert(1)>")

    assert "<img" not in VIEWS[name](_Each(broken))._repr_mimebundle_()["text/html"]


def test_an_endless_loop_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.widgets.attempt.SECONDS", 0.1)

    def endless(*_: Any) -> Any:
        while True:
            pass

    assert "was stopped" in contrast_view(_Each(endless).causal_mask).problem


def test_names_are_loaded_when_asked_for() -> None:
    for name in attnlab.__all__:
        assert callable(getattr(attnlab, name))
    with pytest.raises(AttributeError, match="no attribute 'mask_lap'"):
        _ = attnlab.mask_lap


# attention, as a record and as a view --------------------------------------------------------------------------------


def test_weights_may_be_tensors_or_nested_lists_of_two_to_four_axes() -> None:
    row = [[0.25, 0.75]]
    for values in (row, [row], [[row]], torch.tensor(row), np.array(row)):
        assert as_weights(values).tolist() == [[row]]
    assert as_weights(torch.tensor(row, requires_grad=True)).dtype == torch.float64


@pytest.mark.parametrize(
    "values", [[0.5, 0.5], 3, "ab", [[0.5], [0.5, 0.5]], torch.zeros(2, 0), torch.zeros(1, 1, 1, 2, 2)]
)
def test_other_shapes_are_refused_in_words(values: Any) -> None:
    with pytest.raises(ValueError, match=r"^weights: "):
        attention_view(values)


def test_words_must_fit() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 2, 2\) want 2 key words; there are 3"):
        attention_view([[1.0, 0.0], [0.5, 0.5]], ["a", "b"], ["x", "y", "z"])
    with pytest.raises(ValueError, match=r"allowed: the shape \(2, 2\)"):
        attention_view([[1.0, 0.0], [0.5, 0.5]], allowed=[True, False])


def test_line_and_table_name_the_strongest_keys() -> None:
    view = attention_view([[0.1, 0.7, 0.2], [0.0, 0.0, 0.0]], "the the", ["<s>", "J'", "<pad>"])
    assert view.line == "query 0 'the' looks most at key 1 \"J'\" (0.70), then at key 2 '<pad>' (0.20)."
    view.query = 1
    assert view.line == "query 1 'the' reads nothing: all its weights are 0."
    assert view.table().rows[0] == ("0 the", "1 J'", "0.70", "2 <pad>", "0.20")
    assert view.table().rows[1] == ("1 the", "", "", "", "")
    assert list(view.to_figure().data[0].z[0]) == [0.1, 0.7, 0.2]
    assert view.to_figure().layout.xaxis.ticktext == tuple(map(escape, ["<s>", "J'", "<pad>"]))


def test_axes_say_who_attends_and_who_is_attended_to() -> None:
    for kind, query, key in (
        ("cross", "decoder", "source"),
        ("decoder", "decoder", "decoder"),
        ("encoder", "source", "source"),
    ):
        view = attention_view([[1.0]], kind=kind)
        assert view.map.axes == [f"query ({query} position, attends)", f"key ({key} position, attended to)"]
        assert view.to_figure().layout.yaxis.title.text == view.map.axes[0]
        assert "T=1, S=1" in view.map.title


def test_rows_that_do_not_sum_to_one_are_warned_of_by_name() -> None:
    view = attention_view([[0.5, 0.2], [math.nan, 1.0], [1.0, 0.0], [0.0, 0.0], [1.5, -0.5]], "a b c d e")
    assert view.warnings == [
        "query 1 'b' is NaN, not a number.",
        "query 0 'a' sums to 0.7, not to 1.",
        "query 4 'e' has a weight below 0.",
    ]
    assert "NaN" not in view.to_figure().to_json()
    assert view.line.startswith("query 0 'a'")
    view.query = 1
    assert "not numbers (NaN)" in view.line


def test_many_wrong_rows_are_counted() -> None:
    (*_, last) = attention_view(torch.full((9, 2), 0.4)).warnings
    assert last == "query 2 '2' sums to 0.8, not to 1; and 6 rows more like it."


def test_a_hidden_key_that_is_read_is_marked() -> None:
    view = attention_view([[0.75, 0.25], [0.5, 0.5]], "a b", "x y", allowed=[[True, False], [True, True]])
    assert view.warnings == ["query 0 'a' reads key 1 'y', which is hidden (0.25)."]
    assert view.map.marks == [1]
    hidden = attention_view([[1.0, 0.0], [0.5, 0.5]], allowed=[[True, False], [True, True]])
    assert np.frombuffer(hidden.map.values, "<u2").tolist()[1] == HIDDEN
    assert list(hidden.to_figure().data[0].z[0]) == [1.0, None]


def test_above_64_tokens_there_is_a_window_and_a_notice() -> None:
    weights = torch.eye(70, 90)
    view = attention_view(weights)
    assert view.map.shape == [1, 1, 64, 64]
    assert "There are 70 queries; the map shows 0 to 63. There are 90 keys" in view.notice
    first_query, first_key = view._first
    first_query.value, first_key.value = 6, 26
    assert view.map.query_words[0] == "6" and view.map.key_words[-1] == "89"
    view.query = 63
    assert view.line == "query 69 '69' looks most at key 69 '69' (1.00)."
    assert attention_view(torch.eye(64)).notice == ""


def test_layers_heads_and_kinds_are_chosen(right: Any) -> None:
    view = attention_view(recorded_translation(right.encoder_decoder_forward))
    assert view._kinds.options == ("encoder", "decoder", "cross")
    assert view.map.shape == [2, 4, 5, 5] and "encoder self-attention, encoder block 0" in view.map.title
    view.kind = "cross"
    assert (
        view.map.shape == [2, 4, 6, 5] and "cross-attention, decoder block 0: weights (h=4, T=6, S=5)" in view.map.title
    )
    assert view.map.query_words[1] == "1 le" and view.map.key_words[1] == "1 black"
    before = view.line
    view.layer, view.head = 1, 2
    assert "decoder block 1" in view.map.title and "head 2" in view.map.title and view.line != before


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-3.0, 5.0)])
def test_codes_are_near_the_numbers(low: float, high: float) -> None:
    values = torch.linspace(low, high, 1001)
    back = np.frombuffer(codes(values, low, high), "<u2").astype(float) / TOP * (high - low) + low
    assert abs(back - values.numpy()).max() <= (high - low) / TOP
    special = codes(
        torch.tensor([math.nan, math.inf, -math.inf, 0.0]), low, high, torch.tensor([True, False, True, True])
    )
    assert np.frombuffer(special, "<u2").tolist() == [NOT_A_NUMBER, TOP, HIDDEN, HIDDEN]


def test_a_record_names_its_tensor() -> None:
    cross = Attention("cross", torch.full((2, 3, 5), 0.2, dtype=torch.float64), layer=1)
    assert cross.title == "cross-attention, decoder block 1: weights (h=2, T=3, S=5)"
    with pytest.raises(ValueError, match="want 5 key words; there are 3"):
        Attention("cross", cross.weights, keys=("a", "b", "c"))


# the mask lab --------------------------------------------------------------------------------------------------------


def test_mask_lab_shows_what_each_mistake_does(right: Any) -> None:
    lab = mask_lab(right.masked_softmax, right.causal_mask, right.padding_mask)
    lab.place.value = "after it"
    assert "1 of 6 rows sum to 1" in lab.line and "query 0 '<s>' sums to" in lab.warnings[0]
    assert [wrong for _, wrong in lab.maps[2].sums] == [True] * 5 + [False]
    lab.place.value = "before the softmax"
    assert lab.warnings == []
    lab.diagonal.value = -1
    assert "1 row has no key left" in lab.line and "5 of 6 rows" in lab.line
    lab.diagonal.value = 0
    lab.number.value = "-1e9"
    assert "no hidden key is read" in lab.line
    lab.power.value = 10
    assert "hidden keys are read all the same" in lab.line and lab.maps[2].marks
    lab.number.value = "minus infinity"
    assert "no hidden key is read" in lab.line
    lab.padding.value = 6
    assert "6 rows have no key left" in lab.line and "0 of 6 rows" in lab.line


def test_mask_lab_shows_scores_where_the_softmax_fails(right: Any) -> None:
    def masked_softmax(scores: torch.Tensor, *_: Any) -> torch.Tensor:
        return scores @ torch.zeros(2, 2)

    lab = mask_lab(masked_softmax, right.causal_mask, right.padding_mask)
    assert "masked_softmax raised RuntimeError" in lab.problem and "(6, 6)" in lab.problem
    assert lab.maps[0].layout.display != "none" and lab.maps[2].layout.display == "none"
    assert lab.maps[1].texts.count("−∞") == 15


def test_mask_lab_uses_its_own_mask_where_yours_is_unusable(right: Any) -> None:
    lab = mask_lab(right.masked_softmax, lambda length: torch.ones(length, length).tril(), right.padding_mask)
    assert "bool mask of shape (6, 6)" in lab.problem
    assert "6 of 6 rows sum to 1" in lab.line


# the leak probe ------------------------------------------------------------------------------------------------------


def test_leak_probe_finds_the_future(right: Any) -> None:
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    causal = leak_probe(lambda x: right.masked_softmax(x @ x.T, right.causal_mask(5)) @ x, x)
    assert causal.leaks() == []
    causal.changed = 3
    assert causal.line == "Token 3 '3' changes: outputs 3 and 4 move, and none before it."
    leaking = leak_probe(lambda x: right.masked_softmax(x @ x.T) @ x, x)
    assert (4, 0) in leaking.leaks()
    leaking.changed = 1
    assert "a leak. Output 0 moves" in leaking.line
    assert leaking.to_figure().data[0].y[0] > 0


def test_leak_probe_sees_through_a_norm_and_changes_ids(right: Any) -> None:
    x = torch.randn(1, 4, 6, generator=torch.Generator().manual_seed(2))
    alone = leak_probe(right.layer_norm, x)
    assert [row[1] for row in alone.table().rows] == ["0", "1", "2", "3"]
    ids = leak_probe(lambda ids: ids.cumsum(-1)[..., None].float(), torch.tensor([[3, 1, 4]]), vocabulary=5)
    assert [row[1] for row in ids.table().rows] == ["0, 1, 2", "1, 2", "2"]


def test_leak_probe_refuses_shapes_in_words() -> None:
    with pytest.raises(ValueError, match=r"\(T, d\) or \(1, T, d\) is wanted; this one is \(2, 3, 4\)"):
        leak_probe(lambda x: x, torch.zeros(2, 3, 4))
    with pytest.raises(ValueError, match="3 tokens, and there are 2 words"):
        leak_probe(lambda x: x, torch.zeros(3, 4), "a b")
    assert "NaN" in leak_probe(lambda x: x / 0 * 0, torch.ones(2, 2)).warnings[0]


# cross-attention -----------------------------------------------------------------------------------------------------


def test_cross_view_shows_the_chapters_weights_and_is_not_square(right: Any) -> None:
    view = cross_view(right.cross_attention)
    assert view.map.shape == [1, 1, 3, 5]
    assert view.table().rows[1][:3] == ("1 aime", "1 love", "0.63")  # as the chapter prints
    assert "3 by 5, not square" in view.line
    view.padding.value = 2
    assert view.attention is not None
    assert view.attention.weights[..., 3:].sum() == 0 and view.map.key_words[3:] == ["3 <pad>", "4 <pad>"]
    view.roles.value = "source asks target"
    assert view.map.shape == [1, 1, 5, 3] and view.padding.disabled
    assert view.map.axes == ["query (source position, attends)", "key (target position, attended to)"]


def test_cross_view_notices_self_attention_under_the_wrong_name(right: Any) -> None:
    notebook: dict[str, Any] = {"multi_head_attention": right.multi_head_attention}
    exec(
        "def cross_attention(dec, enc, block, num_heads, enc_allowed=None):\n"
        "    return multi_head_attention(dec, dec, *block[4:8], num_heads)",
        notebook,
    )
    view = cross_view(notebook["cross_attention"])
    assert "Weights of shape (3, 3) were made; 3 target words that read 5 source words make (3, 5)" in view.problem
    assert view.attention is None


# the block -----------------------------------------------------------------------------------------------------------


def test_block_trace_ends_where_the_block_ends(right: Any) -> None:
    trace = VIEWS["block_trace"](right)
    assert len(trace.stages) == 10
    assert trace.notice == "Your decoder_block ends with the same numbers."
    assert [row[3] for row in trace.table().rows if "source enters" in row[3]] == ["enc: here the source enters"]
    trace.step = 9
    assert "Sizes of the tokens from 1.00 to 1.00" in trace.line
    trace.place.value = "before the sublayer"
    assert trace.stages[-1].name == "add" and max(trace.stages[-1].sizes) > 1.2 and trace.notice == ""
    trace.kept["cross-attention"].value = False
    assert [stage.reads for stage in trace.stages if stage.name == "cross-attention"] == ["nothing: it is left out"]


def test_block_trace_tells_another_order(right: Any) -> None:
    def decoder_block(dec: Any, *_: Any) -> Any:
        return dec

    f = SimpleNamespace(**{**vars(right), "decoder_block": decoder_block})
    assert "Your decoder_block ends elsewhere" in VIEWS["block_trace"](f).notice


def test_block_trace_shows_what_was_reached(right: Any) -> None:
    def cross_attention(*_: Any) -> Any:
        raise RuntimeError("boom")

    trace = VIEWS["block_trace"](SimpleNamespace(**{**vars(right), "cross_attention": cross_attention}))
    assert [stage.name for stage in trace.stages] == ["dec goes in", "self-attention", "add", "norm"]
    assert "cross_attention raised RuntimeError: boom" in trace.problem


# the shift -----------------------------------------------------------------------------------------------------------


def test_shift_view_tells_right_from_wrong_shifts(right: Any) -> None:
    view = shift_view(right.shift_right, right.encoder_decoder_forward, right.sequence_loss)
    assert view.line.startswith("6 of 6 best words are the labels")
    good = sum(loss or 0.0 for loss in view.losses)
    for shift in (0, 2):
        view.shift.value = shift
        assert "6 of 6" not in view.line and sum(loss or 0.0 for loss in view.losses) > 10 * good
    view.shift.value = 1
    view.padding.value = True
    assert view.losses[-2:] == [None, None] and view.table().rows[-1][4] == "not counted"
    assert view.line.startswith("6 of 6")


def test_shift_view_shows_predictions_without_a_loss(right: Any) -> None:
    def sequence_loss(*_: Any) -> Any:
        raise NotImplementedError

    view = shift_view(right.shift_right, right.encoder_decoder_forward, sequence_loss)
    assert view.problem.startswith("sequence_loss is not written yet")
    assert view.line.startswith("6 of 6 best words are the labels:")


# decoding ------------------------------------------------------------------------------------------------------------


def test_decode_stepper_walks_back_and_forth(right: Any) -> None:
    stepper = VIEWS["decode_stepper"](right)
    for _ in range(20):
        stepper.forward.click()
    assert stepper._translator.text(stepper.prefix) == "le chat noir est petit"
    assert "because </s>" in stepper.stopped and stepper.forward.disabled
    assert "Your seq2seq_greedy_decode says the same." in stepper.line
    stepper.back.click()
    assert stepper.stopped == "" and stepper.reading is not None
    assert float(stepper.reading.sum()) == pytest.approx(1.0, abs=1e-6)
    stepper.reset.click()
    assert stepper.position == 0 and len(stepper.prefix) == 1 and stepper.back.disabled


def test_decode_stepper_can_be_overruled(right: Any) -> None:
    stepper = VIEWS["decode_stepper"](right)
    stepper.position = 2
    stepper.overrule("vert")
    assert "'vert', overruled" in stepper.line
    stepper.position = 16
    assert stepper._translator.text(stepper.prefix).startswith("le chat vert est")
    assert "seq2seq_greedy_decode" not in stepper.line
    with pytest.raises(ValueError, match="not among the best 5"):
        stepper.overrule("aujourd'hui")
    stepper.reset.click()
    stepper.position = 16
    assert stepper._translator.text(stepper.prefix) == "le chat noir est petit"


def test_decode_stepper_tells_a_loop_that_says_something_else(right: Any) -> None:
    f = SimpleNamespace(**{**vars(right), "seq2seq_greedy_decode": lambda *_: torch.tensor([1, 5])})
    stepper = VIEWS["decode_stepper"](f)
    stepper.position = 16
    assert "says something else" in stepper.line


def test_decode_stepper_stops_at_the_budget(right: Any) -> None:
    f = SimpleNamespace(**{**vars(right), "next_token": lambda _: 5})
    stepper = VIEWS["decode_stepper"](f)
    stepper.position = 16
    assert "the budget of 16 words is spent" in stepper.stopped
    f.next_token = lambda logits: len(logits)
    assert "an id below 77 is wanted" in VIEWS["decode_stepper"](f).problem


# mine against expected -----------------------------------------------------------------------------------------------


def test_contrast_view_says_where_it_differs(right: Any) -> None:
    def decoder_block(dec: Any, enc: Any, block: Any, num_heads: int) -> Any:
        f = right
        dec = f.layer_norm(dec + f.multi_head_attention(dec, dec, *block[:4], num_heads))  # no causal mask
        dec = f.layer_norm(dec + f.cross_attention(dec, enc, block, num_heads))
        return f.layer_norm(dec + f.feed_forward(dec, block[8], block[9]))

    view = contrast_view(decoder_block)
    assert view.line == "Only the last row is right."
    assert [shown.layout.display for shown in view.maps] == ["", "", ""]
    assert view.maps[2].palette == "diverging" and view.maps[2].bounds[1] == -view.maps[2].bounds[0] > 0.1


def test_contrast_view_shows_the_right_one_alone_where_yours_has_another_shape() -> None:
    def causal_mask(length: int) -> Any:
        return torch.ones(length, length + 1, dtype=torch.bool)

    view = contrast_view(causal_mask)
    assert view.problem == "Yours has the shape (4, 5); (4, 4) is right."
    assert view.maps[0].layout.display == "none" and view.maps[1].layout.display == ""


def test_contrast_view_refuses_what_has_no_table() -> None:
    with pytest.raises(ValueError, match="no public example"):
        contrast_view(len)
