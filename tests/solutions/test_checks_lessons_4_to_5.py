"""The hidden checks of lessons 4 and 5: right answers lose nothing, a fault costs its own checks, whatever the seed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attnlab.checking import Check
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
from solutions.hidden import decode_tables

COURSE = Course.find(Path(__file__).parent)
RIGHT = COURSE.reference.functions
MINE = tuple(e.name for e in EXERCISES.values() if e.lesson in ("04_full_forward", "05_greedy_decode"))
LIBRARY = Library(COURSE.reference, read_faults())
FAULTS = {fault.id: fault for fault in LIBRARY.faults if fault.exercise in MINE}
STYLES = tuple(sorted(p for e in MINE for p in (COURSE.root / "tests" / "styles" / e).glob("*.py")))

DRAWN = {"token_sampled", "decode_samples", "forward_dropout"}
"""Faults that draw at random in the answer itself: they lose points, but not the same each time."""

FEW, MANY = range(2), range(2, 50)
"""Together 50 seeds, on which the same answer must score the same."""

DECODE = "seq2seq_greedy_decode"

HEAVY = ("encoder_decoder_forward", DECODE)
"""They take a tenth of a second each, and their inputs leave no more to chance than the others', so fewer seeds do."""

each_exercise = pytest.mark.parametrize("exercise", MINE)
each_fault = pytest.mark.parametrize("id", FAULTS)
each_style = pytest.mark.parametrize("path", STYLES, ids=[f"{path.parent.name}-{path.stem}" for path in STYLES])


def judged(exercise: str, answer: Callable[..., Any], seed: int = 0) -> ExerciseRow:
    """The row of an answer. A broken check would be a way to earn points, so none may break."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the answer, which cost nothing
        row = judge_exercise(exercise, LocalAnswer(answer), reference=RIGHT, seed=seed)
    assert not [check for check in row.checks if check.verdict is Verdict.BROKEN], row
    return row


def lost(row: ExerciseRow) -> tuple[str, ...]:
    return tuple(check.name for check in row.lost)


@cache
def faulty(id: str, seed: int = 0) -> ExerciseRow:
    fault: Fault = FAULTS[id]
    return judged(fault.exercise, LIBRARY.functions(fault)[fault.exercise], seed)


@cache
def styled(path: Path) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"__name__": "style"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    answer: Callable[..., Any] = namespace[path.parent.name]
    return answer


# the checks as a set --------------------------------------------------------------------------------------------------


@each_exercise
def test_points_add_up(exercise: str) -> None:
    assert sum(check.points for check in hidden_checks(exercise)) == EXERCISES[exercise].points


@each_exercise
def test_needs_come_first_and_names_are_unique(exercise: str) -> None:
    seen: list[str] = []
    for check in hidden_checks(exercise):
        assert set(check.needs) <= set(seen)
        seen.append(check.name)
    assert len(set(seen)) == len(seen)


@each_exercise
def test_a_sign_of_life_comes_first_and_is_worth_little(exercise: str) -> None:
    first, *others = hidden_checks(exercise)
    assert first.points <= IDLE_SHARE * EXERCISES[exercise].points
    assert all(first.name in check.needs for check in others if check.kind != "value")


def _meddling(right: Callable[..., Any], how: str) -> Callable[..., Any]:
    """The right answer, which adds up the examples, or cannot do with little."""

    def answer(*args: Any) -> Any:
        value = right(*args)
        if how == "mixes" and isinstance(value, torch.Tensor) and value.dim() == 3:
            return value + value.sum(0)
        if how == "wants two" and isinstance(args[0], torch.Tensor) and args[0].numel() == 1:
            raise IndexError("index 1 is out of bounds")
        return value

    return answer


@each_exercise
def test_every_check_can_fail(exercise: str) -> None:
    """For some fault of the exercise's own text, an idle answer, or one that meddles."""
    rows = [faulty(id) for id, fault in FAULTS.items() if fault.exercise == exercise]
    rows += [judged(exercise, make(RIGHT[exercise])) for make in IDLE.values()]
    rows += [judged(exercise, _meddling(RIGHT[exercise], how)) for how in ("mixes", "wants two")]
    failed = {check.name for row in rows for check in row.lost if check.verdict is not Verdict.SKIPPED}
    assert failed == {check.name for check in hidden_checks(exercise)}


