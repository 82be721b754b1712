"""The hidden checks of lessons 1 to 3: right answers lose nothing, wrong ones what they ought to, whatever the seed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from attnlab.exercises import EXERCISES
from attnlab.fault import Fault
from attnlab.trial import LocalAnswer, Trial
from attnlab.verdict import Verdict
from grader.course import Course
from grader.faults import Library, read_faults
from grader.hidden import hidden_checks
from grader.judge import judge_exercise
from grader.ledger import ExerciseRow
from grader.measure import IDLE, IDLE_SHARE
from solutions.hidden import fingerprints
from solutions.hidden.inputs import BLOCK_NAMES, MODEL_NAMES, clear_cut, decoder_inputs, model, self_scores

LESSONS = ("01_mask", "02_cross_attention", "03_decoder_block")
MINE = tuple(e.name for e in EXERCISES.values() if e.lesson in LESSONS)
COURSE = Course.find(Path(__file__).parent)
RIGHT = COURSE.reference.functions
LIBRARY = Library(COURSE.reference, read_faults())
FAULTS = tuple(fault for fault in LIBRARY.faults if fault.exercise in MINE)
STYLES = tuple(sorted(p for e in MINE for p in (COURSE.root / "tests" / "styles" / e).glob("*.py")))

FEW = range(2)
MANY = range(2, 50)
"""Together 50 seeds, on which the same answer must score the same."""

every_exercise = pytest.mark.parametrize("exercise", MINE)
every_fault = pytest.mark.parametrize("fault", FAULTS, ids=[fault.id for fault in FAULTS])
every_style = pytest.mark.parametrize("path", STYLES, ids=[f"{path.parent.name}-{path.stem}" for path in STYLES])


def judged(exercise: str, answer: Callable[..., Any], seed: int) -> ExerciseRow:
    """The row of an answer. No check may break: a broken one costs no points, so it would be a way to earn them."""
    row = judge_exercise(exercise, LocalAnswer(answer), reference=RIGHT, seed=seed)
    assert not [check for check in row.checks if check.verdict is Verdict.BROKEN], row
    return row


def lost(row: ExerciseRow) -> tuple[str, ...]:
    return tuple(check.name for check in row.lost)


@cache
def faulty(fault: Fault, exercise: str, seed: int) -> ExerciseRow:
    return judged(exercise, LIBRARY.functions(fault)[exercise], seed)


def fault_named(id: str) -> Fault:
    return next(fault for fault in FAULTS if fault.id == id)


def styled(path: Path) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"__name__": "style"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    answer: Callable[..., Any] = namespace[path.parent.name]
    return answer


# the checks as a set --------------------------------------------------------------------------------------------------


@every_exercise
def test_points_add_up(exercise: str) -> None:
    assert sum(check.points for check in hidden_checks(exercise)) == EXERCISES[exercise].points


@every_exercise
def test_needs_name_earlier_checks_of_the_same_exercise(exercise: str) -> None:
    seen: list[str] = []
    for check in hidden_checks(exercise):
        assert set(check.needs) <= set(seen)
        seen.append(check.name)
    assert len(seen) == len(set(seen))


@every_exercise
def test_what_does_not_compare_values_waits_for_a_sign_of_life(exercise: str) -> None:
    first, *others = hidden_checks(exercise)
    assert first.points <= IDLE_SHARE * 2 * EXERCISES[exercise].points
    assert all(first.name in check.needs for check in others if check.kind != "value")


def meddling(right: Callable[..., Any], how: str) -> Callable[..., Any]:
    """The right answer, which then writes into its first input, answers in float32, or adds up the examples."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        value = right(*args, **kwargs)
        if how == "writes" and isinstance(args[0], torch.Tensor):
            args[0].add_(1)
        if how == "casts":
            return tuple(v.float() for v in value) if isinstance(value, tuple) else value.float()
        if how == "mixes" and isinstance(value, torch.Tensor) and value.dtype != torch.bool and value.dim():
            return value + value.sum(0)
        return value

    return answer


