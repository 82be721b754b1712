"""Hidden checks of `masked_softmax`."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    agrees,
    alive,
    keeps_dtype,
    leaves_inputs,
    replaced,
)
from solutions.hidden.inputs import strided

_WEIGHTS = (
    trace.nan_rows,
    trace.extra_entries,
    trace.column_sums,
    trace.row_sums,
    trace.one_example,
    trace.scaled,
)


_UNMASKED = tuple(t for t in _WEIGHTS if t is not trace.extra_entries)


def _readable(trial: Trial, *shape: int) -> torch.Tensor:
    """Bool (..., T, S): in every row one key certainly allowed, one certainly not, each of the others by chance."""
    allowed = trial.chance(*shape)
    *rows, S = shape
    sure = torch.randint(S, (*rows, 1), generator=trial.random)
    return allowed.scatter(-1, sure, True).scatter(-1, (sure + 1) % S, False)


def _apart(trial: Trial, *shape: int, scale: float) -> torch.Tensor:
    """Scores in which every row holds 0, 1, ... S - 1 in some order, times scale: no two of them near each other."""
    return trial.normal(*shape).argsort(dim=-1).to(torch.float64) * scale


@check_of("masked_softmax", points=0.5, kind="contract")
def weights_depend_on_scores(trial: Trial) -> None:
    """The weights have the shape of the scores and depend on them."""
    scores, others = (_apart(trial, 2, 3, 4, 4, scale=0.7) for _ in range(2))
    allowed = _readable(trial, 2, 3, 4, 4)
    alive(trial, (scores, allowed), [(others, allowed)], shape=(2, 3, 4, 4))


@check_of("masked_softmax", points=1.5)
def softmax_over_keys(trial: Trial) -> None:
    """Without a mask, each row is the softmax over its keys, the last axis."""
    help = "exp of each score, over the sum of its row: dim=-1."
    for shape in ((3, 4, 5), (2, 3, 4, 4)):
        agrees(trial, _apart(trial, *shape, scale=0.7), look=_UNMASKED, help=help)


@check_of("masked_softmax", points=1.5)
def hidden_keys_are_left_out(trial: Trial) -> None:
    """With a mask, the allowed keys of a row share all the weight, as if the others were not there."""
    help = "Hide the keys that are not allowed before the softmax, by minus infinity; True stands for allowed."
    for shape in ((2, 3, 4, 6), (3, 4, 4)):
        agrees(trial, _apart(trial, *shape, scale=0.7), _readable(trial, *shape), look=_WEIGHTS, help=help)


@check_of("masked_softmax", points=1.0)
def mask_broadcasts(trial: Trial) -> None:
    """The mask may lack axes of the scores, or hold them with length 1, and may differ between examples."""
    scores = _apart(trial, 2, 2, 3, 4, scale=0.7)
    for shape in ((3, 4), (2, 1, 3, 4), (2, 1, 1, 4)):
        agrees(trial, scores, _readable(trial, *shape), look=_WEIGHTS, help="Leave the mask's shape to broadcasting.")


@check_of("masked_softmax", points=1.0)
def hidden_keys_weigh_nothing(trial: Trial) -> None:
    """A key that is not allowed gets no weight however large its score: minus infinity, not a finite penalty."""
    help = "A finite penalty such as -1e9 loses against scores that are lower still. Use minus infinity."
    shape = (3, 3, 5)
    allowed = _readable(trial, *shape)
    # allowed scores far below 0, hidden ones far above, each row's in steps of a 64th: one key takes all. Each of the
    # sizes is beyond a penalty in use: -1e9, -1e4 and -100; 8e11 is within what every right style can do
    size = torch.tensor([8e11, 2e6, 6400.0], dtype=torch.float64)[:, None, None]
    scores = size * (torch.where(allowed, -1.0, 1.0) + _apart(trial, *shape, scale=1 / 64))
    agrees(trial, scores, allowed, look=_WEIGHTS, help=help)


@check_of("masked_softmax", points=1.0)
def softmax_is_stable(trial: Trial) -> None:
    """Large scores, positive and negative, give the same weights as scores shifted to 0, and no NaN."""
    help = "exp overflows above 709 and is 0 below -745. Subtract the largest score of the row first."
    # 768 is beyond both; steps of 1/2 beside it are exact in float32 too, for those who compute in it
    near_it = _apart(trial, 4, 5, scale=0.5)
    offsets = torch.tensor([768.0, -768.0, 768.0, -768.0], dtype=torch.float64)[:, None]
    agrees(trial, near_it + offsets, look=_UNMASKED, help=help)
    agrees(trial, _apart(trial, 2, 3, 4, scale=2e11) - 4e11, look=_UNMASKED, help=help)


@check_of("masked_softmax", points=0.5, needs=("weights_depend_on_scores",))
def empty_row_is_zero(trial: Trial) -> None:
    """A row in which no key is allowed is all zeros, not NaN."""
    help = "There the sum of the exponentials is 0: give zeros instead of dividing."
    allowed = _readable(trial, 2, 4, 5)
    allowed[0, 1] = allowed[1, 1] = False
    # the other rows are other checks' clauses
    agrees(trial, _apart(trial, 2, 4, 5, scale=0.7), allowed, look=_WEIGHTS, help=help, part=_row_1)


@check_of("masked_softmax", points=0.5, kind="contract", needs=("weights_depend_on_scores",))
def softmax_leaves_inputs(trial: Trial) -> None:
    """Scores and mask are left as they were."""
    args = trial.normal(2, 4, 4), _readable(trial, 2, 4, 4)
    leaves_inputs(trial, *args, names="scores,allowed")
    leaves_inputs(trial, *replaced(args, a0=strided(args[0])), names="scores,allowed")


@check_of("masked_softmax", points=0.5, kind="contract", needs=("weights_depend_on_scores",))
def softmax_keeps_dtype(trial: Trial) -> None:
    """float32 in, float32 out; bfloat16 in, bfloat16 out; on the device of the scores."""
    keeps_dtype(trial, trial.normal(2, 4, 4), _readable(trial, 2, 4, 4))


def _row_1(value: Any) -> Any:
    """Row 1 of each example, as (N, 1, S); what has no such row is left to the comparison."""
    return value[:, 1:2] if isinstance(value, torch.Tensor) and value.dim() == 3 else value
