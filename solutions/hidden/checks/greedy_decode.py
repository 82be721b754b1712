"""Hidden checks of lesson greedy_decode: the next token, the greedy loop, the beam.

Each clause of the loop is asked about alone: where a check is not about the budget it looks at the tokens before the
last step, where it is not about the form of the result it reads the ids from whatever form they come in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.compare import describe, difference
from attnlab.placement import stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed, Verdict
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import outcome_of, readable, untouched
from solutions.hidden.decode_tables import Decoding, chain, log_table, model, table

_INTEGERS = (torch.int32, torch.int64)


# next_token -----------------------------------------------------------------------------------------------------------


@check_of("next_token", points=0.375, kind="contract")
def token_depends_on_the_scores(trial: Trial) -> None:
    """An id of the vocabulary that follows the scores, the same on every call."""
    V = 256  # so many, and so near each other, that a draw never falls on the same word three times
    found = []
    for best in (200, 200, 200, 7, 90):
        scores = torch.zeros(V, dtype=torch.float64)
        scores[best] = 1.0
        found.append(_id(trial.call(scores), V))
    if len(set(found[:3])) != 1:
        raise Failed("Calls with the same scores gave different ids.", "Greedy decoding never samples.")
    if len(set(found)) != 3:
        raise Failed("Different scores gave the same id.", "The id is the index of the largest score.")


def _id(value: Any, vocabulary: int) -> int:
    if readable(value) and value.numel() == 1:
        value = value.reshape(()).item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Failed(f"It returned {describe(value)}; one id is wanted.", "Return int(...) of an index.")
    if value != int(value if abs(value) < 2**53 else -1) or not 0 <= value < vocabulary:  # beyond 2^53 no id, nor NaN
        raise Failed(
            "It returned a number that is no id of the vocabulary.", "An index, not a score, and counted from 0."
        )
    return int(value)


@check_of("next_token", points=0.75)
def token_has_the_largest_score(trial: Trial) -> None:
    """The index of the largest score, wherever it stands."""
    for best in (0, 3, 6):
        scores = torch.randperm(7, generator=trial.random).to(torch.float64) - 3.0
        scores[best] = 4.0
        agrees(trial, scores, help="The first and the last id are ids like any other.")


@check_of("next_token", points=0.375)
def token_of_negative_scores(trial: Trial) -> None:
    """Scores may all be negative, and small in size is not large."""
    for best in (2, 5):  # never id 0, at which a search from 0 would stay
        scores = -5.0 - torch.randperm(6, generator=trial.random).to(torch.float64)
        scores[best] = -4.0
        agrees(trial, scores, help="Begin the search with the first score, not with 0.")
    agrees(
        trial, torch.tensor([2.0, -9.0, 3.0, -4.0], dtype=torch.float64), help="A large negative score is a small one."
    )


@check_of("next_token", points=0.75)
def token_of_a_tie_is_the_smallest(trial: Trial) -> None:
    """Of exactly equal scores the smallest index is taken."""
    lift = float(torch.randint(1, 5, (), generator=trial.random))
    for pattern in _TIES:
        agrees(
            trial,
            torch.tensor(pattern, dtype=torch.float64) + lift,
            help="argmax and max() keep the first; topk and sort need not.",
        )


_TIES: tuple[tuple[int, ...], ...] = (
    (0, 2, 1, 2, 2),
    (1, 1),
    (3, 0, 1, 2, 3, 0, 3),
    (0,) * 40,
    (0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1),
)
"""Patterns of ties, with two and with many winners. topk takes a later one in some of them, and so does any search that
lets an equal score win."""


@check_of("next_token", points=0.5)
def token_of_close_scores(trial: Trial) -> None:
    """Close scores are no tie, however close."""
    for low, high in ((1.0, 1.001), (1e-17, 2e-17), (-2e-17, -1e-17)):
        scores = torch.tensor([low - 1.0, low, high, low - 2.0], dtype=torch.float64)
        agrees(
            trial,
            scores,
            help="Compare the scores as they are: softmax, rounding and short dtypes make ties of close ones.",
        )


@check_of("next_token", points=0.375)
def token_of_extreme_scores(trial: Trial) -> None:
    """Scores near the limits of their dtype are compared like others."""
    for dtype in (torch.float64, torch.float32):
        most = torch.finfo(dtype).max
        agrees(trial, torch.tensor([-most, most / 2, most, 0.0], dtype=dtype), help="exp of such a score overflows.")
        agrees(
            trial, torch.tensor([-most, -most / 2, -most / 4, -most], dtype=dtype), help="No fixed number is lowest."
        )


@check_of("next_token", points=0.25, needs=("token_depends_on_the_scores",))
def token_of_one_word(trial: Trial) -> None:
    """A vocabulary of one word has one answer."""
    agrees(trial, trial.normal(1), help="Do not squeeze the only axis away.")


@check_of("next_token", points=0.375, kind="contract", needs=("token_depends_on_the_scores",))
def token_is_an_integer(trial: Trial) -> None:
    """The id is an int, or a 0-dim tensor of integers on the scores' device."""
    value = trial.call(trial.normal(6))
    whole = isinstance(value, torch.Tensor) and value.shape == () and value.dtype in _INTEGERS
    if not whole and (isinstance(value, bool | torch.Tensor) or not isinstance(value, int)):
        raise Failed(
            f"It returned {describe(value)}; an int is wanted.", "int(...) makes one of a tensor of one entry."
        )
    stays_on_device(trial, trial.normal(6))