@every_exercise
def test_every_check_can_fail(exercise: str) -> None:
    """Some fault of the exercise's own text, an idle answer, or one that meddles fails it."""
    rows = [faulty(fault, exercise, 0) for fault in FAULTS if fault.exercise == exercise]
    rows += [judged(exercise, idle(RIGHT[exercise]), 0) for idle in IDLE.values()]
    rows += [judged(exercise, meddling(RIGHT[exercise], how), 0) for how in ("writes", "casts", "mixes")]
    failed = {check.name for row in rows for check in row.lost if check.verdict is not Verdict.SKIPPED}
    assert failed == {check.name for check in hidden_checks(exercise)}


# right answers --------------------------------------------------------------------------------------------------------


@every_exercise
@pytest.mark.parametrize("seed", range(5))
def test_the_reference_earns_everything(exercise: str, seed: int) -> None:
    assert lost(judged(exercise, RIGHT[exercise], seed)) == ()


@pytest.mark.slow
@every_exercise
def test_the_reference_earns_everything_with_any_seed(exercise: str) -> None:
    assert [lost(judged(exercise, RIGHT[exercise], seed)) for seed in MANY] == [()] * len(MANY)


@every_style
def test_a_style_earns_everything(path: Path) -> None:
    assert [lost(judged(path.parent.name, styled(path), seed)) for seed in FEW] == [()] * len(FEW)


@pytest.mark.seeds
@every_style
def test_a_style_earns_everything_with_any_seed(path: Path) -> None:
    assert [lost(judged(path.parent.name, styled(path), seed)) for seed in MANY] == [()] * len(MANY)


def test_every_exercise_has_styles() -> None:
    assert {path.parent.name for path in STYLES} == set(MINE)
    assert len(STYLES) >= 45


# wrong answers --------------------------------------------------------------------------------------------------------


def test_there_are_faults_enough() -> None:
    assert len(FAULTS) >= 75


@every_fault
def test_a_fault_costs_the_same_checks_with_every_seed(fault: Fault) -> None:
    first, *others = (lost(faulty(fault, fault.exercise, seed)) for seed in FEW)
    assert first
    assert others == [first] * len(others)


@pytest.mark.seeds
@every_fault
def test_a_fault_costs_the_same_checks_with_any_seed(fault: Fault) -> None:
    first = lost(faulty(fault, fault.exercise, 0))
    answer = LIBRARY.functions(fault)[fault.exercise]
    # a block costs five times what the others do, and its 44 faults would take as long as all the rest together
    seeds = MANY[:10] if fault.exercise == "decoder_block" else MANY
    assert [lost(judged(fault.exercise, answer, seed)) for seed in seeds] == [first] * len(seeds)


@pytest.mark.seeds
@every_fault
def test_a_fault_further_down_scores_the_same_with_every_seed(fault: Fault) -> None:
    for exercise in MINE:
        if fault.exercise in COURSE.reference.uses(exercise):
            answer = LIBRARY.functions(fault)[exercise]
            assert len({judged(exercise, answer, seed).points for seed in range(3)}) == 1, exercise


@pytest.mark.parametrize(
    ("id", "check"),
    [
        ("penalty_1e9", "block_masks_with_minus_infinity"),
        ("softmax_without_maximum", "block_is_stable"),
        ("norm_eps_outside_root", "block_norm_adds_eps"),
        ("gelu_erf", "block_uses_the_tanh_form"),
        ("causal_hides_nothing", "block_hides_the_future"),
        ("cross_causal", "block_reads_the_whole_source"),
        ("merge_not_transposed", "block_matches"),
        ("scale_d_model", "block_matches"),
        ("norm_over_examples", "block_keeps_examples_apart"),
        ("heads_single_precision", "block_keeps_dtype"),
    ],
)
def test_the_block_sees_faults_of_what_it_is_made_of(id: str, check: str) -> None:
    assert check in lost(faulty(fault_named(id), "decoder_block", 0))


