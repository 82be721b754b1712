"""Public checks of lesson 2: heads, attention, cross-attention."""

from __future__ import annotations

import math
from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.public.clauses import (
    answers_to_every_input,
    examples_are_independent,
    keeps_dtype,
    leaves_inputs_alone,
)
from attnlab.public.probes import bumped, changed_rows, on_record, same, tensor, tensors
from attnlab.trial import Trial
from attnlab.verdict import Failed

# split_heads ----------------------------------------------------------------------------------------------------------


@check_of("split_heads", points=0.25, kind="contract")
def has_an_axis_for_heads(trial: Trial) -> None:
    """The shape is (N, h, T, d_k), and every number of x is there once."""
    _rearranged(trial, (2, 2, 3, 4), trial.normal(2, 3, 8), 2)


def _rearranged(trial: Trial, shape: tuple[int, ...], x: torch.Tensor, *args: Any) -> None:
    """Raise Failed where the answer to (x, *args) is not the numbers of x in another order and of `shape`."""
    y = tensor(trial.call(x, *args), shape)
    if not same(y.flatten().sort().values, x.flatten().sort().values):
        raise Failed("The numbers are not those of x in another order.", "Nothing is computed here, only moved.")


@check_of("split_heads", points=1.75)
def heads_are_consecutive_features(trial: Trial) -> None:
    """With d = 8 and two heads, head 0 holds the first four features of every token, head 1 the last four."""
    on_record(trial, "split_heads/two", _split_hint)


def _split_hint(value: Any, right: Any) -> str:
    got = tensor(value)
    if got.shape != right.shape:
        return "The axes are batch, head, token, feature."
    if _near(got[0, 0, 0, 1], right[0, 0, 0, 2]):
        return "Head 0 is the first d_k features, not every second one."
    if _near(got[0, 0, 1, 0], right[0, 1, 0, 0]):
        return "view and reshape only cut memory anew. Split the feature axis first, then swap axes."
    return "Split the last axis into (num_heads, d_k), then bring the head axis before the token axis."


def _near(a: torch.Tensor, b: torch.Tensor) -> bool:
    return abs(a.item() - b.item()) < 1e-8  # the record has 10 digits


_SPLIT = ("has_an_axis_for_heads",)


@check_of("split_heads", points=0.5, kind="metamorphic", needs=_SPLIT)
def one_head_holds_everything(trial: Trial) -> None:
    """With one head, the head is the whole of x."""
    x = trial.normal(2, 3, 4)
    if not same(tensor(trial.call(x, 1), (2, 1, 3, 4))[:, 0], x):
        raise Failed("With one head, the numbers or their order have changed.")


_split_alone = leaves_inputs_alone("split_heads", lambda t: (t.normal(2, 3, 4), 2), points=0.25, needs=_SPLIT)
_split_dtype = keeps_dtype("split_heads", lambda t: (t.normal(2, 3, 4), 2), points=0.25, needs=_SPLIT)

# merge_heads ----------------------------------------------------------------------------------------------------------


@check_of("merge_heads", points=0.25, kind="contract")
def has_no_axis_for_heads(trial: Trial) -> None:
    """The shape is (N, T, h * d_k), and every number of x is there once."""
    _rearranged(trial, (2, 3, 8), trial.normal(2, 2, 3, 4))


@check_of("merge_heads", points=1.75)
def heads_lie_side_by_side(trial: Trial) -> None:
    """Each token gets the features of all its heads side by side, head 0 first."""
    on_record(trial, "merge_heads/two", _merge_hint)


def _merge_hint(value: Any, right: Any) -> str:
    got = tensor(value)
    if got.shape != right.shape:
        return "Heads are put side by side, not added: the last axis is h * d_k."
    if _near(got[0, 0, 4], right[0, 1, 0]):
        return "Token 0 got two tokens of head 0. Swap the axes back before you reshape."
    return "Heads keep their order: first all of head 0, then all of head 1."


_MERGE = ("has_no_axis_for_heads",)


@check_of("merge_heads", points=0.5, kind="metamorphic", needs=_MERGE)
def one_head_is_unpacked(trial: Trial) -> None:
    """With one head, the result is that head."""
    x = trial.normal(2, 1, 3, 4)
    if not same(tensor(trial.call(x), (2, 3, 4)), x[:, 0]):
        raise Failed("With one head, the numbers or their order have changed.")


