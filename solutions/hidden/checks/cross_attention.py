"""Hidden checks of lesson cross_attention."""

from __future__ import annotations

import math
from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    Args,
    agrees,
    alive,
    alive_in_batch,
    examples_apart,
    keeps_dtype,
    leaves_inputs,
    moves,
    replaced,
    shaped,
    stays,
)  # fmt: skip
from solutions.hidden.inputs import CALM, BlockInputs, Size, decoder_inputs, strided, weights

# split_heads ----------------------------------------------------------------------------------------------------------


@check_of("split_heads", points=0.5, kind="contract")
def split_depends_on_x(trial: Trial) -> None:
    """The output is computed from the input."""
    alive(trial, (trial.normal(2, 3, 8), 4), [(trial.normal(2, 3, 8), 4)])


@check_of("split_heads", points=1.5)
def split_cuts_features(trial: Trial) -> None:
    """Head i of (N, h, T, d_k) holds features i*d_k ... (i+1)*d_k - 1 of every token."""
    help = "Cut the last axis into (h, d_k) first, then swap the axes of tokens and heads."
    agrees(trial, trial.normal(2, 3, 8), 4, help=help)
    agrees(trial, trial.normal(3, 3, 9), 3, help=help)
    agrees(trial, strided(trial.normal(2, 5, 6)), 2, help=help)


@check_of("split_heads", points=0.5, needs=("split_depends_on_x",))
def split_takes_any_number(trial: Trial) -> None:
    """One head, one feature a head, one token and one example are all allowed."""
    for (N, T, d), h in (((2, 3, 4), 1), ((2, 3, 4), 4), ((1, 1, 6), 3)):
        agrees(trial, trial.normal(N, T, d), h, help="Axes of length 1 stay: no squeeze.")


@check_of("split_heads", points=0.25, kind="contract", needs=("split_depends_on_x",))
def split_leaves_input(trial: Trial) -> None:
    """The input is left as it was."""
    leaves_inputs(trial, trial.normal(2, 3, 8), 2, names="x,num_heads")


@check_of("split_heads", points=0.25, kind="contract", needs=("split_depends_on_x",))
def split_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the input."""
    keeps_dtype(trial, trial.normal(2, 3, 8), 2)


# merge_heads ----------------------------------------------------------------------------------------------------------

_HELP_MERGE = "Swap the axes of heads and tokens back first, then join heads and features."


@check_of("merge_heads", points=0.5, kind="contract")
def merge_depends_on_x(trial: Trial) -> None:
    """The output is computed from the input."""
    alive(trial, (trial.normal(2, 4, 3, 2),), [(trial.normal(2, 4, 3, 2),)])


@check_of("merge_heads", points=1.0)
def merge_joins_heads(trial: Trial) -> None:
    """Every token of (N, T, h*d_k) holds the features of head 0, then those of head 1, and so on."""
    agrees(trial, trial.normal(2, 4, 3, 2), help=_HELP_MERGE)
    agrees(trial, trial.normal(3, 3, 3, 3), help=_HELP_MERGE)


@check_of("merge_heads", points=0.5)
def merge_undoes_split(trial: Trial) -> None:
    """It takes what split_heads gives, a transposed view, and restores what was split."""
    agrees(trial, trial.normal(2, 3, 4, 2).transpose(1, 2), help=_HELP_MERGE)


@check_of("merge_heads", points=0.5, needs=("merge_depends_on_x",))
def merge_takes_any_number(trial: Trial) -> None:
    """One head, one feature a head, one token and one example are all allowed."""
    for shape in ((2, 1, 3, 4), (2, 4, 3, 1), (1, 3, 1, 2)):
        agrees(trial, trial.normal(*shape), help="Axes of length 1 are no exception: no squeeze.")


@check_of("merge_heads", points=0.25, kind="contract", needs=("merge_depends_on_x",))
def merge_leaves_input(trial: Trial) -> None:
    """The input is left as it was."""
    leaves_inputs(trial, trial.normal(2, 4, 3, 2), names="x")


@check_of("merge_heads", points=0.25, kind="contract", needs=("merge_depends_on_x",))
def merge_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the input."""
    keeps_dtype(trial, trial.normal(2, 4, 3, 2))