@every_exercise
@pytest.mark.parametrize("idle", IDLE)
def test_doing_nothing_earns_next_to_nothing(exercise: str, idle: str) -> None:
    for seed in FEW:
        assert judged(exercise, IDLE[idle](RIGHT[exercise]), seed).points <= IDLE_SHARE * EXERCISES[exercise].points


def odd_values() -> Iterator[tuple[str, Any]]:
    yield "empty tensor", torch.zeros(0)
    yield "empty tuple", ()
    yield "tuple of nothing", (None, None)
    yield "dict", {"mixed": torch.zeros(2)}
    yield "number", math.nan
    yield "complex", torch.zeros(2, 3, 4, dtype=torch.complex128)
    yield "sparse", torch.eye(4, dtype=torch.float64).to_sparse()
    yield "without contents", torch.zeros(2, 3, 4, device="meta")
    yield "with gradient", torch.zeros(2, 3, 12, requires_grad=True)
    yield "many axes", torch.zeros((1,) * 12)
    yield "infinite", torch.full((2, 3, 12), math.inf)
    yield "three tensors", (torch.zeros(2, 4, 6), torch.zeros(2, 4, 4), torch.zeros(1))


@every_exercise
def test_odd_values_are_refused_and_break_nothing(exercise: str) -> None:
    for name, value in odd_values():
        row = judged(exercise, lambda *_, value=value, **__: value, 0)
        assert row.points <= IDLE_SHARE * row.max_points, name


