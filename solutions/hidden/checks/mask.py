"""Hidden checks of lesson mask."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.compare import describe, difference
from attnlab.placement import heeds_device, stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    agrees,
    alive,
    keeps_dtype,
    leaves_inputs,
    plain,
    replaced,
    tensors,
)  # fmt: skip
from solutions.hidden.inputs import strided, word_ids

# causal_mask ----------------------------------------------------------------------------------------------------------

_TABLE = (trace.mask_values, trace.turned_round, trace.only_one_row)


@check_of("causal_mask", points=0.5, kind="contract")
def mask_says_yes_and_no(trial: Trial) -> None:
    """The mask says yes to some pairs and no to others."""
    length = 6
    table = _only_tensor(trial.call(length))
    if (table == table.flatten()[0]).all():
        raise Failed("Every entry is the same.", "Compare the position of the query with that of the key.")
    if difference(trial.call(length), plain(table)):
        raise Failed("Two calls with the same length gave different tables.")


@check_of("causal_mask", points=2.0)
def mask_reads_the_past(trial: Trial) -> None:
    """Entry [t, s] is True exactly when s <= t: a query reads its own position and all earlier ones."""
    # 2 is the shortest length with a future; 33 is longer than any table that one would write down
    for length in (2, 5, 33):
        agrees(trial, length, look=_TABLE, help="Which way does the comparison point, and is the diagonal in?")


@check_of("causal_mask", points=0.5, needs=("mask_says_yes_and_no",))
def mask_of_one_position(trial: Trial) -> None:
    """A single position may read itself."""
    agrees(trial, 1, help="Length 1 gives a table of one entry, True.")


@check_of("causal_mask", points=0.5, kind="contract", needs=("mask_says_yes_and_no",))
def mask_is_bool(trial: Trial) -> None:
    """The mask holds True and False, dtype bool."""
    _is_bool(_only_tensor(trial.call(4)))


@check_of("causal_mask", points=0.5, kind="contract", needs=("mask_says_yes_and_no",))
def mask_is_where_asked(trial: Trial) -> None:
    """The mask is made on the device that the caller names."""
    with suppress(AnswerError):  # for the diagnosis, which does not see the calls on the pretend GPU
        trial.outcome(4, device="meta")
    heeds_device(trial, 4)


# padding_mask ---------------------------------------------------------------------------------------------------------


def _words(trial: Trial, N: int, S: int, pad: int, dtype: torch.dtype = torch.long) -> torch.Tensor:
    """Ids (N, S) of 1 ... 9 but pad, with pad at the end of every row but the first, ever more of it."""
    ids = word_ids(trial, N, S, 9) + 1
    ids[ids == pad] = 10
    for n in range(1, N):
        ids[n, S - 1 - n % (S - 1) :] = pad
    return ids.to(dtype)


def _squeezed(value: Any) -> Any:
    """A mask without its axes of length 1: where those stand is another check's clause."""
    return value.squeeze() if len(tensors(value)) == 1 else value


_HELP_PAD = "True where the id is not pad_id, and nowhere else."


@check_of("padding_mask", points=0.5, kind="contract")
def padding_depends_on_ids(trial: Trial) -> None:
    """The mask is a tensor and depends on the ids."""
    ids = _words(trial, 3, 5, 0)
    alive(trial, (ids, 0), [(ids.roll(1, dims=0), 0)])


@check_of("padding_mask", points=1.0)
def padding_marks_words(trial: Trial) -> None:
    """True where there is a word, False where there is padding."""
    inside = _words(trial, 4, 4, 0)
    inside[0, 1] = 0  # padding need not stand at the end
    for ids in (_words(trial, 3, 5, 0), strided(inside)):
        agrees(trial, ids, 0, look=(trace.mask_values, trace.turned_round), help=_HELP_PAD, part=_squeezed)


@check_of("padding_mask", points=0.5)
def padding_heeds_pad_id(trial: Trial) -> None:
    """The id that stands for padding is the one the caller names; id 0 may be an ordinary word."""
    ids = _words(trial, 3, 6, 4)
    ids[:, 0] = 0
    help = "Compare with pad_id; neither 0 nor any other id is padding by itself."
    agrees(trial, ids, 4, look=(trace.turned_round,), help=help, part=_squeezed)


@check_of("padding_mask", points=0.5)
def padding_of_float_ids(trial: Trial) -> None:
    """Ids may be whole numbers held as floats."""
    for dtype in (torch.float64, torch.float32):
        agrees(trial, _words(trial, 3, 5, 0, dtype), 0, look=(trace.turned_round,), help=_HELP_PAD, part=_squeezed)


@check_of("padding_mask", points=0.5, kind="contract", needs=("padding_depends_on_ids",))
def padding_has_query_axis(trial: Trial) -> None:
    """The shape is (N, 1, S), so that the mask serves every query; also for one example and one position."""
    for N, S in ((3, 5), (1, 4), (2, 1)):
        ids = torch.ones(N, S, dtype=torch.long)
        shape = tuple(_only_tensor(trial.call(ids, 0)).shape)
        if shape != (N, 1, S):
            raise Failed(f"For ids {(N, S)} its shape is {shape}; {(N, 1, S)} is wanted.", "Index with [:, None, :].")


@check_of("padding_mask", points=0.5, kind="contract", needs=("padding_depends_on_ids",))
def padding_is_bool(trial: Trial) -> None:
    """The mask holds True and False, dtype bool, on the device of the ids."""
    _is_bool(_only_tensor(trial.call(_words(trial, 3, 5, 0), 0)))
    stays_on_device(trial, _words(trial, 3, 5, 0), 0)


@check_of("padding_mask", points=0.5, kind="contract", needs=("padding_depends_on_ids",))
def padding_leaves_ids(trial: Trial) -> None:
    """The ids are left as they were."""
    for pad in (0, 3):
        leaves_inputs(trial, _words(trial, 3, 5, pad, torch.float64), pad, names="ids,pad_id")


# masked_softmax -------------------------------------------------------------------------------------------------------

_WEIGHTS = (
    trace.nan_rows, trace.extra_entries, trace.column_sums, trace.row_sums, trace.one_example, trace.scaled,
)  # fmt: skip
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


# ----------------------------------------------------------------------------------------------------------------------


def _row_1(value: Any) -> Any:
    """Row 1 of each example, as (N, 1, S); what has no such row is left to the comparison."""
    return value[:, 1:2] if isinstance(value, torch.Tensor) and value.dim() == 3 else value


def _only_tensor(value: Any) -> torch.Tensor:
    found = tensors(value)
    if not isinstance(value, torch.Tensor) or not found or not value.numel():
        raise Failed(f"It returned {describe(value)}; a tensor is wanted.", "End with a return of what you computed.")
    return found[0]


def _is_bool(table: torch.Tensor) -> None:
    if table.dtype != torch.bool:
        got = str(table.dtype).removeprefix("torch.")
        raise Failed(f"Its dtype is {got}; bool is wanted.", "A comparison such as a >= b gives bool by itself.")