# right answers --------------------------------------------------------------------------------------------------------


@each_exercise
def test_the_reference_earns_everything(exercise: str) -> None:
    assert [lost(judged(exercise, RIGHT[exercise], seed)) for seed in range(5)] == [()] * 5


@pytest.mark.slow
@each_exercise
def test_the_reference_earns_everything_with_any_seed(exercise: str) -> None:
    assert {lost(judged(exercise, RIGHT[exercise], seed)) for seed in MANY} == {()}


@each_style
def test_a_style_earns_everything(path: Path) -> None:
    assert {lost(judged(path.parent.name, styled(path), seed)) for seed in FEW} == {()}


@pytest.mark.seeds
@each_style
def test_a_style_earns_everything_with_any_seed(path: Path) -> None:
    assert {lost(judged(path.parent.name, styled(path), seed)) for seed in MANY} == {()}


def test_every_exercise_has_styles() -> None:
    assert {path.parent.name for path in STYLES} == set(MINE)
    assert len(STYLES) >= 40


# faults ---------------------------------------------------------------------------------------------------------------


def test_there_are_faults_enough() -> None:
    assert len(FAULTS) >= 250
    assert {fault.exercise for fault in FAULTS.values()} == set(MINE)


@each_fault
def test_a_fault_costs_the_same_checks_with_every_seed(id: str) -> None:
    found = {lost(faulty(id, seed)) for seed in FEW[: 1 if FAULTS[id].exercise in HEAVY else 2]}
    assert () not in found
    assert len(found) == 1 or id in DRAWN


@pytest.mark.seeds
@each_fault
def test_a_fault_costs_the_same_checks_with_any_seed(id: str) -> None:
    fault = FAULTS[id]
    answer = LIBRARY.functions(fault)[fault.exercise]
    seeds = MANY[:12] if fault.exercise in HEAVY else MANY
    found = {lost(judged(fault.exercise, answer, seed)) for seed in seeds}
    assert found == {lost(faulty(id))} or (id in DRAWN and () not in found)


HALF = (
    "pe_double_precision", "pe_even_width_only", "pe_half_precision", "shift_casts_to_long", "shift_in_place",
    "encoder_in_place", "encoder_single_precision", "encode_in_place", "encode_single_precision",
    "encoder_needs_a_block", "source_ids_not_cast", "source_norm_after_the_blocks", "forward_in_place",
    "forward_single_precision", "forward_mixed_precision", "target_ids_not_cast", "norm_before_the_head",
    "decoder_needs_a_block", "decoder_first_block_only", "forward_spare_slots", "loss_in_place",
    "loss_single_precision", "loss_targets_not_cast", "loss_unstable", "loss_counts_padding", "count_as_float",
    "token_last_of_a_tie", "token_in_place", "token_as_float", "token_loop_from_zero", "decode_encodes_every_step",
    "decode_encodes_every_block", "decode_never_stops", "decode_drops_eos", "decode_stops_one_late",
    "decode_stops_at_zero", "decode_stops_at_zero_only", "decode_stops_at_two", "decode_stops_at_start",
    "decode_stops_at_a_repeat", "decode_tests_before_the_step", "decode_budget_counts_start",
    "decode_budget_one_more", "decode_at_least_one", "decode_fills_the_position_table", "decode_extra_pass",
    "decode_in_place", "decode_clears_spare_slots", "decode_single_precision", "decode_ids_not_cast",
    "decode_returns_a_list", "decode_returns_floats", "decode_returns_a_batch", "decode_drops_the_start",
    "decode_needs_a_block", "decode_ties_to_the_larger", "decode_last_token_only", "decode_no_causal_mask",
)  # fmt: skip


@pytest.mark.parametrize("id", HALF)
def test_a_small_fault_leaves_at_least_half(id: str) -> None:
    row = faulty(id)
    assert row.max_points / 2 <= row.points < row.max_points