@check_of("next_token", points=0.25, kind="contract", needs=("token_depends_on_the_scores",))
def token_leaves_scores_alone(trial: Trial) -> None:
    """The scores are unchanged afterwards."""
    untouched(trial, trial.normal(6))


# seq2seq_greedy_decode ------------------------------------------------------------------------------------------------


@check_of("seq2seq_greedy_decode", points=1.0, kind="contract")
def decode_appends_a_token(trial: Trial) -> None:
    """A first token is appended that follows the start token's scores, the same on every call."""
    for first in (3, 3, 5):
        scores = chain(trial, {2: first, 3: 4, 5: 4}, 7, 1)
        _leads(
            trial,
            table(trial, scores, _none(5, 7), start=2, eos=1, budget=2),
            1,
            "The loop runs at least once for a budget of 2.",
        )


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_starts_with_the_start_token(trial: Trial) -> None:
    """The result begins with the start token."""
    d = table(trial, chain(trial, {4: 2, 2: 3}, 6, 1), _none(4, 6), start=4, eos=1, budget=2)
    tokens, _ = _decoded(trial, d)
    if len(tokens) < 2 or tokens[0] != d.start:
        raise Failed("The first id is not the start token.", "Begin with seq = [start_token_id] and return all of it.")


@check_of("seq2seq_greedy_decode", points=1.0)
def decode_follows_the_last_token(trial: Trial) -> None:
    """Each token is the best one after the token before it."""
    words = (torch.randperm(3, generator=trial.random) + 1).tolist()  # then 4, so that stopping at any of them shows
    d = table(trial, chain(trial, dict(pairwise([6, *words, 4, 5])), 8, 7), _none(8, 8), start=6, eos=7, budget=5)
    _leads(trial, d, 4, "Scores come from the last position: dec[-1] @ w_head, then the index of the largest.")


@check_of("seq2seq_greedy_decode", points=0.75)
def decode_gives_each_position_its_row(trial: Trial) -> None:
    """A prefix of n tokens uses position rows 0 ... n - 1, and no others."""
    words = [*(torch.randperm(3, generator=trial.random) + 1).tolist(), 4, 5]
    positions = _none(8, 8)
    positions[:, 7] = 500.0  # a row that is never to be read, or read too early, would choose EOS
    for p, word in enumerate(words):
        positions[p] = 0.0
        positions[p, word] = 200.0  # above all that the words' own scores can say
    scores = chain(trial, dict.fromkeys(range(1, 8), 0), 8, 7)
    scores.fill_diagonal_(-60.0)  # so that a head made of the embeddings chooses another word
    d = table(trial, scores, positions, start=6, eos=7, budget=5)
    _leads(trial, d, 4, "dec = tgt_emb[seq] + dec_pos_embed[: len(seq)]: the newest token gets row len(seq) - 1.")