_merge_alone = leaves_inputs_alone("merge_heads", lambda t: (t.normal(2, 2, 3, 4),), points=0.25, needs=_MERGE)
_merge_dtype = keeps_dtype("merge_heads", lambda t: (t.normal(2, 2, 3, 4),), points=0.25, needs=_MERGE)

# attention ------------------------------------------------------------------------------------------------------------


@check_of("attention", points=1)
def mixes_values_by_weight(trial: Trial) -> None:
    """With queries and keys of one feature each, where the scale is 1, values are mixed by softmax of q times k."""
    on_record(
        trial,
        "attention/narrow",
        "scores[t, s] is query t times key s, and the weights of row t mix the values.",
        form=_mixture,
    )


def _mixture(value: Any) -> Any:
    """The first of two values: `weights_made_the_mixture` minds the second."""
    return value[0] if isinstance(value, tuple | list) and len(value) == 2 else value


_MIXES = ("mixes_values_by_weight",)


@check_of("attention", points=1.5)
def scores_are_scaled(trial: Trial) -> None:
    """With six features a head, it is right only where the scores are divided by sqrt(6)."""
    on_record(trial, "attention/wide", lambda _value, _right: _scale_hint(trial))


def _scale_hint(trial: Trial) -> str:
    """Measure the scale: the log of a ratio of two weights is the difference of their scores."""
    q, k = trial.normal(1, 6, scale=0.5), trial.normal(2, 6, scale=0.5)
    _, weights = tensors(trial.call(q, k, torch.zeros(2, 1, dtype=q.dtype)), (1, 1), (1, 2))
    scale = (weights[0, 1].log() - weights[0, 0].log()) / (q @ (k[1] - k[0]))[0]
    if not bool(scale.isfinite()) or scale.item() <= 0.01:  # no softmax of scores at all
        return ""
    return f"For d_k = 6 your scores are q @ k divided by {1 / scale.item():.3g}; sqrt(d_k) is {math.sqrt(6):.3g}."


@check_of("attention", points=0.5, kind="metamorphic", needs=_MIXES)
def weights_made_the_mixture(trial: Trial) -> None:
    """The weights that are returned are those that mixed the values."""
    q, k, v = trial.normal(3, 4), trial.normal(5, 4), trial.normal(5, 2)
    mixed, weights = tensors(trial.call(q, k, v), (3, 2), (3, 5))
    if not torch.allclose(mixed, weights @ v, rtol=1e-4, atol=1e-4):  # the tolerance of values
        raise Failed("The mixture is not what the returned weights make of v.", "Return the weights after the softmax.")


@check_of("attention", points=0.5)
def masked_example_is_right(trial: Trial) -> None:
    """With a mask, and one feature a query, it is the mixture of the allowed values only."""
    on_record(trial, "attention/masked", "Hand the mask on to masked_softmax; True means 'may be read'.")


@check_of("attention", points=0.5, kind="metamorphic", needs=_MIXES)
def hidden_value_never_arrives(trial: Trial) -> None:
    """Changing the key and value of a hidden position changes nothing."""
    allowed = torch.tensor([True, True, False, True]).expand(3, 4).clone()
    args = (trial.normal(3, 4), trial.normal(4, 4), trial.normal(4, 2), allowed)
    changed = bumped(trial, bumped(trial, args, 1, 2), 2, 2)
    first, second = (tensors(trial.call(*a), (3, 2), (3, 4))[0] for a in (args, changed))
    if not same(first, second):
        raise Failed("Key 2 is hidden, and changing it changed the mixture.", "Is the mask used, before the softmax?")


@check_of("attention", points=0.5, kind="metamorphic", needs=_MIXES)
def query_without_keys_reads_nothing(trial: Trial) -> None:
    """A query that may read no key gets zeros, not NaN."""
    allowed = torch.ones(3, 4, dtype=torch.bool)
    allowed[1] = False
    value = trial.call(trial.normal(3, 4), trial.normal(4, 4), trial.normal(4, 2), allowed)
    mixed, weights = tensors(value, (3, 2), (3, 4))
    if mixed[1].any() or weights[1].any():
        seen = "NaN" if mixed[1].isnan().any() else "not zero"
        raise Failed(
            f"A query that may read no key gets a mixture that is {seen}.", "masked_softmax gives such a row zeros."
        )