@pytest.mark.parametrize(
    ("id", "checks"),
    [
        ("encoder_in_place", {"block_leaves_inputs_alone"}),
        ("source_ids_not_cast", {"encode_takes_float_ids"}),
        ("forward_mixed_precision", {"forward_keeps_the_dtype"}),
        ("forward_single_precision", {"forward_keeps_the_dtype"}),
        ("target_ids_not_cast", {"forward_takes_float_ids"}),
        ("norm_before_the_head", {"forward_takes_no_decoder_blocks"}),
        ("loss_log_of_softmax", {"loss_is_stable"}),
        ("loss_targets_not_cast", {"loss_takes_float_targets"}),
        ("token_softmax_first", {"token_of_close_scores"}),
        ("decode_never_stops", {"decode_stops_at_eos"}),
        ("decode_drops_eos", {"decode_keeps_eos"}),
        ("decode_pads_with_zero", {"decode_stops_at_eos"}),
        ("decode_tests_before_the_step", {"decode_goes_on_when_start_is_eos"}),
        ("decode_stops_at_start", {"decode_treats_no_other_id_as_special"}),
        ("decode_budget_counts_start", {"decode_spends_the_budget"}),
        ("decode_spares_a_row", {"decode_needs_no_more_position_rows"}),
        ("decode_extra_pass", {"decode_needs_no_more_position_rows"}),
        ("decode_softmax_first", {"decode_compares_raw_scores"}),
        ("decode_no_causal_mask", {"decode_runs_the_model"}),
        ("decode_encodes_every_step", {"decode_encodes_once"}),
        ("decode_encodes_every_block", {"decode_encodes_once"}),
        ("decode_spare_slots", {"decode_ignores_the_spare_slots"}),
        ("decode_in_place", {"decode_leaves_inputs_alone"}),
        ("decode_single_precision", {"decode_takes_every_float_dtype"}),
        ("decode_ids_not_cast", {"decode_takes_float_ids"}),
        ("beam_ties_to_the_larger", {"beam_breaks_ties_to_the_smaller"}),
        ("beam_raw_scores", {"beam_adds_log_probabilities"}),
        ("beam_start_is_finished", {"beam_minds_start_and_budget"}),
    ],
)
def test_one_fault_costs_its_own_checks(id: str, checks: set[str]) -> None:
    assert set(lost(faulty(id))) == checks


@pytest.mark.parametrize(
    ("id", "checks"),
    [
        ("penalty_1e9", {"forward_masks_with_minus_infinity"}),
        ("norm_eps_outside_root", {"forward_puts_eps_inside_the_root"}),
        ("gelu_erf", {"forward_uses_the_tanh_gelu"}),
        ("cross_causal_when_square", {"forward_reads_the_whole_source_at_equal_lengths"}),
    ],
)
def test_a_fault_further_down_costs_the_whole_model_its_own_check(id: str, checks: set[str]) -> None:
    fault = next(fault for fault in LIBRARY.faults if fault.id == id)
    row = judged("encoder_decoder_forward", LIBRARY.functions(fault)["encoder_decoder_forward"])
    assert checks <= set(lost(row))
    assert row.points >= row.max_points / 2


# answers that do nothing, and odd ones --------------------------------------------------------------------------------


@each_exercise
@pytest.mark.parametrize("idle", IDLE)
def test_doing_nothing_earns_next_to_nothing(exercise: str, idle: str) -> None:
    for seed in FEW:
        assert judged(exercise, IDLE[idle](RIGHT[exercise]), seed).points <= IDLE_SHARE * EXERCISES[exercise].points


@each_exercise
@pytest.mark.parametrize("position", range(4))
def test_returning_an_input_earns_next_to_nothing(exercise: str, position: int) -> None:
    row = judged(exercise, lambda *args: args[min(position, len(args) - 1)])
    assert row.points <= IDLE_SHARE * row.max_points


@pytest.mark.parametrize("exercise", [DECODE, "beam_search"])
def test_the_start_token_alone_earns_next_to_nothing(exercise: str) -> None:
    row = judged(exercise, lambda *args: torch.tensor([args[9]]))
    assert row.points <= IDLE_SHARE * row.max_points
    assert len(row.lost) > 1