@check_of("seq2seq_greedy_decode", points=1.0)
def decode_treats_no_other_id_as_special(trial: Trial) -> None:
    """Id 0, the start token, and words that came before may all come again; EOS alone ends the loop."""
    d = table(trial, chain(trial, {3: 0, 0: 5, 5: 2, 2: 3}, 6, 4), _none(11, 6), start=3, eos=4, budget=9)
    _leads(trial, d, 8, "Nothing but eos_token_id ends the loop, and no word is banned.")


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_stops_at_eos(trial: Trial) -> None:
    """Nothing follows the first EOS that is appended."""
    for eos, then in ((5, 1), (0, 2)):
        d = table(trial, chain(trial, {3: 4, 4: eos, eos: then}, 6, eos), _none(9, 6), start=3, eos=eos, budget=6)
        tokens, expected = _decoded(trial, d)
        if len(tokens) > len(expected):
            raise Failed(
                f"It returned {len(tokens)} ids although EOS came as number {len(expected)}.",
                "Compare the token just appended with eos_token_id, and stop.",
            )


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_keeps_eos(trial: Trial) -> None:
    """The EOS that ended the loop is part of the result."""
    for eos in (5, 0):
        d = table(trial, chain(trial, {3: 4, 4: 2, 2: eos, eos: 1}, 6, eos), _none(9, 6), start=3, eos=eos, budget=6)
        _leads(trial, d, 3, "Append first, then compare with eos_token_id.")


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_spends_the_budget(trial: Trial) -> None:
    """Without EOS exactly max_new_tokens tokens follow the start token."""
    for budget in (1, 4):
        d = table(trial, chain(trial, {2: 3, 3: 0, 0: 4, 4: 2}, 6, 5), _none(8, 6), start=2, eos=5, budget=budget)
        tokens, expected = _decoded(trial, d)
        if len(_appended(tokens, d.start)) != budget:
            raise Failed(
                f"With max_new_tokens = {budget} it returned {len(tokens)} ids, not {len(expected)}.",
                "max_new_tokens counts appended tokens; the start token is not one of them.",
            )


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_appends_nothing_without_budget(trial: Trial) -> None:
    """With max_new_tokens of 0 or less the start token alone is returned, EOS or not."""
    for budget, eos in ((0, 5), (-3, 5), (0, 2)):
        d = table(trial, chain(trial, {2: 3, 3: 4}, 6, eos), _none(5, 6), start=2, eos=eos, budget=budget)
        tokens, _ = _decoded(trial, d)
        if _appended(tokens, d.start):
            raise Failed(
                f"With max_new_tokens = {budget} it returned {len(tokens)} ids.", "B = max(0, max_new_tokens)."
            )


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_goes_on_when_start_is_eos(trial: Trial) -> None:
    """A start token that equals EOS does not stop the loop."""
    d = table(trial, chain(trial, {1: 3, 3: 4, 4: 2, 2: 0}, 6, 1), _none(8, 6), start=1, eos=1, budget=4)
    _leads(trial, d, 3, "The test for EOS applies to a token that was just appended.")


@check_of("seq2seq_greedy_decode", points=0.5)
def decode_breaks_ties_to_the_smaller(trial: Trial) -> None:
    """Of tokens that tie exactly the smallest id is chosen."""
    scores = chain(trial, {6: 1, 1: 2, 2: 0, 0: 3}, 8, 7)
    for word, tied in ((6, (1, 3, 7)), (1, (2, 7)), (2, (0, 4, 5, 7)), (0, (3, 5))):
        scores[word, list(tied)] = -1.0
    _leads(
        trial, table(trial, scores, _none(8, 8), start=6, eos=7, budget=5), 4, "argmax keeps the first of equal scores."
    )