@every_exercise
def test_odd_changes_of_right_values_break_nothing(exercise: str) -> None:
    """Right in kind and shape, odd in contents or in a later call: the checks look without stumbling."""

    def spoilt(change: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
        def form(value: Any) -> Any:
            return tuple(map(form, value)) if isinstance(value, tuple) else change(value)

        return lambda *args, **kwargs: form(RIGHT[exercise](*args, **kwargs))

    changes: list[Callable[[torch.Tensor], Any]] = [
        lambda t: t.double() * math.nan, lambda t: t.double() * math.inf, lambda t: t[..., :1], lambda t: t[:0],
        lambda t: t.unsqueeze(0), lambda t: t.flatten(), lambda t: t.numpy() if t.dtype != torch.bfloat16 else t,
        lambda t: t.to(torch.complex64), lambda t: t.to("meta"), lambda t: -t.double(), lambda t: t.double() * 1e300,
    ]  # fmt: skip
    for change in changes:
        assert judged(exercise, spoilt(change), 0).points < EXERCISES[exercise].points


# fair partial credit --------------------------------------------------------------------------------------------------

HALF = (
    "penalty_1e9", "penalty_1e4", "penalty_100", "penalty_added", "softmax_in_place", "softmax_single_precision",
    "empty_row_nan", "softmax_without_maximum", "causal_integers", "padding_without_query_axis", "padding_in_place",
    "attention_in_place", "attention_single_precision", "scale_missing", "scale_d_k", "scale_whole_root",
    "heads_single_precision", "heads_in_place", "scale_d_model", "heads_ignored", "cross_zeroes_padding_in_place",
    "cross_causal_when_square", "norm_eps_outside_root", "norm_eps_1e6", "norm_eps_missing", "norm_in_place",
    "norm_single_precision", "gelu_erf", "gelu_in_place", "gelu_single_precision", "ff_in_place",
    "ff_single_precision", "block_in_place", "block_single_precision", "spare_slot_as_bias",
)  # fmt: skip


@pytest.mark.parametrize("id", HALF)
def test_a_small_fault_leaves_at_least_half(id: str) -> None:
    row = faulty(fault_named(id), fault_named(id).exercise, 0)
    assert row.max_points / 2 <= row.points < row.max_points


@pytest.mark.parametrize(
    ("id", "checks"),
    [
        ("softmax_in_place", {"softmax_leaves_inputs"}),
        ("softmax_single_precision", {"softmax_keeps_dtype"}),
        ("penalty_1e9", {"hidden_keys_weigh_nothing", "empty_row_is_zero"}),
        ("empty_row_nan", {"empty_row_is_zero"}),
        ("scale_d_k", {"attention_weights_are_scaled"}),
        ("scale_d_model", {"heads_match"}),
        ("cross_causal_when_square", {"cross_is_never_causal"}),
        ("norm_eps_1e6", {"norm_adds_eps_inside_root"}),
        ("norm_eps_outside_root", {"norm_adds_eps_inside_root"}),
        ("gelu_erf", {"gelu_is_the_tanh_form"}),
        ("block_in_place", {"block_leaves_inputs"}),
        ("spare_slot_as_bias", {"block_ignores_spare_slots"}),
    ],
)
def test_one_fault_costs_its_own_checks(id: str, checks: set[str]) -> None:
    assert set(lost(faulty(fault_named(id), fault_named(id).exercise, 0))) == checks


def test_a_finite_penalty_costs_a_block_its_own_check_alone() -> None:
    assert lost(faulty(fault_named("penalty_1e9"), "decoder_block", 0)) == ("block_masks_with_minus_infinity",)


KEPT = {
    "self": {"block_reads_the_whole_source", "cross_attention_alone", "feed_forward_alone"},
    "cross": {"block_hides_the_future", "self_attention_alone", "feed_forward_alone"},
    "feed_forward": {"block_hides_the_future", "block_reads_the_whole_source", "self_attention_alone"},
}
ALWAYS_KEPT = {
    "block_depends_on_inputs", "block_ends_normalised", "block_keeps_examples_apart", "block_ignores_spare_slots",
    "block_leaves_inputs", "block_keeps_dtype",
}  # fmt: skip


@pytest.mark.parametrize(
    ("id", "sublayer"),
    [
        ("self_not_causal", "self"), ("self_keys_and_values_swapped", "self"), ("self_missing", "self"),
        ("self_one_head", "self"), ("block_cross_one_head", "cross"), ("cross_slots_transposed", "cross"),
        ("cross_causal_when_square", "cross"), ("feed_forward_slots_swapped", "feed_forward"),
        ("ff_gelu_missing", "feed_forward"), ("feed_forward_missing", "feed_forward"), ("gelu_erf", "feed_forward"),
    ],
)  # fmt: skip
def test_one_wrong_sublayer_keeps_what_is_not_its_own(id: str, sublayer: str) -> None:
    kept = {check.name for check in faulty(fault_named(id), "decoder_block", 0).checks} - set(
        lost(faulty(fault_named(id), "decoder_block", 0))
    )
    assert kept >= KEPT[sublayer] | ALWAYS_KEPT


def test_a_dtype_that_other_dtypes_refuse_to_meet_costs_its_check_alone() -> None:
    def answer(x: torch.Tensor, w_mlp1: torch.Tensor, w_mlp2: torch.Tensor) -> torch.Tensor:
        one = torch.ones(x.shape[-1], x.shape[-1], dtype=torch.float32).tril().triu()  # the identity, float32
        out: torch.Tensor = RIGHT["feed_forward"](x @ one, w_mlp1, w_mlp2)
        return out

    assert lost(judged("feed_forward", answer, 0)) == ("ff_keeps_dtype",)


def test_dropout_is_noticed() -> None:
    def answer(*args: Any) -> Any:
        return F.dropout(RIGHT["decoder_block"](*args), 0.1)

    row = judged("decoder_block", answer, 0)
    assert row.points == 0
    assert "dropout" in row.checks[0].help


# calls that are the exercise ------------------------------------------------------------------------------------------


HANDED_OVER: list[tuple[str, str, Callable[..., Any]]] = [
    ("attention", "sdpa", lambda q, k, v, allowed=None: (
        F.scaled_dot_product_attention(q, k, v, allowed), RIGHT["attention"](q, k, v, allowed)[1])),
    ("attention", "sdpa_math", lambda *args: torch._scaled_dot_product_attention_math(*args)),
    ("layer_norm", "functional", lambda x: F.layer_norm(x, x.shape[-1:])),
    ("layer_norm", "native", lambda x: torch.native_layer_norm(x, x.shape[-1:], None, None, 1e-5)[0]),
    ("layer_norm", "aten", lambda x: torch.ops.aten.layer_norm(x, x.shape[-1:])),
    ("layer_norm", "module", lambda x: nn.LayerNorm(x.shape[-1], elementwise_affine=False)(x)),
    ("layer_norm", "group", lambda x: F.group_norm(x.reshape(-1, x.shape[-1]), 1).reshape(x.shape)),
    ("gelu", "functional", lambda u: F.gelu(u, approximate="tanh")),
    ("gelu", "module", lambda u: nn.GELU("tanh")(u)),
    ("gelu", "in_place", lambda u: torch.ops.aten.gelu_(u.clone(), approximate="tanh")),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "name", "answer"), HANDED_OVER, ids=[f"{e}-{n}" for e, n, _ in HANDED_OVER])