ODD: dict[str, Any] = {
    "none": None,
    "text": "le chat",
    "empty tensor": torch.zeros(0),
    "empty list": [],
    "nested list": [[1], [2]],
    "dict": {"logits": torch.zeros(2)},
    "nan": math.nan,
    "truth": True,
    "complex": torch.zeros(2, 3, 4, dtype=torch.complex128),
    "sparse": torch.eye(4, dtype=torch.float64).to_sparse(),
    "without contents": torch.zeros(2, 3, 4, device="meta"),
    "many axes": torch.zeros((1,) * 12),
    "infinite": torch.full((2, 3, 12), math.inf),
    "ids that are no numbers": [math.nan, math.inf, None],
}


@each_exercise
@pytest.mark.parametrize("odd", ODD)
def test_odd_values_are_refused_and_break_nothing(exercise: str, odd: str) -> None:
    row = judged(exercise, lambda *_: ODD[odd])
    assert row.points <= IDLE_SHARE * row.max_points


def _of_tensors(change: Callable[[torch.Tensor], Any]) -> Callable[[Any], Any]:
    return lambda value: change(value if isinstance(value, torch.Tensor) else torch.tensor(value))


@each_exercise
def test_odd_changes_of_right_values_break_nothing(exercise: str) -> None:
    changes = map(
        _of_tensors,
        (
            lambda t: t.double() * math.nan, lambda t: t.double() * math.inf, lambda t: t[None, None], lambda t: {t},
            lambda t: t.to(torch.complex64), lambda t: t.to("meta"), lambda t: -t.double(), lambda t: t.to_sparse(),
            lambda t: t.double() + 0.5, lambda t: t.tolist() if t.dim() == 0 else t.flatten().tolist()[:-1],
        ),
    )  # fmt: skip
    for change in changes:
        row = judged(exercise, lambda *args, change=change: change(RIGHT[exercise](*args)))
        assert row.lost or exercise in ("next_token", "parameter_count")  # a number as a list is a number still


# calls that are the exercise ------------------------------------------------------------------------------------------


def _library_layer(enc: torch.Tensor, block: torch.Tensor, num_heads: int) -> torch.Tensor:
    """The library's encoder layer with the weights in it."""
    d = enc.shape[-1]
    layer = nn.TransformerEncoderLayer(d, num_heads, d, 0.0, nn.GELU("tanh"), batch_first=True, bias=False)
    layer = layer.to(enc.dtype).requires_grad_(False).eval()
    layer.self_attn.in_proj_weight.copy_(torch.cat([w.T for w in block[:3]]))
    layer.self_attn.out_proj.weight.copy_(block[3].T)
    layer.linear1.weight.copy_(block[4].T)
    layer.linear2.weight.copy_(block[5].T)
    out: torch.Tensor = layer(enc)
    return out


def _with_library_layers(*args: Any) -> torch.Tensor:
    """encode, and the whole model, with library encoder layers."""
    ids, table, positions, blocks, heads = args if len(args) == 5 else (*args[:1], args[2], args[4], args[6], args[9])
    enc = table[ids.long()] + positions
    for block in blocks:
        enc = _library_layer(enc, block, heads)
    return enc if len(args) == 5 else enc @ args[8]


@pytest.mark.parametrize(
    ("exercise", "named", "answer"),
    [
        ("encoder_block", "TransformerEncoderLayer", _library_layer),
        ("encode", "TransformerEncoderLayer", _with_library_layers),
        ("encoder_decoder_forward", "TransformerEncoderLayer", _with_library_layers),
        ("sequence_loss", "cross_entropy", lambda x, y, pad=None: F.cross_entropy(
            x.flatten(0, 1), y.long().flatten(), ignore_index=-100 if pad is None else pad)),
        ("sequence_loss", "CrossEntropyLoss", lambda x, y, pad=None: nn.CrossEntropyLoss(
            ignore_index=-100 if pad is None else pad)(x.transpose(1, 2), y.long())),
        ("sequence_loss", "nll_loss", lambda x, y, pad=None: F.nll_loss(
            x.log_softmax(-1).flatten(0, 1), y.long().flatten(), ignore_index=-100 if pad is None else pad)),
        ("sequence_loss", "cross_entropy", lambda x, y, pad=None: torch.ops.aten.cross_entropy_loss(
            x.flatten(0, 1), y.long().flatten(), None, 1, -100 if pad is None else pad)),
    ],
)  # fmt: skip
def test_a_call_that_is_the_exercise_is_named(exercise: str, named: str, answer: Callable[..., Any]) -> None:
    row = judged(exercise, answer)
    assert row.points == 0
    assert {check.verdict for check in row.checks} == {Verdict.FAILED}
    assert named.lower()[:8] in row.checks[0].rationale.lower()
    assert "this exercise is to write that function" in row.checks[0].rationale


