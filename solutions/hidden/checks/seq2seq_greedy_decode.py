"""Hidden checks of `seq2seq_greedy_decode`.

Each clause of the loop is asked about alone: where a check is not about the budget it looks at the tokens before the
last step, where it is not about the form of the result it reads the ids from whatever form they come in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.placement import stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.asking import outcome_of, untouched
from solutions.hidden.decode_tables import Decoding, chain, model, table
from solutions.hidden.decoding import INTEGERS, decoded, no_rows, tokens_of, value_of


@check_of("seq2seq_greedy_decode", points=1.0, kind="contract")
def decode_appends_a_token(trial: Trial) -> None:
    """A first token is appended that follows the start token's scores, the same on every call."""
    for first in (3, 3, 5):
        scores = chain(trial, {2: first, 3: 4, 5: 4}, 7, 1)
        _leads(
            trial,
            table(trial, scores, no_rows(5, 7), start=2, eos=1, budget=2),
            1,
            "The loop runs at least once for a budget of 2.",
        )


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_starts_with_the_start_token(trial: Trial) -> None:
    """The result begins with the start token."""
    d = table(trial, chain(trial, {4: 2, 2: 3}, 6, 1), no_rows(4, 6), start=4, eos=1, budget=2)
    tokens, _ = decoded(trial, d)
    if len(tokens) < 2 or tokens[0] != d.start:
        raise Failed("The first id is not the start token.", "Begin with seq = [start_token_id] and return all of it.")


@check_of("seq2seq_greedy_decode", points=1.0)
def decode_follows_the_last_token(trial: Trial) -> None:
    """Each token is the best one after the token before it."""
    words = (torch.randperm(3, generator=trial.random) + 1).tolist()  # then 4, so that stopping at any of them shows
    d = table(trial, chain(trial, dict(pairwise([6, *words, 4, 5])), 8, 7), no_rows(8, 8), start=6, eos=7, budget=5)
    _leads(trial, d, 4, "Scores come from the last position: dec[-1] @ w_head, then the index of the largest.")


@check_of("seq2seq_greedy_decode", points=0.75)
def decode_gives_each_position_its_row(trial: Trial) -> None:
    """A prefix of n tokens uses position rows 0 ... n - 1, and no others."""
    words = [*(torch.randperm(3, generator=trial.random) + 1).tolist(), 4, 5]
    positions = no_rows(8, 8)
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
    d = table(trial, chain(trial, {3: 0, 0: 5, 5: 2, 2: 3}, 6, 4), no_rows(11, 6), start=3, eos=4, budget=9)
    _leads(trial, d, 8, "Nothing but eos_token_id ends the loop, and no word is banned.")


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_stops_at_eos(trial: Trial) -> None:
    """Nothing follows the first EOS that is appended."""
    for eos, then in ((5, 1), (0, 2)):
        d = table(trial, chain(trial, {3: 4, 4: eos, eos: then}, 6, eos), no_rows(9, 6), start=3, eos=eos, budget=6)
        tokens, expected = decoded(trial, d)
        if len(tokens) > len(expected):
            raise Failed(
                f"It returned {len(tokens)} ids although EOS came as number {len(expected)}.",
                "Compare the token just appended with eos_token_id, and stop.",
            )


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_keeps_eos(trial: Trial) -> None:
    """The EOS that ended the loop is part of the result."""
    for eos in (5, 0):
        d = table(trial, chain(trial, {3: 4, 4: 2, 2: eos, eos: 1}, 6, eos), no_rows(9, 6), start=3, eos=eos, budget=6)
        _leads(trial, d, 3, "Append first, then compare with eos_token_id.")


@check_of("seq2seq_greedy_decode", points=1.0, needs=("decode_appends_a_token",))
def decode_spends_the_budget(trial: Trial) -> None:
    """Without EOS exactly max_new_tokens tokens follow the start token."""
    for budget in (1, 4):
        d = table(trial, chain(trial, {2: 3, 3: 0, 0: 4, 4: 2}, 6, 5), no_rows(8, 6), start=2, eos=5, budget=budget)
        tokens, expected = decoded(trial, d)
        if len(_appended(tokens, d.start)) != budget:
            raise Failed(
                f"With max_new_tokens = {budget} it returned {len(tokens)} ids, not {len(expected)}.",
                "max_new_tokens counts appended tokens; the start token is not one of them.",
            )


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_appends_nothing_without_budget(trial: Trial) -> None:
    """With max_new_tokens of 0 or less the start token alone is returned, EOS or not."""
    for budget, eos in ((0, 5), (-3, 5), (0, 2)):
        d = table(trial, chain(trial, {2: 3, 3: 4}, 6, eos), no_rows(5, 6), start=2, eos=eos, budget=budget)
        tokens, _ = decoded(trial, d)
        if _appended(tokens, d.start):
            raise Failed(
                f"With max_new_tokens = {budget} it returned {len(tokens)} ids.", "B = max(0, max_new_tokens)."
            )


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_goes_on_when_start_is_eos(trial: Trial) -> None:
    """A start token that equals EOS does not stop the loop."""
    d = table(trial, chain(trial, {1: 3, 3: 4, 4: 2, 2: 0}, 6, 1), no_rows(8, 6), start=1, eos=1, budget=4)
    _leads(trial, d, 3, "The test for EOS applies to a token that was just appended.")


