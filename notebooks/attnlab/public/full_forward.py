"""Public checks of lesson 4: positions, shifting, the encoder, the whole forward pass, loss, counting."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.placement import stays_at_home, stays_on_device
from attnlab.public.clauses import (
    answers_to_every_input,
    examples_are_independent,
    keeps_dtype,
    leaves_inputs_alone,
)
from attnlab.public.decoder_block import normalised, only_residual
from attnlab.public.probes import bumped, changed_rows, on_record, same, tensor
from attnlab.trial import Trial
from attnlab.verdict import Failed

_ANSWERS = ("answers_to_every_input",)

# positional_encoding --------------------------------------------------------------------------------------------------


@check_of("positional_encoding", points=0.25)
def position_zero_is_0_and_1(trial: Trial) -> None:
    """At position 0 the even columns are sin 0 = 0 and the odd ones cos 0 = 1; later positions differ from it."""
    table = tensor(trial.call(3, 4), (3, 4))
    if not torch.allclose(table[0], torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=torch.float64)):
        raise Failed("Row 0 is not 0, 1, 0, 1.", "Even columns are sines, odd ones cosines; positions count from 0.")
    if same(table[0], table[1]):
        raise Failed("Rows 0 and 1 are the same.", "The angle grows with the position.")


_STARTS = ("position_zero_is_0_and_1",)


@check_of("positional_encoding", points=1.5)
def encoding_example(trial: Trial) -> None:
    """The table for five positions and six features is right."""
    on_record(trial, "positional_encoding/even", "Columns 2k and 2k + 1 share an angle: i / 10000^(2k/d).")


@check_of("positional_encoding", points=0.5)
def odd_width(trial: Trial) -> None:
    """With five features the last column is a sine without its cosine."""
    on_record(trial, "positional_encoding/odd", "Do not count on pairs: floor(j / 2) works for every column j.")


@check_of("positional_encoding", points=0.5, kind="metamorphic", needs=_STARTS)
def pairs_lie_on_a_circle(trial: Trial) -> None:
    """In each pair of columns the squares add up to 1, at every position."""
    table = tensor(trial.call(6, 8), (6, 8))
    if not torch.allclose((table**2).reshape(6, 4, 2).sum(-1), torch.ones(6, 4, dtype=torch.float64), atol=1e-4):
        raise Failed("The squares of columns 2k and 2k + 1 do not add up to 1.", "The two share one angle.")


@check_of("positional_encoding", points=0.25, kind="contract", needs=_STARTS)
def has_default_dtype(trial: Trial) -> None:
    """The table has PyTorch's default dtype and default device."""
    kind = trial.call(3, 4).dtype
    if kind != torch.get_default_dtype():
        raise Failed(
            f"The table is {str(kind).removeprefix('torch.')}.", "torch.get_default_dtype() says which is wanted."
        )
    stays_at_home(trial, 3, 4)


# shift_right ----------------------------------------------------------------------------------------------------------


@check_of("shift_right", points=0.5)
def starts_with_bos(trial: Trial) -> None:
    """The first id is bos_id, the others depend on the ids given."""
    ids = torch.tensor([[3.0, 4.0, 5.0]], dtype=torch.float64)
    first, second = (tensor(trial.call(x, 1), (1, 3)) for x in (ids, ids + 3))
    if first[0, 0] != 1 or second[0, 0] != 1:
        raise Failed("The first id is not bos_id.", "Put bos_id in front of each row.")
    if same(first, second):
        raise Failed("Other ids give the same result.")


_BOS = ("starts_with_bos",)


@check_of("shift_right", points=1)
def ids_move_one_place(trial: Trial) -> None:
    """Every id moves one place to the right and the last one drops out."""
    on_record(trial, "shift_right/four", "Position t holds what stood at t - 1: keep all ids but the last.")