def test_a_call_that_is_the_exercise_is_named(exercise: str, name: str, answer: Callable[..., Any]) -> None:  # noqa: ARG001
    row = judged(exercise, answer, 0)
    assert row.points == 0
    assert {check.verdict for check in row.checks} == {Verdict.FAILED}
    assert all("this exercise is to write that function" in check.rationale for check in row.checks)


@pytest.mark.parametrize("exercise", ["multi_head_attention", "cross_attention"])
def test_the_library_module_is_refused_where_it_is_the_exercise(exercise: str) -> None:
    def read(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, h: int) -> torch.Tensor:
        mha = nn.MultiheadAttention(x.shape[-1], h, bias=False, batch_first=True, dtype=x.dtype).requires_grad_(False)
        mha.in_proj_weight.copy_(torch.cat([w[0].T, w[1].T, w[2].T]))
        mha.out_proj.weight.copy_(w[3].T)
        out: torch.Tensor = mha(x, y, y)[0]
        return out

    def multi(x: torch.Tensor, y: torch.Tensor, *rest: Any) -> torch.Tensor:
        return read(x, y, torch.stack(rest[:4]), rest[4])

    def cross(x: torch.Tensor, y: torch.Tensor, block: torch.Tensor, h: int, *_: Any) -> torch.Tensor:
        return read(x, y, block[4:8], h)

    row = judged(exercise, multi if exercise == "multi_head_attention" else cross, 0)
    assert row.points == 0
    assert "multi" in row.checks[0].rationale.lower()


# what the learner reads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "exercise", "words"),
    [
        ("causal_inverted", "causal_mask", "opposite"),
        ("causal_flipped", "causal_mask", "transposed"),
        ("causal_additive", "causal_mask", "below zero"),
        ("mask_after_softmax", "attention", "sums to"),
        ("softmax_over_all_pairs", "masked_softmax", "whole matrix sums to 1"),
        ("softmax_over_queries", "masked_softmax", "columns sum to 1"),
        ("hidden_scores_zero", "masked_softmax", "has weight"),
        ("empty_row_even", "masked_softmax", "weight"),
        ("plus_infinity", "masked_softmax", "NaN"),
        ("norm_unbiased", "layer_norm", "(d-1)/d"),
        ("norm_not_centred", "layer_norm", "mean is off 0"),
        ("gelu_without_half", "gelu", "2 times"),
        ("self_not_causal", "decoder_block", "Row 0 of the output changes with token 3"),
        ("cross_causal_when_square", "cross_attention", "Only the last row is right"),
        ("norm_over_examples", "decoder_block", "Example 0"),
        ("heads_mask_of_first_example", "multi_head_attention", "of example 1"),
        ("norm_missing_after_feed_forward", "decoder_block", "variance"),
    ],
)
def test_the_trace_is_told(id: str, exercise: str, words: str) -> None:
    rationales = [check.rationale for check in faulty(fault_named(id), exercise, 0).lost]
    assert any(words in rationale for rationale in rationales), rationales