@check_of("attention", points=1, kind="metamorphic", needs=_MIXES)
def leading_axes_are_free(trial: Trial) -> None:
    """Batch and heads, or any other axes in front, are treated one by one."""
    q, k, v = trial.normal(2, 3, 3, 4), trial.normal(2, 3, 5, 4), trial.normal(2, 3, 5, 2)
    mixed, weights = tensors(trial.call(q, k, v), (2, 3, 3, 2), (2, 3, 3, 5))
    alone = tensors(trial.call(q[1, 2], k[1, 2], v[1, 2]), (3, 2), (3, 5))
    if not same(mixed[1, 2], alone[0]) or not same(weights[1, 2], alone[1]):
        raise Failed(
            "The same head alone and among others gives different results.",
            "Swap the last two axes of k, and no others; the softmax runs over the last axis.",
        )


def _qkv(trial: Trial) -> tuple[Any, ...]:
    return (
        trial.normal(2, 3, 4),
        trial.normal(2, 5, 4),
        trial.normal(2, 5, 4),
        trial.chance(3, 5) | torch.eye(3, 5).bool(),
    )


_attention_alone = leaves_inputs_alone("attention", _qkv, points=0.25, needs=_MIXES)
_attention_dtype = keeps_dtype("attention", lambda t: _qkv(t)[:3], points=0.25, needs=_MIXES, masked=_qkv)

# multi_head_attention -------------------------------------------------------------------------------------------------


def _first_two_keys() -> torch.Tensor:
    """A mask (2, 1, 4)."""
    return torch.tensor([True, True, False, False]).expand(2, 1, 4).clone()


def _heads(trial: Trial, allowed: torch.Tensor | None = None) -> tuple[Any, ...]:
    """N = 2, T = 3, S = 4, d = 4, two heads."""
    w = trial.normal(4, 4, 4, scale=0.75)  # 1.5 / sqrt(d): weights that make every part felt
    return trial.normal(2, 3, 4), trial.normal(2, 4, 4), w[0], w[1], w[2], w[3], 2, allowed


_multi_head_answers = answers_to_every_input(
    "multi_head_attention",
    _heads,
    {
        "x_q": (0, ..., "The queries come from x_q."),
        "x_kv": (1, ..., "Keys and values come from x_kv."),
        "w_q": (2, ..., "Queries are x_q @ w_q."),
        "w_k": (3, ..., "Keys are x_kv @ w_k."),
        "w_v": (4, ..., "Values are x_kv @ w_v."),
        "w_o": (5, ..., "After merging the heads comes one more product, with w_o."),
    },
    points=0.5,
    shape=(2, 3, 4),
)
_ANSWERS = ("answers_to_every_input",)


@check_of("multi_head_attention", points=0.75)
def one_head_is_right(trial: Trial) -> None:
    """With one head it is attention between two products and a third."""
    on_record(trial, "multi_head_attention/one", "Here y = x @ w; nn.Linear would use the transpose and add a bias.")


@check_of("multi_head_attention", points=1.5)
def two_heads_are_right(trial: Trial) -> None:
    """With two heads of three features each, every head attends for itself."""
    on_record(
        trial,
        "multi_head_attention/two",
        "If one head is right and two are not, look at split and merge, and at the scale: sqrt of d / num_heads.",
    )


@check_of("multi_head_attention", points=0.5, kind="metamorphic", needs=_ANSWERS)
def mask_holds_for_every_head(trial: Trial) -> None:
    """What a mask of shape (T, S) or (N, 1, S) hides is hidden from every head, and from no other example."""
    x_q, _, *rest = _heads(trial)
    x_q, x_kv = (
        torch.cat([x_q, x_q[:1]]),
        trial.normal(3, 4, 4),
    )  # three examples, two heads: the axes cannot be mixed up
    for shape in ((3, 4), (3, 1, 4)):
        allowed = torch.ones(shape, dtype=torch.bool)
        allowed[..., 3] = False
        if len(shape) == 3:
            allowed[0, 0, 3] = True
        args = (x_q, x_kv, *rest[:-1], allowed)
        first, second = (tensor(trial.call(*a), (3, 3, 4)) for a in (args, bumped(trial, args, 1, (slice(None), 3))))
        if not same(first[1:], second[1:]):
            raise Failed(
                f"With a mask of shape {shape}, changing a hidden position changed the output.",
                "The mask needs an axis for the heads: (N, 1, T, S).",
            )
        if len(shape) == 3 and same(first[0], second[0]):
            raise Failed("What is hidden in example 1 is hidden in example 0 too.", "Each example has its own mask.")


