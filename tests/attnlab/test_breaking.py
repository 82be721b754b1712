"""The break-it lab: every mistake does what its words say, to the attention and to the sentence; predictions first."""

from __future__ import annotations

import json
from functools import cache

import plotly.graph_objects as go
import pytest
import torch

from attnlab import break_it
from attnlab.breaking import SENTENCES, BreakIt
from attnlab.fault import Fault, fault
from attnlab.library import forbidden
from attnlab.mistakes import MISTAKES, OUTCOMES, edited, outcome, translated
from attnlab.recording import record
from attnlab.translator import load_translator
from attnlab.vocabulary import BOS, EOS

ALL = {mistake.id: (lesson, mistake) for lesson, mistakes in MISTAKES.items() for mistake in mistakes}

BECOMES = {
    "future_is_read": ("short", "stays"),
    "diagonal_hidden": ("short", "short"),
    "triangle_turned": ("short", "other"),
    "hidden_score_is_0": ("stays", "some"),
    "struck_out_after": ("stays", "stays"),
    "penalty_of_1e9": ("stays", "stays"),
    "softmax_over_queries": ("short", "short"),
    "source_not_read": ("other", "other"),
    "keys_and_values_swapped": ("other", "other"),
    "heads_interleaved": ("other", "other"),
    "merged_without_moving": ("other", "other"),
    "not_scaled": ("stays", "some"),
    "scaled_by_sqrt_d": ("stays", "stays"),
    "no_residual": ("some", "some"),
    "answer_thrown_away": ("other", "other"),
    "network_left_out": ("some", "endless"),
    "no_norm": ("some", "other"),
    "no_bend": ("some", "some"),
    "query_is_stale": ("stays", "stays"),
    "spread_over_d_minus_1": ("stays", "stays"),
    "no_source_positions": ("places", "some"),
    "positions_backwards": ("places", "places"),
    "encoder_is_causal": ("stays", "stays"),
    "one_block_for_all": ("stays", "endless"),
    "ids_off_by_one": ("other", "other"),
    "embeddings_scaled": ("some", "some"),
}
"""Mistake to what becomes of the lab's two sentences."""


@cache
def said(name: str, text: str) -> list[int]:
    return translated(edited(ALL[name][1] if name else None), load_translator(), text)


def lab(name: str, kind: str = "") -> BreakIt:
    """The lab of the mistake's lesson after a prediction."""
    view = break_it(ALL[name][0])
    view.fault.value = name
    view.kind.value = kind or view.kind.value
    view.prediction.value = "stays"
    return view


def map_of(name: str, kind: str = "", which: int = 1) -> torch.Tensor:
    """The attention that the lab shows, mean of the heads; which: 0 as it should be, 1 with the mistake."""
    return lab(name, kind)._seen[which].weights.mean(dim=0)


def test_ids_are_unique_and_everything_is_said() -> None:
    mistakes: list[Fault] = [mistake for _, mistake in ALL.values()]
    assert len(mistakes) == sum(map(len, MISTAKES.values()))
    assert all(m.words and m.help and m.symptom for m in mistakes)
    assert all(len(of_lesson) >= 5 for of_lesson in MISTAKES.values())


def test_without_a_mistake_the_translation_is_right() -> None:
    spoken = [load_translator().text(said("", text)) for text in SENTENCES]
    assert spoken == ["le chat noir est petit", "le vieux cheval n'aime pas le petit oiseau"]


@pytest.mark.parametrize("name", ALL)
def test_what_becomes_of_the_sentences(name: str) -> None:
    assert tuple(outcome(said("", text), said(name, text)) for text in SENTENCES) == BECOMES[name]


def test_every_lesson_has_a_mistake_that_stays_and_ones_that_do_not() -> None:
    for lesson, mistakes in MISTAKES.items():
        first = {BECOMES[mistake.id][0] for mistake in mistakes}
        assert "stays" in first and len(first) >= 2, lesson


def test_outcomes_are_told_apart() -> None:
    right = [BOS, 5, 6, 7, 8, EOS]
    cases = {
        "stays": right,
        "some": [BOS, 5, 6, 9, 8, EOS],
        "places": [BOS, 6, 5, 7, 8, EOS],
        "other": [BOS, 9, 9, 9, 8, EOS],
        "short": [BOS, 5, EOS],
        "endless": [BOS, 5, 6, 7, 8, 8],
    }
    assert {name: outcome(right, ids) for name, ids in cases.items()} == {name: name for name in OUTCOMES}


def test_an_edit_that_no_longer_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="exactly once in the library's layer_norm"):
        edited(fault("x", "layer_norm", "no such text", "b", words="w", help="h", symptom="s"))