@every_fault
def test_every_lost_check_says_what_was_seen_and_what_to_do(fault: Fault) -> None:
    for check in faulty(fault, fault.exercise, 0).lost:
        assert check.rationale.endswith(".") or check.verdict is Verdict.ERRORED, check
        assert check.help or check.verdict in (Verdict.ERRORED, Verdict.SKIPPED) or "shape" in check.rationale, check


@every_fault
def test_no_hidden_number_is_told(fault: Fault) -> None:
    """No number in a rationale, to its last digit, is an entry of an input or of an expected output."""
    seen: list[torch.Tensor] = []

    def spy(*args: Any) -> Any:
        right = RIGHT[fault.exercise](*args)
        values = right if isinstance(right, tuple) else (right,)
        seen.extend(t.double() for t in (*args, *values) if torch.is_tensor(t))
        return LIBRARY.functions(fault)[fault.exercise](*args)

    told = [check.rationale for check in judged(fault.exercise, spy, 0).lost if check.verdict is Verdict.FAILED]
    # differences and sums have three digits; by those a number of an input would be known if it were told
    numbers = {text for text in re.findall(r"-?\d+\.\d+(?:e[+-]\d+)?", " ".join(told)) if len(text.strip("-0.")) >= 7}
    for tensor in seen:
        entries = {f"{entry:.6g}" for entry in tensor.flatten().tolist()}
        assert not numbers & entries


NO_TRACES = ("Fingerprint", "Seen", "first_seen", "from_inputs")
TRACES = [getattr(fingerprints, name) for name in fingerprints.__all__ if name not in NO_TRACES]
_numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, 1e-9, 1e300, -1e300, math.inf, -math.inf, math.nan])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_traces_stumble_over_nothing(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), max_size=4))
    count = math.prod(shape)
    finite = st.sampled_from([0.0, 1.0, 0.25, -3.0])
    got, want = (
        torch.tensor(data.draw(st.lists(kind, min_size=count, max_size=count)), dtype=torch.float64).reshape(shape)
        for kind in (_numbers, finite)
    )
    for trace in TRACES:
        seen = fingerprints.first_seen(got, want, [trace])
        assert seen is None or seen.words


# the inputs -----------------------------------------------------------------------------------------------------------


def drawn(seed: int) -> Trial:
    return Trial(LocalAnswer(RIGHT["decoder_block"]), seed=seed)


@pytest.mark.parametrize("name", BLOCK_NAMES)
def test_block_inputs_are_what_their_name_says(name: str) -> None:
    for seed in range(10):
        x = decoder_inputs(drawn(seed), name)
        assert not x.block[10:].any()
        assert RIGHT["decoder_block"](*x.args).isfinite().all()
        scores = self_scores(x.dec, x.dec, x.block[0], x.block[1], x.num_heads)
        if name == "huge_self":
            size = scores.abs().max()
            assert size > 1e10 and size < 1e12  # beyond every penalty in use, within what every style can do
        if name == "sharp_self":
            assert scores.max() > 710 and clear_cut(scores, torch.ones(3, 3, dtype=torch.bool).tril())
        if name == "faint":
            variance = x.dec.var(dim=-1, correction=0)
            assert variance.min() > 1e-7 and variance.max() < 1e-4  # within a factor of ten or so of eps


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_models_are_drawn_for_every_seed(name: str) -> None:
    for seed in range(5):
        m = model(drawn(seed), name)
        assert not m.dec_blocks[:, 10:].any()
        assert (m.src_ids == 0).any(dim=1).all() and (m.tgt_ids == 0).any(dim=1).all()
        assert RIGHT["encoder_decoder_forward"](*m.args).isfinite().all()


def test_the_same_seed_draws_the_same() -> None:
    for one, other in zip(decoder_inputs(drawn(3)).args, decoder_inputs(drawn(3)).args, strict=True):
        assert torch.equal(torch.as_tensor(one), torch.as_tensor(other))
    assert not torch.equal(decoder_inputs(drawn(3)).dec, decoder_inputs(drawn(4)).dec)