@check_of("seq2seq_greedy_decode", points=0.5)
def decode_compares_raw_scores(trial: Trial) -> None:
    """Scores are compared as they are: close ones are no tie, and no softmax rounds them."""
    scores = chain(trial, {5: 3, 3: 4, 4: 2}, 6, 1)
    scores[5, [1, 3]] = torch.tensor([1.0, 1.001], dtype=torch.float64)
    scores[3] = -1.0
    scores[3, [0, 4]] = torch.tensor([1e-17, 2e-17], dtype=torch.float64)
    _leads(
        trial,
        table(trial, scores, _none(8, 6), start=5, eos=1, budget=4),
        3,
        "Take the index of the largest raw score.",
    )


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_needs_no_more_position_rows(trial: Trial) -> None:
    """As many position rows as max_new_tokens are enough: the last token is returned without another pass."""
    scores = chain(trial, {2: 3, 3: 0, 0: 4}, 6, 5)
    enough = table(trial, scores, _none(3, 6), start=2, eos=5, budget=3)
    if _decoded(trial, enough)[0] != _decoded(trial, replace(enough, dec_pos_embed=_none(7, 6)))[0]:
        raise Failed(
            "With 3 position rows it returned other ids than with 7.", "The last token needs no pass of its own."
        )
    _decoded(trial, table(trial, scores, _none(0, 6), start=2, eos=5, budget=0))


@check_of("seq2seq_greedy_decode", points=1.5)
def decode_runs_the_model(trial: Trial) -> None:
    """Encoder and decoder blocks, in order and as in the full forward pass, choose the tokens."""
    _leads(
        trial, model(trial), 3, "Encode as in `encode`; run every decoder block on the prefix, with its causal mask."
    )


@check_of("seq2seq_greedy_decode", points=0.75)
def decode_feeds_the_whole_prefix(trial: Trial) -> None:
    """Each step decodes all tokens so far, with the source as it was embedded where there is no encoder block."""
    d = model(trial, encoder_blocks=0, decoder_blocks=1, budget=3)
    _leads(trial, d, 2, "Feed tgt_emb[seq] for the whole seq: without a cache, earlier words must be read again.")


@check_of("seq2seq_greedy_decode", points=0.5, kind="metamorphic", needs=("decode_appends_a_token",))
def decode_reads_every_source_word(trial: Trial) -> None:
    """The first and the last source word both have a say in what is chosen."""
    d = model(trial, encoder_blocks=0, decoder_blocks=1, budget=1)
    before, _ = _decoded(trial, d)
    if not _appended(before, d.start):  # a budget that counts the start token has its own check
        d = replace(d, budget=2)
        before, _ = _decoded(trial, d)
    for place in (0, -1):
        changed = d.src_ids.clone()
        changed[place] = d.src_ids[2]
        if before == _decoded(trial, replace(d, src_ids=changed))[0]:
            raise Failed(
                f"Another {'first' if place == 0 else 'last'} source word left every token as it was.",
                "Cross-attention takes keys and values from the encoder's output and masks nothing.",
            )


@check_of("seq2seq_greedy_decode", points=0.5, kind="metamorphic", needs=("decode_appends_a_token",))
def decode_ignores_the_spare_slots(trial: Trial) -> None:
    """Slots 10 and 11 of a decoder block may hold anything."""
    plain = model(trial, encoder_blocks=0, decoder_blocks=1, budget=1)
    noisy = model(trial, encoder_blocks=0, decoder_blocks=1, noisy=True).dec_blocks
    if _decoded(trial, plain)[0] != _decoded(trial, replace(plain, dec_blocks=noisy))[0]:
        raise Failed(
            "Other tokens came out when only slots 10 and 11 changed.", "Feed-forward weights are in slots 8 and 9."
        )


