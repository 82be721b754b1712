"""Device mistakes, all of them right on a CPU: each is caught without a GPU and costs the clause that says it alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from attnlab.examine import examine
from attnlab.exercises import EXERCISES
from attnlab.trial import LocalAnswer
from attnlab.verdict import Verdict
from grader.course import Course
from grader.judge import judge_exercise
from tests.gpu.answers import answer_in

COURSE = Course.find(Path(__file__).parent)
FILES = tuple(sorted((COURSE.root / "tests" / "devices").glob("*/*.py")))

CLAUSE = {
    "causal_mask": ("mask_is_where_asked", "made_on_the_device"),
    "padding_mask": ("padding_is_bool", "padding_is_boolean"),
    "masked_softmax": ("softmax_keeps_dtype", "keeps_dtype"),
    "split_heads": ("split_keeps_dtype", "keeps_dtype"),
    "merge_heads": ("merge_keeps_dtype", "keeps_dtype"),
    "attention": ("attention_keeps_dtype", "keeps_dtype"),
    "multi_head_attention": ("heads_keep_dtype", "keeps_dtype"),
    "cross_attention": ("cross_keeps_dtype", "keeps_dtype"),
    "layer_norm": ("norm_keeps_dtype", "keeps_dtype"),
    "gelu": ("gelu_keeps_dtype", "keeps_dtype"),
    "feed_forward": ("ff_keeps_dtype", "keeps_dtype"),
    "decoder_block": ("block_keeps_dtype", "keeps_dtype"),
    "positional_encoding": ("pe_is_of_the_default_dtype", "has_default_dtype"),
    "shift_right": ("shift_keeps_the_dtype", "ids_keep_their_dtype"),
    "encoder_block": ("block_keeps_the_dtype", "keeps_dtype"),
    "encode": ("encode_keeps_the_dtype", "keeps_dtype"),
    "encoder_decoder_forward": ("forward_keeps_the_dtype", "keeps_dtype"),
    "sequence_loss": ("loss_keeps_the_dtype", "keeps_dtype"),
    "next_token": ("token_is_an_integer", "id_is_one_integer"),
    "seq2seq_greedy_decode": ("decode_returns_a_row_of_ids", "result_is_a_row_of_ids"),
}
"""Exercise to the hidden and the public check whose clause says where the result lies."""

every_mistake = pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])


def words_of(path: Path) -> str:
    """What the learner is told, in part."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return doc.partition("Told: ")[2]


def test_there_are_mistakes_in_every_exercise_that_makes_tensors() -> None:
    assert len(FILES) >= 50
    assert {path.parent.name for path in FILES} == set(CLAUSE) == set(EXERCISES) - {"parameter_count", "beam_search"}


@every_mistake
def test_it_costs_the_clause_and_nothing_else(path: Path) -> None:
    exercise = path.parent.name
    row = judge_exercise(exercise, LocalAnswer(answer_in(path)), reference=COURSE.reference.functions, seed=5)
    assert [check.name for check in row.lost] == [CLAUSE[exercise][0]], row.lost
    (check,) = row.lost
    assert check.verdict is Verdict.FAILED and check.help
    assert words_of(path) in check.rationale, check.rationale


@every_mistake
def test_check_says_it_at_home(path: Path) -> None:
    results = examine(path.parent.name, answer_in(path)).results
    lost = [result for result in results if result.verdict is not Verdict.PASSED]
    text = path.read_text(encoding="utf-8")
    if '"cuda")' in text or ".cuda()" in text or 'device="cuda")' in text:
        assert any("take it from an input" in result.help for result in lost)  # there is none at home
    else:
        assert [result.name for result in lost] == [CLAUSE[path.parent.name][1]], lost
        assert words_of(path) in lost[0].rationale or path.parent.name == "causal_mask"
