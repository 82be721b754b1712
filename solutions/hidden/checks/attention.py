"""Hidden checks of `attention`."""

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
    keeps_dtype,
    leaves_inputs,
)

_WEIGHTS = (
    trace.nan_rows,
    trace.extra_entries,
    trace.column_sums,
    trace.row_sums,
    trace.one_example,
    trace.scaled,
)


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