@check_of("seq2seq_greedy_decode", points=0.5, kind="contract", needs=("decode_appends_a_token",))
def decode_encodes_once(trial: Trial) -> None:
    """The encoder runs once, however many tokens are chosen."""
    d = model(trial, encoder_blocks=1, decoder_blocks=1)
    block = d.dec_blocks.clone()
    block[0, 7] = 0.0  # cross-attention adds nothing, so the tokens are the same with and without an encoder

    def step(blocks: torch.Tensor) -> int:
        """Operations of one more step."""
        one, two = (
            outcome_of(trial, *replace(d, enc_blocks=blocks, dec_blocks=block, budget=budget).args).operations
            for budget in (1, 2)
        )
        return two - one

    with_encoder, without = step(d.enc_blocks), step(d.enc_blocks[:0])
    if with_encoder > without:
        raise Failed(
            f"One more token costs {with_encoder - without} operations more where there is an encoder block.",
            "Right answer, but the encoder runs again for every token: move it above the loop.",
        )


@check_of("seq2seq_greedy_decode", points=0.5, kind="contract", needs=("decode_appends_a_token",))
def decode_returns_a_row_of_ids(trial: Trial) -> None:
    """The result is a one-dimensional tensor of integers on the source's device, not padded."""
    for budget in (2, 0):
        d = table(trial, chain(trial, {2: 3, 3: 4}, 6, 5), _none(4, 6), start=2, eos=5, budget=budget)
        value = _value(trial, d)
        if not isinstance(value, torch.Tensor) or value.dim() != 1 or value.dtype not in _INTEGERS:
            raise Failed(
                f"It returned {describe(value)}; a one-dimensional tensor of integers is wanted.",
                "torch.tensor(seq, device=src_ids.device) makes one of a list of ints.",
            )
    d = model(trial, encoder_blocks=1, decoder_blocks=1, budget=2)
    stays_on_device(trial, *replace(d, src_ids=d.src_ids.long()).args)


@check_of("seq2seq_greedy_decode", points=0.5, kind="contract", needs=("decode_appends_a_token",))
def decode_takes_float_ids(trial: Trial) -> None:
    """Source ids come as floats that hold integers, zero among them."""
    d = model(trial, encoder_blocks=0, decoder_blocks=1, budget=1)
    _tokens(outcome_of(trial, *d.args, float_ids=True).value)


@check_of("seq2seq_greedy_decode", points=0.25, kind="contract", needs=("decode_appends_a_token",))
def decode_takes_every_float_dtype(trial: Trial) -> None:
    """Parameters may be float64, float32 or bfloat16, and source ids may be integers."""
    d = model(trial, encoder_blocks=1, decoder_blocks=1, budget=1)
    for dtype, ids in ((torch.float64, torch.int64), (torch.bfloat16, torch.int32)):
        tokens = _tokens(trial.call(*replace(d.to(dtype), src_ids=d.src_ids.to(ids)).args))
        if not all(0 <= token < d.w_head.shape[1] for token in tokens):
            raise Failed("It returned an id that is not in the vocabulary.", "Make no tensor of a fixed float dtype.")


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_takes_no_blocks(trial: Trial) -> None:
    """E and L may be 0: the embeddings plus positions then go straight to the head."""
    d = table(trial, chain(trial, {2: 3, 3: 4}, 6, 5), _none(4, 6), start=2, eos=5, budget=2)
    _tokens(outcome_of(trial, *d.args).value)


@check_of("seq2seq_greedy_decode", points=0.25, kind="contract", needs=("decode_appends_a_token",))
def decode_leaves_inputs_alone(trial: Trial) -> None:
    """Ids, tables and weights are unchanged afterwards."""
    untouched(trial, *model(trial, encoder_blocks=1, decoder_blocks=1, budget=1, noisy=True).args)


def _none(rows: int, vocabulary: int) -> torch.Tensor:
    """Position rows that add nothing."""
    return torch.zeros(rows, vocabulary, dtype=torch.float64)


def _decoded(trial: Trial, d: Decoding) -> tuple[list[int], list[int]]:
    """The ids that the answer returns and those of the reference, both with the start token."""
    expected = trial.expected(*d.args)
    tokens = _tokens(_value(trial, d))
    trial.calls[-1] = replace(trial.calls[-1], agrees=tokens == expected.tolist())
    return tokens, expected.tolist()