_multi_head_examples = examples_are_independent("multi_head_attention", _heads, (0, 1), points=0.25, needs=_ANSWERS)
_multi_head_alone = leaves_inputs_alone("multi_head_attention", _heads, points=0.25, needs=_ANSWERS)
_multi_head_dtype = keeps_dtype(
    "multi_head_attention", _heads, points=0.25, needs=_ANSWERS, masked=lambda t: _heads(t, _first_two_keys())
)

# cross_attention ------------------------------------------------------------------------------------------------------


def _cross(trial: Trial, S: int = 4) -> tuple[Any, ...]:
    """N = 2, T = 3, d = 4, two heads; the slots of other sublayers filled too."""
    return trial.normal(2, 3, 4), trial.normal(2, S, 4), trial.normal(12, 4, 4, scale=0.75), 2


_cross_answers = answers_to_every_input(
    "cross_attention",
    _cross,
    {
        "dec": (0, ..., "The queries come from dec."),
        "enc": (1, ..., "Keys and values come from enc, not from dec."),
        "slot 4 of the block": (2, 4, "Slot 4 is w_q."),
        "slot 5 of the block": (2, 5, "Slot 5 is w_k."),
        "slot 6 of the block": (2, 6, "Slot 6 is w_v."),
        "slot 7 of the block": (2, 7, "Slot 7 is w_o."),
    },
    points=0.5,
    shape=(2, 3, 4),
)


@check_of("cross_attention", points=1.25)
def cross_example(trial: Trial) -> None:
    """With three target and four source positions and two heads, it is right."""
    on_record(trial, "cross_attention/two", "Slots 4, 5, 6, 7 are w_q, w_k, w_v, w_o, in this order.")


@check_of("cross_attention", points=0.75, kind="metamorphic", needs=_ANSWERS)
def every_query_reads_every_source_position(trial: Trial) -> None:
    """Each target position reads each source position, also where there are as many of one as of the other."""
    args = _cross(trial, S=3)
    first = tensor(trial.call(*args), (2, 3, 4))
    for s in (2, 0):
        moved = changed_rows(first, tensor(trial.call(*bumped(trial, args, 1, (slice(None), s))), (2, 3, 4)))
        if moved != [0, 1, 2]:
            raise Failed(
                f"Changing source position {s} changes the target positions {moved} only.",
                "The source is fully known: no causal mask here.",
            )


@check_of("cross_attention", points=0.5, kind="metamorphic", needs=_ANSWERS)
def source_padding_is_not_read(trial: Trial) -> None:
    """What enc_allowed hides does not change the output, each example with its own padding."""
    allowed = torch.ones(2, 1, 4, dtype=torch.bool)
    allowed[1, 0, 2:] = False
    args = (*_cross(trial), allowed)
    first = tensor(trial.call(*args), (2, 3, 4))
    if not same(first, tensor(trial.call(*bumped(trial, args, 1, (1, slice(2, 4)))), (2, 3, 4))):
        raise Failed("Changing a hidden source position changed the output.", "Hand enc_allowed on as the mask.")
    if same(first, tensor(trial.call(*bumped(trial, args, 1, (0, slice(2, 4)))), (2, 3, 4))):
        raise Failed(
            "A position that is hidden in example 1 is hidden in example 0 too.", "Keep the mask's batch axis."
        )


@check_of("cross_attention", points=0.25, kind="metamorphic", needs=_ANSWERS)
def other_slots_do_not_matter(trial: Trial) -> None:
    """Slots 0 to 3 and 8 to 11 of the block belong to other sublayers."""
    args = _cross(trial)
    others = [0, 1, 2, 3, 8, 9, 10, 11]
    if not same(tensor(trial.call(*args)), tensor(trial.call(*bumped(trial, args, 2, others)))):
        raise Failed("Changing slots other than 4 to 7 changed the output.", "Slots 0 to 3 are the self-attention.")


_cross_examples = examples_are_independent("cross_attention", _cross, (0, 1), points=0.25, needs=_ANSWERS)
_cross_alone = leaves_inputs_alone("cross_attention", _cross, points=0.25, needs=_ANSWERS)
_cross_dtype = keeps_dtype(
    "cross_attention", _cross, points=0.25, needs=_ANSWERS, masked=lambda t: (*_cross(t), _first_two_keys())
)