# attention ------------------------------------------------------------------------------------------------------------

_WEIGHTS = (
    trace.nan_rows, trace.extra_entries, trace.column_sums, trace.row_sums, trace.one_example, trace.scaled,
)  # fmt: skip


def _qkv(trial: Trial, *batch: int, T: int, S: int, d_k: int, d_v: int) -> Args:
    """Queries and keys of length up to 1.5, and values. No score is below -2.25, the least product of two of them."""
    q, k = (1.5 * torch.tanh(trial.normal(*batch, n, d_k)) / math.sqrt(d_k) for n in (T, S))
    return q, k, trial.normal(*batch, S, d_v)


def _readable(trial: Trial, *shape: int) -> torch.Tensor:
    """Bool (..., T, S): in every row one key certainly allowed, one certainly not, each of the others by chance."""
    sure = torch.randint(shape[-1], (*shape[:-1], 1), generator=trial.random)
    return trial.chance(*shape).scatter(-1, sure, True).scatter(-1, (sure + 1) % shape[-1], False)


def _part(i: int) -> Any:
    """Takes the i-th of two returned values; leaves anything else to the comparison."""
    return lambda value: value[i] if isinstance(value, tuple | list) and len(value) == 2 else value


@check_of("attention", points=0.5, kind="contract")
def attention_depends_on_inputs(trial: Trial) -> None:
    """The output is computed from q, k and v."""
    args, others = (_qkv(trial, 2, T=4, S=4, d_k=5, d_v=6) for _ in range(2))
    alive(trial, args, [others])


@check_of("attention", points=1.5)
def attention_weights_are_scaled(trial: Trial) -> None:
    """The weights are the softmax over the keys of q . k / sqrt(d_k)."""
    help = "Scores are q @ k.transpose(-2, -1) / sqrt(d_k), with d_k the last axis of q; softmax over the last axis."
    for T, S, d_k in ((3, 5, 5), (4, 4, 8)):
        args = _qkv(trial, 2, 3, T=T, S=S, d_k=d_k, d_v=3)
        agrees(trial, *args, part=_part(1), look=_WEIGHTS, help=help)


# from here on keys and queries have one feature: sqrt(d_k) is 1, so a wrong scale costs its own check alone


@check_of("attention", points=1.0)
def attention_mixes_by_weights(trial: Trial) -> None:
    """Each mixed value, the first of the two that are returned, is the sum of the values times that query's weights."""
    help = "Row t of the weights mixes the rows of v: weights @ v."
    for T, S in ((3, 5), (4, 4)):
        agrees(trial, *_qkv(trial, 2, T=T, S=S, d_k=1, d_v=6), part=_part(0), help=help)


@check_of("attention", points=1.0)
def attention_heeds_mask(trial: Trial) -> None:
    """Keys that are not allowed get no weight and the others share all of it; the mask may lack axes."""
    help = "Hide keys before the softmax, where allowed is False."
    for mask in ((2, 3, 4, 5), (4, 5), (2, 1, 1, 5)):
        args = _qkv(trial, 2, 3, T=4, S=5, d_k=1, d_v=3)
        agrees(trial, *args, _readable(trial, *mask), part=_part(1), look=_WEIGHTS, help=help)


@check_of("attention", points=0.5)
def attention_takes_any_axes(trial: Trial) -> None:
    """Any number of axes may stand before (T, d_k), also none; one query and one key are enough."""
    agrees(trial, *_qkv(trial, T=3, S=4, d_k=1, d_v=2), help="Count axes from the end: -1 and -2.")
    agrees(trial, *_qkv(trial, 2, 1, 3, T=2, S=3, d_k=1, d_v=4), help="Count axes from the end: -1 and -2.")
    agrees(trial, *_qkv(trial, 1, T=1, S=1, d_k=1, d_v=1), help="A single key gets all the weight.")