_shift_alone = leaves_inputs_alone("shift_right", lambda t: (t.ids(2, 3, high=5) + 1, 0), points=0.25, needs=_BOS)


@check_of("shift_right", points=0.25, kind="contract", needs=_BOS)
def ids_keep_their_dtype(trial: Trial) -> None:
    """Integers stay integers, floats stay floats, on the device of the ids."""
    for dtype in (torch.int64, torch.float32):
        value = trial.call(trial.ids(2, 3, high=5, dtype=dtype), 1)
        if value.dtype != dtype:
            wanted, got = (str(kind).removeprefix("torch.") for kind in (dtype, value.dtype))
            raise Failed(f"Ids of {wanted} become {got}.", "Make the new column like the ids: full_like, new_full.")
    stays_on_device(trial, trial.ids(2, 3, high=5, dtype=torch.int64), 1)


# encoder_block --------------------------------------------------------------------------------------------------------


def _encoder(trial: Trial) -> tuple[Any, ...]:
    """N = 2, S = 3, d = 4, two heads."""
    return trial.normal(2, 3, 4), trial.normal(6, 4, 4, scale=0.75), 2  # 1.5 / sqrt(d)


_encoder_answers = answers_to_every_input(
    "encoder_block",
    _encoder,
    {
        "enc": (0, ..., "The block starts from enc."),
        "slots 0 to 3": (1, slice(0, 4), "Slots 0 to 3 are w_q, w_k, w_v, w_o."),
        "slots 4 and 5": (1, slice(4, 6), "Slots 4 and 5 are the feed-forward layer."),
    },
    points=0.5,
    shape=(2, 3, 4),
)


@check_of("encoder_block", points=0.75, kind="metamorphic", needs=_ANSWERS)
def every_position_reads_every_other(trial: Trial) -> None:
    """Changing any source token changes every row: there is no mask."""
    args = _encoder(trial)
    first = tensor(trial.call(*args), (2, 3, 4))
    for s in (2, 0):
        moved = changed_rows(first, tensor(trial.call(*bumped(trial, args, 0, (slice(None), s))), (2, 3, 4)))
        if moved != [0, 1, 2]:
            raise Failed(f"Changing source token {s} changes the rows {moved} only.", "The encoder has no causal mask.")


@check_of("encoder_block", points=0.5, kind="metamorphic", needs=_ANSWERS)
def encoder_tokens_leave_normalised(trial: Trial) -> None:
    """Every token of the output has mean 0 and variance 1: the norm comes last."""
    normalised(tensor(trial.call(*_encoder(trial)), (2, 3, 4)))


@check_of("encoder_block", points=0.25, kind="metamorphic", needs=_ANSWERS)
def encoder_residuals_are_kept(trial: Trial) -> None:
    """With all weights zero, nothing is left but each token itself, normalised."""
    enc, block, num_heads = _encoder(trial)
    only_residual(tensor(trial.call(enc, torch.zeros_like(block), num_heads), (2, 3, 4)), enc)


@check_of("encoder_block", points=1.25)
def encoder_example(trial: Trial) -> None:
    """With two heads and three positions it is right, entry by entry."""
    on_record(trial, "encoder_block/two", "Attention, add, norm; feed-forward, add, norm. No mask, no final norm more.")


_encoder_examples = examples_are_independent("encoder_block", _encoder, (0,), points=0.25, needs=_ANSWERS)
_encoder_alone = leaves_inputs_alone("encoder_block", _encoder, points=0.25, needs=_ANSWERS)
_encoder_dtype = keeps_dtype("encoder_block", _encoder, points=0.25, needs=_ANSWERS)

# encode ---------------------------------------------------------------------------------------------------------------


def _source(trial: Trial) -> tuple[Any, ...]:
    """N = 2, S = 3, d = 4, E = 1, two heads, a vocabulary of 5."""
    ids = torch.tensor([[0.0, 3.0, 2.0], [4.0, 1.0, 1.0]], dtype=torch.float64)
    return ids, trial.normal(5, 4), trial.normal(3, 4), trial.normal(1, 6, 4, 4, scale=0.75), 2