def _value(trial: Trial, d: Decoding) -> Any:
    """What the answer returns. Where it cannot do without blocks, which has its own check, it is given empty ones."""
    try:
        return outcome_of(trial, *d.args).value
    except AnswerError as error:
        if error.verdict is not Verdict.ERRORED or len(d.dec_blocks):
            raise
        try:
            return outcome_of(trial, *d.with_empty_blocks.args).value
        except AnswerError as again:
            if again.verdict is not Verdict.ERRORED:
                raise
        raise


def _tokens(value: Any) -> list[int]:
    """The ids in a tensor of one row, or in a list. Raises Failed where it holds none."""
    if readable(value) and value.dim() and value.shape[-1] == value.numel():
        value = value.reshape(-1).tolist()
    if isinstance(value, list | tuple):
        value = [v.item() if readable(v) and v.numel() == 1 else v for v in value]
        if all(isinstance(v, int | float) and v == v and abs(v) < 2**53 and v == int(v) for v in value):
            return [int(v) for v in value]
    raise Failed(f"It returned {describe(value)}; a row of ids is wanted.")


def _appended(tokens: Sequence[int], start: int) -> Sequence[int]:
    """Without the start token. No table lets the start token follow itself, so a missing one is noticed."""
    return tokens[1:] if tokens and tokens[0] == start else tokens


def _leads(trial: Trial, d: Decoding, count: int, help: str) -> None:
    """Raises Failed unless the first `count` appended tokens are the reference's, whatever comes after them."""
    tokens, expected = _decoded(trial, d)
    got, want = _appended(tokens, d.start), _appended(expected, d.start)
    if len(got) < count:
        raise Failed(f"It appended {len(got)} tokens where at least {count} are due.", help)
    wrong = [i for i in range(count) if got[i] != want[i]]
    if wrong:
        raise Failed(f"Appended token {wrong[0] + 1} is not the one due (the {count} first were looked at).", help)


# beam_search (a stretch: checked, worth nothing) ----------------------------------------------------------------------


@check_of("beam_search", points=0.0, kind="contract")
def beam_of_one_is_greedy(trial: Trial) -> None:
    """With beam_width 1 the result is the greedy one."""
    _beam(trial, _crossroads(trial, 1), "Keep the single best continuation after each step.")


@check_of("beam_search", points=0.0)
def beam_finds_a_better_sentence(trial: Trial) -> None:
    """A worse first token may lead to a better sum of log-probabilities, and is found."""
    _beam(trial, _crossroads(trial, 2), "Grow every kept sequence by every word, then keep the best beam_width of all.")


@check_of("beam_search", points=0.0)
def beam_adds_log_probabilities(trial: Trial) -> None:
    """Sums are of log-probabilities: raw scores are made into them first."""
    d = _crossroads(trial, 2)
    lift = torch.zeros(6, 1, dtype=torch.float64)
    lift[1] = 30.0  # a constant on all scores after word 1 changes raw sums and no probability
    _beam(trial, replace(d, tgt_emb=d.tgt_emb + lift), "log_softmax over the vocabulary before adding.")


@check_of("beam_search", points=0.0)
def beam_keeps_finished_sequences(trial: Trial) -> None:
    """A finished sequence keeps its sum and its place among the kept, and may be the best."""
    rows = _rows({0: {5: 45, 1: 55}, 1: {2: 50, 3: 50}, 2: {3: 50, 4: 50}, 3: {4: 50, 2: 50}, 4: {2: 50, 3: 50}})
    _beam(trial, _beams(trial, rows, budget=3, width=2), "A sequence that ends in EOS is kept as it is and not grown.")
    rows = _rows({0: {5: 30, 1: 70}, 1: {2: 90, 3: 10}})
    _beam(trial, _beams(trial, rows, budget=2, width=2), "The best by sum is returned, finished or not.")


@check_of("beam_search", points=0.0)
def beam_stops_when_all_are_finished(trial: Trial) -> None:
    """The loop ends when all kept sequences are finished, and not at the first finished one."""
    rows = _rows({0: {1: 60, 5: 40}, 1: {5: 90, 2: 10}, 2: {3: 50, 4: 50}})
    _beam(trial, _beams(trial, rows, budget=5, width=2), "Go on while one kept sequence is unfinished.")