@check_of("attention", points=0.5)
def attention_survives_large_scores(trial: Trial) -> None:
    """Hidden keys weigh nothing and no NaN arises where scores are very large."""
    allowed = _readable(trial, 2, 4, 5)
    # q is 8e11 and keys are steps of 1/8: scores are 1e11 apart, one allowed key takes all, a hidden one is above it
    q = torch.full((2, 4, 1), 8e11, dtype=torch.float64)
    # key 0 is the lowest, so that whoever reads it alone in row 0 is wrong
    rank = 1.0 + trial.normal(2, 4).argsort(dim=-1).to(torch.float64)[..., None]
    rank = torch.cat([torch.zeros_like(rank[:, :1]), rank], dim=1)
    allowed[:] = _without_top(allowed, rank)
    help = "Minus infinity before the softmax, not a finite penalty; and the largest score subtracted before exp."
    agrees(trial, q, (rank - 5.0) / 8.0, trial.normal(2, 5, 3), allowed, look=_WEIGHTS, help=help)


def _without_top(allowed: torch.Tensor, rank: torch.Tensor) -> torch.Tensor:
    """Hide the key of rank 4, and allow the two lowest, in every row."""
    rank = rank.transpose(-2, -1)
    return (allowed & (rank < 3)) | (rank < 2)


@check_of("attention", points=0.5, needs=("attention_depends_on_inputs",))
def attention_of_an_empty_row(trial: Trial) -> None:
    """A query that may read nothing gets weights and mixed values of 0, not NaN."""
    allowed = _readable(trial, 2, 4, 5)
    allowed[0, 1] = allowed[1, 1] = False
    help = "Use masked_softmax, which gives zeros in such a row."
    # the other rows are other checks' clauses
    agrees(trial, *_qkv(trial, 2, T=4, S=5, d_k=1, d_v=3), allowed, help=help, part=_rows_1)


@check_of("attention", points=0.25, kind="contract", needs=("attention_depends_on_inputs",))
def attention_leaves_inputs(trial: Trial) -> None:
    """q, k, v and the mask are left as they were."""
    args = _qkv(trial, 2, T=3, S=3, d_k=3, d_v=3)
    leaves_inputs(trial, *args, _readable(trial, 2, 3, 3), names="q,k,v,allowed")


@check_of("attention", points=0.25, kind="contract", needs=("attention_depends_on_inputs",))
def attention_keeps_dtype(trial: Trial) -> None:
    """Both outputs have the dtype and the device of the inputs."""
    keeps_dtype(trial, *_qkv(trial, 2, T=4, S=4, d_k=4, d_v=5), _readable(trial, 4, 4))


def _rows_1(value: Any) -> Any:
    """Row 1 of each example of both outputs; what has no such row is left to the comparison."""
    if isinstance(value, tuple | list):
        return tuple(_rows_1(v) for v in value)
    return value[:, 1] if isinstance(value, torch.Tensor) and value.dim() == 3 else value


# multi_head_attention -------------------------------------------------------------------------------------------------

_ROWS = (trace.nan_rows, trace.only_one_row, trace.one_example, trace.scaled)


def _heads(trial: Trial, N: int, T: int, S: int, h: int, d: int = 12) -> Args:
    """x_q, x_kv, four matrices and the number of heads."""
    w_q, w_k = weights(trial, 2, d, d, scale=CALM)
    return trial.normal(N, T, d), trial.normal(N, S, d), w_q, w_k, *weights(trial, 2, d, d), h


@check_of("multi_head_attention", points=0.25, kind="contract")
def heads_depend_on_inputs(trial: Trial) -> None:
    """The output has the shape of x_q and depends on the inputs."""
    alive_in_batch(trial, _heads(trial, 1, 3, 3, 2), batched=(0, 1))


@check_of("multi_head_attention", points=1.0)
def heads_match(trial: Trial) -> None:
    """Project with the whole matrices, split into heads, attend, merge, project."""
    help = "Try num_heads = 1 and the shapes after each step: which step is the first to differ from what you expect?"
    agrees(trial, *_heads(trial, 3, 4, 6, 4), look=_ROWS, help=help)
    agrees(trial, *_heads(trial, 2, 4, 4, 3), look=_ROWS, help=help)


@check_of("multi_head_attention", points=0.5)
def one_head_matches(trial: Trial) -> None:
    """With one head it is attention of the projected inputs, projected once more; one example is enough."""
    help = "Splitting does nothing here: look at the four products with the weights, x @ w, and at the scale."
    agrees(trial, *_heads(trial, 1, 3, 5, 1), look=_ROWS, help=help)