_encode_answers = answers_to_every_input(
    "encode",
    _source,
    {
        "src_emb": (1, ..., "Row i of src_emb stands for id i."),
        "enc_pos_embed": (2, ..., "Positions are added to the embeddings; is the sum kept?"),
        "the encoder blocks": (3, ..., "Run every block, each on the result of the one before."),
    },
    points=0.25,
    shape=(2, 3, 4),
)


@check_of("encode", points=0.5)
def no_blocks_only_embeds(trial: Trial) -> None:
    """With E = 0 it is the embeddings plus the positions, and nothing is normalised."""
    on_record(trial, "encode/none", "Zero blocks are legal: no norm, no scaling, position s is added to token s.")


@check_of("encode", points=0.75)
def two_blocks_in_order(trial: Trial) -> None:
    """With two blocks it is right, entry by entry."""
    on_record(trial, "encode/two", "Blocks run in order, each with its own weights.")


@check_of("encode", points=0.25, kind="contract", needs=_ANSWERS)
def ids_may_be_integers(trial: Trial) -> None:
    """Integer ids and the same ids held as floats give the same."""
    ids, *rest = _source(trial)
    if not same(tensor(trial.call(ids, *rest)), tensor(trial.call(ids.long(), *rest))):
        raise Failed("Integer ids give another result than the same ids as floats.", "Cast ids with .long().")


_encode_alone = leaves_inputs_alone("encode", _source, points=0.125, needs=_ANSWERS)
_encode_dtype = keeps_dtype("encode", _source, points=0.125, needs=_ANSWERS)

# encoder_decoder_forward ----------------------------------------------------------------------------------------------

_SRC_IDS = torch.tensor([[0.0, 3.0, 2.0], [4.0, 1.0, 1.0]], dtype=torch.float64)
_TGT_IDS = torch.tensor([[1.0, 0.0, 2.0], [3.0, 3.0, 1.0]], dtype=torch.float64)


def _model(trial: Trial) -> tuple[Any, ...]:
    """N = 2, S = T = 3, d = 4, E = L = 1, two heads, vocabularies of 5 and 4."""
    dec_blocks = trial.normal(1, 12, 4, 4, scale=0.75)
    dec_blocks[:, 10:] = 0.0
    return (
        _SRC_IDS.clone(),
        _TGT_IDS.clone(),
        trial.normal(5, 4),
        trial.normal(4, 4),
        trial.normal(3, 4),
        trial.normal(3, 4),
        trial.normal(1, 6, 4, 4, scale=0.75),
        dec_blocks,
        trial.normal(4, 4),
        2,
    )


_forward_answers = answers_to_every_input(
    "encoder_decoder_forward",
    _model,
    {
        "src_emb": (2, ..., "The source enters through src_emb, and the decoder must read the encoder's output."),
        "tgt_emb": (3, ..., "The target enters through tgt_emb, a table of its own."),
        "dec_pos_embed": (5, ..., "Positions are added on the target side too."),
        "w_head": (8, ..., "The scores are the last decoder output @ w_head."),
    },
    points=0.75,
    shape=(2, 3, 4),
)


@check_of("encoder_decoder_forward", points=1.5, kind="metamorphic", needs=_ANSWERS)
def later_targets_are_hidden(trial: Trial) -> None:
    """Changing a later target id never changes the scores at an earlier position, and does change its own."""
    args = _model(trial)
    other = _TGT_IDS.clone()
    other[:, 2] = torch.tensor([3.0, 0.0])
    first, second = (tensor(trial.call(*a), (2, 3, 4)) for a in (args, (args[0], other, *args[2:])))
    moved = changed_rows(first, second)
    if moved != [2]:
        help = "Use tgt_ids as supplied; the caller shifts." if not moved else "The decoder's self-attention is causal."
        raise Failed(f"Changing target id 2 changes the scores at positions {moved or 'none'}.", help)