# what the learner reads -----------------------------------------------------------------------------------------------


@each_exercise
def test_every_lost_check_says_why_and_what_to_do(exercise: str) -> None:
    for id, fault in FAULTS.items():
        if fault.exercise == exercise:
            for check in faulty(id).lost:
                assert check.rationale
                assert check.help or check.verdict in (Verdict.SKIPPED, Verdict.ERRORED) or "wanted" in check.rationale


def test_no_rationale_of_decoding_quotes_the_tokens() -> None:
    """Two answers that choose other tokens of equal number are told the same."""
    scores, ids = [], (1, 2)
    for shift in ids:
        answer = lambda *args, shift=shift: (RIGHT[DECODE](*args) + shift) % args[2].shape[0]  # noqa: E731
        scores.append([check.rationale for check in judged(DECODE, answer).lost])
    assert scores[0] == scores[1]


# the inputs of decoding -----------------------------------------------------------------------------------------------


def _trial(seed: int) -> Trial:
    return Trial(LocalAnswer(lambda: None), seed=seed)


@pytest.mark.parametrize(("encoder_blocks", "decoder_blocks"), [(2, 2), (0, 1), (1, 1)])
def test_the_models_choices_are_clear_and_never_small_ids(encoder_blocks: int, decoder_blocks: int) -> None:
    for seed in FEW:
        d = decode_tables.model(_trial(seed), encoder_blocks=encoder_blocks, decoder_blocks=decoder_blocks)
        ids = RIGHT[DECODE](*d.args)
        assert ids.min() >= decode_tables.SMALL
        assert d.eos not in ids
        assert 0 in d.src_ids
        scores = RIGHT["encoder_decoder_forward"](
            d.src_ids[None], ids[None, :-1], d.src_emb, d.tgt_emb, d.enc_pos_embed, d.dec_pos_embed[: d.budget],
            d.enc_blocks, d.dec_blocks, d.w_head, d.num_heads,
        )[0]  # fmt: skip
        best, second = scores.topk(2).values.unbind(-1)
        assert (best - second).min() > decode_tables.GAP
        assert (best.bfloat16() > second.bfloat16()).all()


def test_the_model_is_the_same_under_other_names() -> None:
    one, two = (decode_tables.model(_trial(seed)) for seed in FEW)
    assert not torch.equal(one.tgt_emb, two.tgt_emb)
    assert torch.equal(one.tgt_emb[RIGHT[DECODE](*one.args)], two.tgt_emb[RIGHT[DECODE](*two.args)])


def test_a_chain_is_followed_and_a_wrong_turn_is_final() -> None:
    scores = decode_tables.chain(_trial(0), {2: 3, 3: 0}, 6, eos=5)
    best = scores.argmax(dim=1)
    assert best.tolist() == [0, 1, 3, 0, 4, 5]
    assert torch.equal(scores, scores.bfloat16().double())
    assert (scores.topk(2).values.diff() <= -1).all()


def test_empty_blocks_keep_every_choice() -> None:
    scores = decode_tables.chain(_trial(1), {2: 3, 3: 0, 0: 4}, 6, eos=5)
    positions = torch.zeros(4, 6, dtype=torch.float64)
    d = decode_tables.table(_trial(1), scores, positions, start=2, eos=5, budget=4)
    assert torch.equal(RIGHT[DECODE](*d.args), RIGHT[DECODE](*d.with_empty_blocks.args))


def test_every_hidden_check_has_a_clause() -> None:
    checks: list[Check] = [check for exercise in MINE for check in hidden_checks(exercise)]
    assert all(check.clause.endswith(".") for check in checks)
