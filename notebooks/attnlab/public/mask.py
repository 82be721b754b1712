"""Public checks of lesson 1: the two masks and the masked softmax."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.placement import heeds_device, stays_on_device
from attnlab.public.clauses import keeps_dtype, leaves_inputs_alone
from attnlab.public.probes import on_record, tensor
from attnlab.trial import Trial
from attnlab.verdict import Failed

# causal_mask ----------------------------------------------------------------------------------------------------------


def _triangle(value: Any, right: Any) -> str:
    """Which other triangle it is."""
    got, want = (tensor(t) for t in (value, right))
    if got.shape != want.shape:
        return "The mask has one row for each query and one column for each key."
    others = {
        "True must mean 'may be read': yours is True where a key is hidden.": 1 - want,
        "Your triangle points the other way: each position reads itself and the future.": want.T,
        "A position may read itself: the diagonal is True.": want.tril(-1),
        "You let each position read one key of the future.": want.tril(-1) + torch.eye(len(want)) + _next(len(want)),
        "Nothing is hidden: keys after the query must be False.": torch.ones_like(want),
    }
    return next(
        (words for words, other in others.items() if torch.equal(got, other.double())), "Row t reads keys 0 to t."
    )


def _next(length: int) -> torch.Tensor:
    return torch.diag(torch.ones(length - 1), 1)


@check_of("causal_mask", points=2)
def own_and_earlier_positions(trial: Trial) -> None:
    """With four positions, each query may read its own position and every earlier one, and no later one."""
    on_record(trial, "causal_mask/four", _triangle)


@check_of("causal_mask", points=1)
def every_length(trial: Trial) -> None:
    """The mask is right for any length, 1 included: the first query reads one key, each next query one key more."""
    for length in (1, 2, 7):
        mask = tensor(trial.call(length), (length, length), f"For length {length} it")
        if mask.sum(-1).tolist() != [t + 1 for t in range(length)]:
            raise Failed(
                f"For length {length} the number of keys that may be read does not grow by one from row to row."
            )


@check_of("causal_mask", points=0.5, kind="contract", needs=("own_and_earlier_positions",))
def mask_is_boolean(trial: Trial) -> None:
    """The mask holds True and False, not numbers."""
    _boolean(trial.call(4))


def _boolean(mask: Any) -> None:
    if mask.dtype != torch.bool:
        kind = str(mask.dtype).removeprefix("torch.")
        raise Failed(f"The mask is {kind}.", "A comparison gives True and False; .bool() turns 0 and 1 into them.")


@check_of("causal_mask", points=0.5, kind="contract", needs=("own_and_earlier_positions",))
def made_on_the_device(trial: Trial) -> None:
    """The mask is made on the device that is asked for."""
    heeds_device(trial, 4)


# padding_mask ---------------------------------------------------------------------------------------------------------


def _squeezed(value: Any, N: int, S: int) -> torch.Tensor:
    """The mask as (N, S), whichever axes of size 1 it has."""
    mask = tensor(value)
    if mask.numel() != N * S:
        raise Failed(f"It returned a tensor of shape {tuple(mask.shape)}; ({N}, 1, {S}) is wanted.")
    return mask.reshape(N, S)


@check_of("padding_mask", points=1.5)
def words_may_be_read(trial: Trial) -> None:
    """A position is True where a word stands, False where the padding id stands."""
    ids = trial.ids(2, 5, high=4)
    ids[0, :2] = torch.tensor([0.0, 3.0])  # at least one of each kind
    mask = _squeezed(trial.call(ids, 0), 2, 5)
    words = ids.bool().double()
    if torch.equal(mask, 1 - words):
        raise Failed("It is True at the padding.", "True means 'may be read': turn the condition round.")
    if not torch.equal(mask, words):
        wrong = (mask != words).nonzero()[0].tolist()
        raise Failed(f"With padding id 0, it is wrong at {wrong}, where the id is {ids[tuple(wrong)]:g}.")


@check_of("padding_mask", points=1)
def any_id_may_pad(trial: Trial) -> None:
    """The padding id is the one that is passed; 0 is an ordinary id then, and ids may be integers."""
    on_record(
        trial, "padding_mask/three", "Compare the ids with pad_id, not with 0, and give the result shape (N, 1, S)."
    )


@check_of("padding_mask", points=0.5, kind="contract", needs=("words_may_be_read",))
def has_an_axis_for_queries(trial: Trial) -> None:
    """The shape is (N, 1, S): one row of keys, the same for every query."""
    tensor(trial.call(trial.ids(2, 3, high=4), 0), (2, 1, 3))


@check_of("padding_mask", points=0.5, kind="contract", needs=("words_may_be_read",))
def padding_is_boolean(trial: Trial) -> None:
    """The mask holds True and False, not numbers, on the device of the ids."""
    _boolean(trial.call(trial.ids(2, 3, high=4), 0))
    stays_on_device(trial, trial.ids(2, 3, high=4), 0)


_padding_alone = leaves_inputs_alone(
    "padding_mask", lambda t: (t.ids(2, 4, high=3), 0), points=0.5, needs=("words_may_be_read",)
)

# masked_softmax -------------------------------------------------------------------------------------------------------


def _softmax_hint(value: Any, right: Any) -> str:
    got = tensor(value)
    if got.shape != right.shape:
        return "The weights have the shape of the scores."
    if got.isnan().any():
        return "NaN comes from infinity minus infinity, infinity over infinity, or 0 over 0."
    if _near_one(got.sum(-2)) and not _near_one(got.sum(-1)):
        return "Each column sums to 1: take the softmax over the keys, the last axis."
    if _near_one(got.sum()):
        return "The whole matrix sums to 1, not each row."
    if not _near_one(got.sum(-1)):
        return f"Row 0 sums to {got[0].sum():.3g}. Weights are at least 0 and each row sums to 1."
    if got.std() < 0.7 * right.std():
        return "Your weights are flatter than they should be. Is there one softmax, and not two?"
    return ""


def _near_one(total: torch.Tensor) -> bool:
    return bool(((total - 1).abs() < 1e-3).all())  # ten times the tolerance of values


@check_of("masked_softmax", points=1)
def softmax_without_mask(trial: Trial) -> None:
    """Without a mask it is the softmax over the last axis."""
    on_record(trial, "masked_softmax/plain", _softmax_hint)


_NEEDS = ("softmax_without_mask",)


@check_of("masked_softmax", points=1)
def masked_example(trial: Trial) -> None:
    """With a mask, each row shares its weight among the keys that are allowed."""
    value = on_record(trial, "masked_softmax/masked", _masked_hint)
    tensor(value, (3, 4))


def _masked_hint(value: Any, right: Any) -> str:
    got = tensor(value)
    if got.shape != right.shape:
        return "The weights have the shape of the scores."
    hidden = right == 0
    if got.isnan().any():
        return "NaN: 0 times infinity is NaN. Use masked_fill or where, and check the sign of infinity."
    if (got[hidden] > 1 - 1e-3).any() or bool((got[~hidden] == 0).all()):
        return "You hid the allowed keys and kept the others: turn the mask round."
    if not _near_one(got.sum(-1)) and not got[hidden].any():
        return f"Row 0 sums to {got[0].sum():.3g}. Mask the scores first, then take the softmax."
    if (got[hidden] > 0).any():
        return "Hidden keys still get weight. A score of 0 is not nothing: e^0 = 1. Minus infinity is."
    return ""


@check_of("masked_softmax", points=1, kind="metamorphic", needs=_NEEDS)
def rows_sum_to_one(trial: Trial) -> None:
    """Each row with an allowed key has weights of at least 0 that sum to 1."""
    allowed = trial.chance(2, 4, 5)
    allowed[..., 0] = True  # a key for every query
    weights = tensor(trial.call(trial.normal(2, 4, 5), allowed), (2, 4, 5))
    if not bool((weights >= 0).all()):
        raise Failed("Some weights are below 0 or NaN.")
    if not _near_one(weights.sum(-1)):
        row = ((weights.sum(-1) - 1).abs() >= 1e-3).nonzero()[0].tolist()
        total = weights.sum(-1)[tuple(row)].item()
        raise Failed(
            f"Row {row} sums to {total:.3g}.", "Mask the scores first, then take the softmax over what is left."
        )


@check_of("masked_softmax", points=1.5, kind="metamorphic", needs=_NEEDS)
def hidden_keys_weigh_nothing(trial: Trial) -> None:
    """A key that is not allowed gets weight exactly 0, whatever its score."""
    scores, allowed = trial.normal(3, 5), torch.ones(3, 5, dtype=torch.bool)
    allowed[:, 2] = False
    scores[:, 2] = 20.0  # far above the others: a penalty of a few units does not hide it
    weights = tensor(trial.call(scores, allowed), (3, 5))
    if not bool((weights[:, 2] == 0).all()):
        raise Failed(
            f"A hidden key got weight {weights[:, 2].max():.3g}.",
            "Adding to a score or filling with 0 does not hide a key: e^0 = 1. Minus infinity does.",
        )


@check_of("masked_softmax", points=1, kind="metamorphic", needs=("softmax_without_mask", "hidden_keys_weigh_nothing"))
def hidden_keys_stay_hidden_at_any_scale(trial: Trial) -> None:
    """Hidden keys get weight 0 also where every allowed score is hugely negative."""
    scores, allowed = trial.normal(3, 5) - 1e11, torch.ones(3, 5, dtype=torch.bool)  # below -1e9 and its like
    allowed[:, 4] = False
    weights = tensor(trial.call(scores, allowed), (3, 5))
    if not bool((weights[:, 4] == 0).all()) or not _near_one(weights.sum(-1)):
        raise Failed(
            "With scores near -1e11 the hidden keys win.",
            "A large finite number such as -1e9 is not enough. Fill with float('-inf').",
        )


@check_of("masked_softmax", points=0.5, needs=_NEEDS)
def large_scores_stay_finite(trial: Trial) -> None:
    """Scores in the thousands give weights, not infinity or NaN."""
    on_record(trial, "masked_softmax/large", "exp(1000) overflows. Subtract the largest score of the row first.")


@check_of("masked_softmax", points=1, kind="metamorphic", needs=_NEEDS)
def row_without_keys_is_zero(trial: Trial) -> None:
    """A row with no allowed key is all zeros, and the rows beside it are as usual."""
    allowed = torch.ones(3, 4, dtype=torch.bool)
    allowed[1] = False
    weights = tensor(trial.call(trial.normal(3, 4), allowed), (3, 4))
    if weights[1].isnan().any():
        raise Failed("A row with no allowed key is NaN.", "Minus infinity minus minus infinity is NaN; so is 0 over 0.")
    if weights[1].any():
        raise Failed(f"A row with no allowed key sums to {weights[1].sum():.3g}.", "Nothing may be read: all zeros.")
    if not _near_one(weights[[0, 2]].sum(-1)):
        raise Failed("The rows beside one with no allowed key do not sum to 1.")


@check_of("masked_softmax", points=0.5, kind="contract", needs=_NEEDS)
def mask_is_broadcast(trial: Trial) -> None:
    """A mask with fewer axes, or with axes of size 1, holds for all the scores it is stretched over."""
    scores, allowed = trial.normal(2, 3, 4, 5), torch.ones(2, 1, 1, 5, dtype=torch.bool)
    allowed[0, ..., 3:], allowed[1, ..., 0] = False, False
    whole = tensor(trial.call(scores, allowed.expand(2, 3, 4, 5).clone()), (2, 3, 4, 5))
    small = tensor(trial.call(scores, allowed), (2, 3, 4, 5))
    if not torch.allclose(whole, small, equal_nan=False):
        raise Failed("A mask of shape (2, 1, 1, 5) gives other weights than the same mask written out in full.")
    flat = tensor(trial.call(scores, allowed[0, 0]), (2, 3, 4, 5))
    if not torch.allclose(whole[0], flat[0], equal_nan=False):
        raise Failed("A mask of shape (1, 5) gives other weights than the same mask written out in full.")


def _masked_scores(trial: Trial) -> tuple[Any, ...]:
    return trial.normal(2, 3, 4), torch.ones(3, 4, dtype=torch.bool).tril()


_softmax_alone = leaves_inputs_alone("masked_softmax", _masked_scores, points=0.25, needs=_NEEDS)
_softmax_dtype = keeps_dtype(
    "masked_softmax", _masked_scores, points=0.25, needs=_NEEDS, masked=lambda t: _masked_scores(t)[:1]
)