def test_nobody_hands_it_in() -> None:
    args = (edited(), load_translator(), SENTENCES[0])
    ran = record(lambda *_: translated(*args), ()).library
    for exercise in ("seq2seq_greedy_decode", "decoder_block", "encode"):
        assert forbidden(exercise, ran) == f"stand_in:{exercise}"


# what the words say ---------------------------------------------------------------------------------------------------


def test_words_about_masks() -> None:
    right = map_of("future_is_read", which=0)
    assert not right.triu(1).any()
    for name in ("future_is_read", "hidden_score_is_0", "triangle_turned"):
        assert map_of(name).triu(1).any() or len(map_of(name)) == 1, name
    assert float(map_of("diagonal_hidden")[0].sum()) == 0
    assert (map_of("struck_out_after").sum(dim=-1)[:-1] < 0.99).all()
    torch.testing.assert_close(map_of("penalty_of_1e9"), right)
    columns = lab("softmax_over_queries")._seen[1].weights.sum(dim=-2)
    torch.testing.assert_close(columns, torch.ones_like(columns))


def test_words_about_attention() -> None:
    for name in ("source_not_read", "answer_thrown_away"):
        assert said(name, SENTENCES[0]) == said(name, SENTENCES[1])
    right = map_of("not_scaled", which=0).amax(dim=-1).mean()
    assert map_of("not_scaled").amax(dim=-1).mean() > right + 0.05
    assert map_of("scaled_by_sqrt_d").amax(dim=-1).mean() < right - 0.02


def test_words_about_blocks() -> None:
    x, functions = torch.randn(4, 8, dtype=torch.float64), {name: edited(ALL[name][1]) for name in BECOMES}
    assert torch.equal(functions["no_norm"]["layer_norm"](x), x)
    off = functions["spread_over_d_minus_1"]["layer_norm"](x) / edited()["layer_norm"](x)
    torch.testing.assert_close(off, torch.full_like(off, (7 / 8) ** 0.5), rtol=1e-4, atol=0)
    w = torch.eye(8, dtype=torch.float64)
    torch.testing.assert_close(functions["no_bend"]["feed_forward"](x, w, w), x)
    stale = map_of("query_is_stale") - map_of("query_is_stale", which=0)
    assert 1e-3 < float(stale.abs().max()) < 0.5


def test_words_about_the_encoder() -> None:
    assert map_of("encoder_is_causal").triu(1).count_nonzero() == 0
    assert map_of("encoder_is_causal", which=0).triu(1).count_nonzero() > 0
    orders = ("the black cat is small", "the small cat is black")
    bag = [load_translator().text(said("no_source_positions", text)) for text in orders]
    assert bag[0] == bag[1]


# the view -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", MISTAKES)
def test_prediction_comes_first(lesson: str, capsys: pytest.CaptureFixture[str]) -> None:
    view = break_it(lesson)
    assert capsys.readouterr().out == ""
    assert view.broken == [] and view.maps[1].layout.display == "none"
    assert len(view.table().rows) == 1 and "Predict" in view.notice
    name = MISTAKES[lesson][0].id
    view.prediction.value = BECOMES[name][0]
    assert view.broken and "; as you predicted." in view.line and len(view.table().rows) == 2
    view.fault.value = MISTAKES[lesson][1].id
    assert view.prediction.value == "" and view.broken == []
    view.prediction.value = "places" if BECOMES[MISTAKES[lesson][1].id][0] != "places" else "stays"
    assert "not as you predicted" in view.line
    view.text.value = SENTENCES[1]
    assert view.prediction.value == ""


def test_every_attention_can_be_shown() -> None:
    for kind in ("encoder", "decoder", "cross"):
        assert lab("future_is_read", kind)._seen[1].kind == kind


def test_it_reads_without_a_kernel() -> None:
    view = lab("struck_out_after")
    assert type(view.to_figure()) is go.Figure
    bundle = view._repr_mimebundle_()
    json.dumps(bundle)
    for words in (view.heading, view.line, view.notice):
        assert words in bundle["text/plain"]
    assert bundle["text/html"].count("<table") == 3 and "<script" not in bundle["text/html"]
    assert all("query" in one.axes[0] and one.title for one in view.maps)


def test_an_answer_that_is_empty_or_endless_is_said_so() -> None:
    assert "it says: nothing. " in lab("diagonal_hidden").line
    view = break_it("03_decoder_block", SENTENCES[1])
    view.fault.value, view.prediction.value = "network_left_out", "endless"
    assert "without end" in view.line and "; as you predicted." in view.line


def test_unknown_lessons_and_words() -> None:
    with pytest.raises(LookupError, match="no mistakes for '05_greedy_decode'; there are for 01_mask, 02"):
        break_it("05_greedy_decode")
    with pytest.raises(ValueError, match="not learned 'purple' yet"):
        break_it("01_mask", "the purple cat")
    assert break_it("01_mask", "the cat is big").text.value == "the cat is big"