@check_of("encoder_decoder_forward", points=0.5, kind="metamorphic", needs=_ANSWERS)
def source_reaches_every_target(trial: Trial) -> None:
    """Changing the last source id changes the scores at every target position, also with no encoder block between."""
    *first_args, enc_blocks, dec_blocks, w_head, num_heads = _model(trial)
    args = (*first_args, enc_blocks[:0], dec_blocks, w_head, num_heads)  # the encoder would spread the change itself
    other = _SRC_IDS.clone()
    other[:, 2] = torch.tensor([1.0, 3.0])
    first, second = (tensor(trial.call(*a), (2, 3, 4)) for a in (args, (other, *args[1:])))
    if (moved := changed_rows(first, second)) != [0, 1, 2]:
        raise Failed(f"Changing source id 2 changes the target positions {moved} only.", "No mask on the source.")


@check_of("encoder_decoder_forward", points=0.75, kind="metamorphic", needs=_ANSWERS)
def scores_are_raw(trial: Trial) -> None:
    """Twice the w_head gives twice the scores: no softmax at the end."""
    *args, w_head, num_heads = _model(trial)
    once = tensor(trial.call(*args, w_head, num_heads), (2, 3, 4))
    twice = tensor(trial.call(*args, 2 * w_head, num_heads), (2, 3, 4))
    if not same(2 * once, twice):
        sums = once.exp().sum(-1) if bool((once < 0).all()) else once.sum(-1)
        help = "Leave out the softmax at the end." if bool(((sums - 1).abs() < 1e-3).all()) else "End with @ w_head."
        raise Failed("Doubling w_head does not double the scores.", help)


@check_of("encoder_decoder_forward", points=1)
def no_blocks_no_norm(trial: Trial) -> None:
    """With E = L = 0 it is target embeddings plus positions, times w_head; the source has no effect."""
    on_record(
        trial,
        "encoder_decoder_forward/none",
        "Zero blocks are legal: nothing is normalised or scaled, no id is special, targets are not shifted.",
    )


@check_of("encoder_decoder_forward", points=2)
def forward_example(trial: Trial) -> None:
    """With two blocks on each side, two heads, S = 3, T = 4 and two vocabularies it is right, entry by entry."""
    on_record(
        trial, "encoder_decoder_forward/two", "If the other checks pass: is every block used, with its own weights?"
    )


@check_of("encoder_decoder_forward", points=0.5, kind="metamorphic", needs=_ANSWERS)
def id_zero_is_ordinary(trial: Trial) -> None:
    """Id 0 is a word like any other, on both sides."""
    args = _model(trial)
    first = tensor(trial.call(*args), (2, 3, 4))
    for which, side in ((2, "source"), (3, "target")):
        if same(first, tensor(trial.call(*bumped(trial, args, which, 0)), (2, 3, 4))):
            raise Failed(
                f"Changing row 0 of the {side} table changes nothing.", "There is no padding in this function."
            )


def _another_example_1(args: tuple[Any, ...]) -> tuple[Any, ...]:
    src_ids, tgt_ids = args[0].clone(), args[1].clone()
    src_ids[1], tgt_ids[1] = src_ids[0], 2.0
    return (src_ids, tgt_ids, *args[2:])


_forward_examples = examples_are_independent(
    "encoder_decoder_forward", _model, _another_example_1, points=0.5, needs=_ANSWERS
)
_forward_alone = leaves_inputs_alone("encoder_decoder_forward", _model, points=0.25, needs=_ANSWERS)
_forward_dtype = keeps_dtype("encoder_decoder_forward", _model, points=0.25, needs=_ANSWERS)

# sequence_loss --------------------------------------------------------------------------------------------------------