@check_of("multi_head_attention", points=0.25, kind="metamorphic", needs=("heads_depend_on_inputs",))
def values_come_from_x_kv(trial: Trial) -> None:
    """With a single key every query gets that position's value, whatever x_q holds."""
    args = _heads(trial, 2, 3, 1, 2)
    before = shaped(trial, args, (2, 3, 12))
    after = shaped(trial, replaced(args, a0=trial.normal(2, 3, 12)), (2, 3, 12))
    help = "Keys and values come from x_kv, only queries from x_q."
    stays(before, after, "With one key to read the output still changes with x_q.", help)


@check_of("multi_head_attention", points=0.75, kind="metamorphic", needs=("heads_depend_on_inputs",))
def heads_heed_mask(trial: Trial) -> None:
    """Positions that are not allowed have no effect, in any head; the others have. The mask broadcasts to (N, T, S)."""
    help = "Give the mask an axis for the heads, (N, 1, T, S): the same for every head, its own for every example."
    # two examples, two heads: a mask of one axis taken for the other's does not raise here
    N, T, S = 2, 3, 4
    args = _heads(trial, N, T, S, 2)
    far = args[1] + 3.0 * trial.normal(N, S, 12)
    # example 0 may not read position 0, example 1 not position 1
    mask = _all_but(N, 1, S)
    hidden = ~mask[:, 0, :, None]
    before = shaped(trial, (*args, mask), (N, T, 12))
    after = shaped(trial, (*replaced(args, a1=torch.where(hidden, far, args[1])), mask), (N, T, 12))
    moved = shaped(trial, (*replaced(args, a1=torch.where(hidden, args[1], far)), mask), (N, T, 12))
    for n in range(N):
        stays(before[n], after[n], f"A position that may not be read changes the output of example {n}.", help)
        moves(before[n], moved[n], f"Positions that may be read have no effect in example {n}.", help)
    written_out = shaped(trial, (*args, _all_but(N, T, S)), (N, T, 12))
    stays(before, written_out, "Masks (N, 1, S) and (N, T, S) that say the same give different outputs.", help)
    low = torch.ones(T, S, dtype=torch.bool).tril()
    before, after = (
        shaped(trial, (*replaced(args, a1=x), low), (N, T, 12)) for x in (args[1], _but_first(args[1], far))
    )
    stays(before[:, 0], after[:, 0], "A mask (T, S): row 0 changes with a position that it may not read.", help)
    moves(before[:, 1], after[:, 1], "A mask (T, S): row 1 does not change with a position that it may read.", help)


def _all_but(N: int, T: int, S: int) -> torch.Tensor:
    """Bool (N, T, S): example n may read all but position n."""
    return (torch.arange(S)[None] != torch.arange(N)[:, None])[:, None].repeat(1, T, 1)