@check_of("seq2seq_greedy_decode", points=0.5)
def decode_breaks_ties_to_the_smaller(trial: Trial) -> None:
    """Of tokens that tie exactly the smallest id is chosen."""
    scores = chain(trial, {6: 1, 1: 2, 2: 0, 0: 3}, 8, 7)
    for word, tied in ((6, (1, 3, 7)), (1, (2, 7)), (2, (0, 4, 5, 7)), (0, (3, 5))):
        scores[word, list(tied)] = -1.0
    _leads(
        trial,
        table(trial, scores, no_rows(8, 8), start=6, eos=7, budget=5),
        4,
        "argmax keeps the first of equal scores.",
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
        table(trial, scores, no_rows(8, 6), start=5, eos=1, budget=4),
        3,
        "Take the index of the largest raw score.",
    )


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_needs_no_more_position_rows(trial: Trial) -> None:
    """As many position rows as max_new_tokens are enough: the last token is returned without another pass."""
    scores = chain(trial, {2: 3, 3: 0, 0: 4}, 6, 5)
    enough = table(trial, scores, no_rows(3, 6), start=2, eos=5, budget=3)
    if decoded(trial, enough)[0] != decoded(trial, replace(enough, dec_pos_embed=no_rows(7, 6)))[0]:
        raise Failed(
            "With 3 position rows it returned other ids than with 7.", "The last token needs no pass of its own."
        )
    decoded(trial, table(trial, scores, no_rows(0, 6), start=2, eos=5, budget=0))


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
    before, _ = decoded(trial, d)
    if not _appended(before, d.start):  # a budget that counts the start token has its own check
        d = replace(d, budget=2)
        before, _ = decoded(trial, d)
    for place in (0, -1):
        changed = d.src_ids.clone()
        changed[place] = d.src_ids[2]
        if before == decoded(trial, replace(d, src_ids=changed))[0]:
            raise Failed(
                f"Another {'first' if place == 0 else 'last'} source word left every token as it was.",
                "Cross-attention takes keys and values from the encoder's output and masks nothing.",
            )


@check_of("seq2seq_greedy_decode", points=0.5, kind="metamorphic", needs=("decode_appends_a_token",))
def decode_ignores_the_spare_slots(trial: Trial) -> None:
    """Slots 10 and 11 of a decoder block may hold anything."""
    plain = model(trial, encoder_blocks=0, decoder_blocks=1, budget=1)
    noisy = model(trial, encoder_blocks=0, decoder_blocks=1, noisy=True).dec_blocks
    if decoded(trial, plain)[0] != decoded(trial, replace(plain, dec_blocks=noisy))[0]:
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
        d = table(trial, chain(trial, {2: 3, 3: 4}, 6, 5), no_rows(4, 6), start=2, eos=5, budget=budget)
        value = value_of(trial, d)
        if not isinstance(value, torch.Tensor) or value.dim() != 1 or value.dtype not in INTEGERS:
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
    tokens_of(outcome_of(trial, *d.args, float_ids=True).value)


@check_of("seq2seq_greedy_decode", points=0.25, kind="contract", needs=("decode_appends_a_token",))
def decode_takes_every_float_dtype(trial: Trial) -> None:
    """Parameters may be float64, float32 or bfloat16, and source ids may be integers."""
    d = model(trial, encoder_blocks=1, decoder_blocks=1, budget=1)
    for dtype, ids in ((torch.float64, torch.int64), (torch.bfloat16, torch.int32)):
        tokens = tokens_of(trial.call(*replace(d.to(dtype), src_ids=d.src_ids.to(ids)).args))
        if not all(0 <= token < d.w_head.shape[1] for token in tokens):
            raise Failed("It returned an id that is not in the vocabulary.", "Make no tensor of a fixed float dtype.")


@check_of("seq2seq_greedy_decode", points=0.5, needs=("decode_appends_a_token",))
def decode_takes_no_blocks(trial: Trial) -> None:
    """E and L may be 0: the embeddings plus positions then go straight to the head."""
    d = table(trial, chain(trial, {2: 3, 3: 4}, 6, 5), no_rows(4, 6), start=2, eos=5, budget=2)
    tokens_of(outcome_of(trial, *d.args).value)


@check_of("seq2seq_greedy_decode", points=0.25, kind="contract", needs=("decode_appends_a_token",))
def decode_leaves_inputs_alone(trial: Trial) -> None:
    """Ids, tables and weights are unchanged afterwards."""
    untouched(trial, *model(trial, encoder_blocks=1, decoder_blocks=1, budget=1, noisy=True).args)


def _appended(tokens: Sequence[int], start: int) -> Sequence[int]:
    """Without the start token. No table lets the start token follow itself, so a missing one is noticed."""
    return tokens[1:] if tokens and tokens[0] == start else tokens


def _leads(trial: Trial, d: Decoding, count: int, help: str) -> None:
    """Raises Failed unless the first `count` appended tokens are the reference's, whatever comes after them."""
    tokens, expected = decoded(trial, d)
    got, want = _appended(tokens, d.start), _appended(expected, d.start)
    if len(got) < count:
        raise Failed(f"It appended {len(got)} tokens where at least {count} are due.", help)
    wrong = [i for i in range(count) if got[i] != want[i]]
    if wrong:
        raise Failed(f"Appended token {wrong[0] + 1} is not the one due (the {count} first were looked at).", help)