@check_of("sequence_loss", points=1)
def loss_example(trial: Trial) -> None:
    """Without padding it is the mean of -log softmax(logits)[target] over all positions."""
    on_record(trial, "sequence_loss/plain", _loss_hint, form=_one_number)


def _one_number(value: Any) -> Any:
    """A loss that has axes of size 1, without them: `loss_is_one_number` minds those."""
    return value.reshape(()) if isinstance(value, torch.Tensor) and value.numel() == 1 else value


def _loss_hint(value: Any, right: Any) -> str:
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        return "One number comes out: the mean over all positions."
    got, want = tensor(value).reshape(()).item(), right.item()
    if abs(got + want) < 1e-4:
        return "The sign is turned round."
    if abs(got - 6 * want) < 1e-3:
        return "That is the sum over the 6 positions; the mean is wanted."
    if abs(got - want / 0.6931471805599453) < 1e-4:  # ln 2
        return "That is the loss in bits; the natural logarithm is wanted."
    return "The logits are raw scores: take the log softmax once, over the last axis."


_LOSS = ("loss_example",)


@check_of("sequence_loss", points=0.75)
def padding_does_not_count(trial: Trial) -> None:
    """Positions whose target is pad_id are left out of the sum and of the count."""
    on_record(
        trial, "sequence_loss/padded", "Divide by the number of positions that count, not by all.", form=_one_number
    )


@check_of("sequence_loss", points=0.5)
def large_logits_stay_finite(trial: Trial) -> None:
    """Scores in the thousands give the right finite loss."""
    on_record(
        trial,
        "sequence_loss/large",
        "log(softmax) overflows or gives log 0: use logsumexp or log_softmax.",
        form=_one_number,
    )


@check_of("sequence_loss", points=0.25, kind="contract", needs=_LOSS)
def targets_may_be_integers(trial: Trial) -> None:
    """Integer targets and the same targets held as floats give the same."""
    logits, targets = trial.normal(2, 3, 4), trial.ids(2, 3, high=4)
    if not same(tensor(trial.call(logits, targets)), tensor(trial.call(logits, targets.long()))):
        raise Failed("Integer targets give another loss than the same targets as floats.", "Cast targets with .long().")


@check_of("sequence_loss", points=0.25, kind="contract", needs=_LOSS)
def loss_is_one_number(trial: Trial) -> None:
    """The loss is a 0-dim tensor."""
    tensor(trial.call(trial.normal(2, 3, 4), trial.ids(2, 3, high=4)), ())


_loss_alone = leaves_inputs_alone(
    "sequence_loss", lambda t: (t.normal(2, 3, 4), t.ids(2, 3, high=4), 0), points=0.125, needs=_LOSS
)
_loss_dtype = keeps_dtype(
    "sequence_loss", lambda t: (t.normal(2, 3, 4), t.ids(2, 3, high=4, dtype=torch.int64)), points=0.125, needs=_LOSS
)

# parameter_count ------------------------------------------------------------------------------------------------------


@check_of("parameter_count", points=0.5)
def encoder_block_count(trial: Trial) -> None:
    """One encoder block with d = 8 and a width of 24 is counted right."""
    on_record(trial, "parameter_count/encoder", "Four (d, d) matrices, one (d, d_ff), one (d_ff, d).")


@check_of("parameter_count", points=0.75)
def decoder_block_count(trial: Trial) -> None:
    """One decoder block with d = 8 and a width of 24 is counted right."""
    on_record(trial, "parameter_count/decoder", "A decoder block has two attentions: eight (d, d) matrices.")


@check_of("parameter_count", points=0.75)
def count_of_the_paper(trial: Trial) -> None:
    """Six and six blocks with d = 512 and a width of 2048 are counted right."""
    value = on_record(
        trial, "parameter_count/paper", "Each block counts as many times as there are blocks of its kind."
    )
    if isinstance(value, float):
        raise Failed("The count is a float.", "Whole numbers only: no /, no 1e6.")