def _but_first(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Position 0 of x, the rest of other."""
    return torch.cat([x[:, :1], other[:, 1:]], dim=1)


@check_of("multi_head_attention", points=0.5, kind="metamorphic", needs=("heads_depend_on_inputs",))
def heads_keep_examples_apart(trial: Trial) -> None:
    """Examples of a batch never influence each other."""
    args = _heads(trial, 3, 3, 3, 2)
    other = replaced(args, a0=_but_first_example(trial, args[0]), a1=_but_first_example(trial, args[1]))
    examples_apart(trial, args, other, (3, 3, 12))


def _but_first_example(trial: Trial, x: torch.Tensor) -> torch.Tensor:
    """Example 0 of x, the others drawn anew."""
    return torch.cat([x[:1], trial.normal(x.shape[0] - 1, *x.shape[1:], scale=3.0)])


@check_of("multi_head_attention", points=0.25, kind="contract", needs=("heads_depend_on_inputs",))
def heads_leave_inputs(trial: Trial) -> None:
    """Inputs, weights and mask are left as they were."""
    names = "x_q,x_kv,w_q,w_k,w_v,w_o,num_heads,allowed"
    leaves_inputs(trial, *_heads(trial, 2, 3, 3, 2), _all_but(2, 1, 3), names=names)


@check_of("multi_head_attention", points=0.5, kind="contract", needs=("heads_depend_on_inputs",))
def heads_keep_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the inputs."""
    keeps_dtype(trial, *_heads(trial, 2, 3, 3, 2), _all_but(2, 1, 3))


# cross_attention ------------------------------------------------------------------------------------------------------


def _block(trial: Trial, N: int, T: int, S: int, h: int) -> BlockInputs:
    return decoder_inputs(trial, "strong", Size(N=N, T=T, S=S, h=h))


@check_of("cross_attention", points=0.25, kind="contract")
def cross_depends_on_inputs(trial: Trial) -> None:
    """The output has the shape of dec and depends on the inputs."""
    alive_in_batch(trial, _block(trial, 1, 3, 3, 2).args, batched=(0, 1))


@check_of("cross_attention", points=1.0)
def cross_matches(trial: Trial) -> None:
    """Queries from dec, keys and values from enc, with slots 4 ... 7 as w_q, w_k, w_v, w_o."""
    help = "multi_head_attention(dec, enc, ...) with block[4:8]."
    agrees(trial, *_block(trial, 3, 4, 6, 4).args, look=_ROWS, help=help)
    agrees(trial, *_block(trial, 1, 5, 2, 1).args, look=_ROWS, help=help)


@check_of("cross_attention", points=0.5)
def cross_is_never_causal(trial: Trial) -> None:
    """Every query reads every source position, also when S == T."""
    help = "The source is fully known: no causal mask here."
    agrees(trial, *_block(trial, 2, 5, 5, 2).args, look=_ROWS, help=help)


@check_of("cross_attention", points=0.5, kind="metamorphic", needs=("cross_depends_on_inputs",))
def cross_ignores_other_slots(trial: Trial) -> None:
    """Slots outside 4 ... 7 change nothing."""
    x = _block(trial, 2, 3, 4, 2)
    other = weights(trial, 12, 12, 12)
    other[4:8] = x.block[4:8]
    before, after = (shaped(trial, replaced(x.args, a2=block), (2, 3, 12)) for block in (x.block, other))
    stays(before, after, "The output changes with slots outside 4 ... 7.", "Slots 0 ... 3 belong to self-attention.")


@check_of("cross_attention", points=0.75, kind="metamorphic", needs=("cross_depends_on_inputs",))
def cross_heeds_enc_allowed(trial: Trial) -> None:
    """Source positions that enc_allowed (N, 1, S) hides have no effect; each example has its own."""
    help = "Pass enc_allowed on as the mask; True stands for: may be read."
    x = _block(trial, 2, 3, 4, 2)
    allowed = _all_but(2, 1, 4)
    far = x.enc + 3.0 * trial.normal(2, 4, 12)
    before = shaped(trial, (*x.args, allowed), (2, 3, 12))
    after = shaped(trial, (*replaced(x.args, a1=torch.where(allowed[:, 0, :, None], x.enc, far)), allowed), (2, 3, 12))
    moved = shaped(trial, (*replaced(x.args, a1=torch.where(allowed[:, 0, :, None], far, x.enc)), allowed), (2, 3, 12))
    for n in range(2):
        stays(before[n], after[n], f"A hidden source position changes the output of example {n}.", help)
        moves(before[n], moved[n], f"Source positions that may be read have no effect in example {n}.", help)


@check_of("cross_attention", points=0.5, kind="metamorphic", needs=("cross_depends_on_inputs",))
def cross_keeps_examples_apart(trial: Trial) -> None:
    """Examples of a batch never influence each other."""
    x = _block(trial, 3, 3, 3, 2)
    other = replaced(x.args, a0=_but_first_example(trial, x.dec), a1=_but_first_example(trial, x.enc))
    examples_apart(trial, x.args, other, (3, 3, 12))


@check_of("cross_attention", points=0.25, kind="contract", needs=("cross_depends_on_inputs",))
def cross_leaves_inputs(trial: Trial) -> None:
    """dec, enc, block and mask are left as they were."""
    names = "dec,enc,block,num_heads,enc_allowed"
    leaves_inputs(trial, *_block(trial, 2, 3, 3, 2).args, _all_but(2, 1, 3), names=names)


@check_of("cross_attention", points=0.25, kind="contract", needs=("cross_depends_on_inputs",))
def cross_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the inputs."""
    keeps_dtype(trial, *_block(trial, 2, 3, 3, 2).args, _all_but(2, 1, 3))