@check_of("beam_search", points=0.0)
def beam_corrects_no_length(trial: Trial) -> None:
    """Sums are not divided by the length."""
    rows = _rows({0: {5: 40, 1: 60}, 1: {2: 62, 3: 38}, 2: {4: 98, 3: 2}, 3: {4: 100}, 4: {5: 100}})
    _beam(trial, _beams(trial, rows, budget=5, width=3), "Compare the sums as they are.")


@check_of("beam_search", points=0.0)
def beam_breaks_ties_to_the_smaller(trial: Trial) -> None:
    """Equal sums go to the smaller ids."""
    rows = _rows(
        {0: {1: 30, 2: 30, 3: 30, 4: 10}, 1: {2: 50, 4: 50}, 2: {2: 50, 4: 50}, 3: {2: 50, 4: 50}, 4: {4: 100}}
    )
    for width in (1, 2):
        _beam(trial, _beams(trial, rows, budget=2, width=width), "Sort by falling sum, then by rising ids.")


@check_of("beam_search", points=0.0)
def beam_minds_start_and_budget(trial: Trial) -> None:
    """A start token that equals EOS is not finished; without budget the start token alone is returned."""
    d = _crossroads(trial, 2)
    _beam(trial, replace(d, eos=d.start), "The test for EOS applies to appended tokens.")
    for budget in (0, -2):
        _beam(trial, replace(d, budget=budget), "B = max(0, max_new_tokens).")


@check_of("beam_search", points=0.0)
def beam_may_be_wider_than_the_vocabulary(trial: Trial) -> None:
    """A width above the number of candidates keeps them all."""
    _beam(trial, _crossroads(trial, 50), "topk wants k no larger than what there is.")


@check_of("beam_search", points=0.0)
def beam_runs_the_model(trial: Trial) -> None:
    """Encoder and decoder blocks choose the tokens, as in the greedy decode."""
    d = model(trial, encoder_blocks=1, decoder_blocks=1, budget=3)
    _beam(trial, replace(d, width=2), "Each kept prefix is decoded whole, at its own positions.")


@check_of("beam_search", points=0.0, kind="contract", needs=("beam_of_one_is_greedy",))
def beam_leaves_inputs_alone(trial: Trial) -> None:
    """Ids, tables and weights are unchanged afterwards, and the result is a row of integers."""
    d = _crossroads(trial, 2)
    untouched(trial, *d.args)
    value = trial.call(*d.args)
    if not isinstance(value, torch.Tensor) or value.dim() != 1 or value.dtype not in _INTEGERS:
        raise Failed(f"It returned {describe(value)}; a one-dimensional tensor of integers is wanted.")


def _rows(weights: dict[int, dict[int, float]]) -> torch.Tensor:
    """Log-probabilities (6, 6) of a little grammar: word to next word to its share in percent. The rest share 0.01."""
    return log_table([[weights.get(w, {}).get(n, 0.01 / 6) for n in range(6)] for w in range(6)])


def _beams(trial: Trial, rows: torch.Tensor, *, budget: int, width: int) -> Decoding:
    """A beam search from word 0 to EOS 5."""
    d = table(trial, rows, _none(budget + 2, 6), start=0, eos=5, budget=budget)
    return replace(d, width=width)


def _crossroads(trial: Trial, width: int) -> Decoding:
    """Greedy goes by the better first word and comes to a bad second; a beam of 2 does not."""
    rows = _rows({0: {1: 55, 2: 45}, 1: {3: 40, 4: 35, 2: 25}, 2: {4: 95, 3: 5}, 3: {5: 100}, 4: {5: 90, 1: 10}})
    return _beams(trial, rows, budget=3, width=width)


def _beam(trial: Trial, d: Decoding, help: str) -> None:
    """Raises Failed unless the answer's ids are the reference's."""
    tokens, expected = _decoded(trial, d)
    if tokens != expected:
        found = difference(torch.tensor(tokens), torch.tensor(expected)) or "the ids differ"
        raise Failed(f"With beam_width = {d.width} and max_new_tokens = {d.budget}: {found}.", help)
