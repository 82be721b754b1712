"""Public checks of lesson 3: layer norm, GELU, the feed-forward layer, the decoder block."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.public.clauses import (
    answers_to_every_input,
    examples_are_independent,
    keeps_dtype,
    leaves_inputs_alone,
)
from attnlab.public.probes import bumped, changed_rows, on_record, same, tensor
from attnlab.trial import Trial
from attnlab.verdict import Failed

NORMALISED = 1e-2
"""How far a normalised token's variance may be from 1 with ordinary inputs: eps takes 1e-5 of it, honest styles less
than 1e-4; a variance divided by d - 1 differs by 0.1 at d = 8."""

# layer_norm -----------------------------------------------------------------------------------------------------------


@check_of("layer_norm", points=0.75, kind="metamorphic")
def each_token_has_mean_zero(trial: Trial) -> None:
    """Over the features of each token the mean is 0, and the output is not zero itself."""
    x = trial.normal(2, 3, 8) * 2.0 + 3.0
    y = tensor(trial.call(x), (2, 3, 8))
    if y.isnan().any() or not bool((y.std(-1) > 0.1).all()):
        raise Failed("The output is constant or NaN over the features of a token.", "Take the mean over the last axis.")
    if not bool((y.mean(-1).abs() < NORMALISED).all()):
        worst = y.mean(-1).abs().max().item()
        raise Failed(
            f"The mean over a token's features is {worst:.3g}, not 0.",
            "Subtract the mean over the last axis, dim=-1. RMSNorm leaves it out; this norm does not.",
        )


_CENTRED = ("each_token_has_mean_zero",)


@check_of("layer_norm", points=0.75, kind="metamorphic", needs=_CENTRED)
def each_token_has_variance_one(trial: Trial) -> None:
    """Over the features of each token the population variance is 1."""
    variance = tensor(trial.call(trial.normal(2, 3, 8) * 2.0)).var(-1, correction=0).mean().item()
    if abs(variance - 1) > NORMALISED:
        help = "Divide by the square root of the variance."
        if abs(variance - 7 / 8) < NORMALISED:
            help = "Your variance is d/(d - 1) too large: divide by d (unbiased=False), not by d - 1."
        raise Failed(f"The variance of the output is {variance:.3g}, not 1.", help)


@check_of("layer_norm", points=1)
def norm_example(trial: Trial) -> None:
    """On ordinary numbers it is right, entry by entry."""
    on_record(trial, "layer_norm/plain")


@check_of("layer_norm", points=0.75)
def eps_is_under_the_root(trial: Trial) -> None:
    """On a token that hardly varies, where 1e-5 is as large as the variance, it is right too."""
    on_record(
        trial, "layer_norm/faint", "eps is 1e-5 and is added to the variance, under the root; not to the deviation."
    )


@check_of("layer_norm", points=0.25, kind="metamorphic", needs=_CENTRED)
def constant_token_gives_zeros(trial: Trial) -> None:
    """A token whose features are all equal becomes zeros, not NaN."""
    y = tensor(trial.call(torch.full((1, 2, 4), 2.5, dtype=torch.float64)), (1, 2, 4))
    if not bool((y.abs() < 1e-6).all()):
        raise Failed("A token of equal features does not become zeros.", "0/0 is NaN: add eps under the root.")


@check_of("layer_norm", points=0.25, kind="metamorphic", needs=_CENTRED)
def each_token_is_normalised_alone(trial: Trial) -> None:
    """The norm of one token does not depend on the others, with any number of axes in front."""
    x = trial.normal(2, 3, 4)
    whole, alone = tensor(trial.call(x), (2, 3, 4)), tensor(trial.call(x[1, 2]), (4,))
    if not same(whole[1, 2], alone):
        raise Failed(
            "A token alone and among others gives different results.", "Mean and variance run over dim=-1 only."
        )


_norm_alone = leaves_inputs_alone("layer_norm", lambda t: (t.normal(2, 3, 4),), points=0.125, needs=_CENTRED)
_norm_dtype = keeps_dtype("layer_norm", lambda t: (t.normal(2, 3, 4),), points=0.125, needs=_CENTRED)

# gelu -----------------------------------------------------------------------------------------------------------------


@check_of("gelu", points=1)
def right_near_zero(trial: Trial) -> None:
    """Between -0.5 and 0.5 it is right."""
    on_record(trial, "gelu/near", _gelu_hint)


def _gelu_hint(value: Any, _right: Any) -> str:
    got, u = tensor(value), torch.linspace(-0.5, 0.5, 9, dtype=torch.float64)
    if got.shape != u.shape:
        return "The output has the shape of the input."
    if torch.allclose(got, u.clamp(min=0)):
        return "That is the ReLU."
    if torch.allclose(got, u * torch.sigmoid(1.702 * u), atol=1e-6):
        return "That is the sigmoid approximation; this exercise wants the tanh form."
    return "0.5u(1 + tanh(...)): is every factor there, and the cube on u alone?"


_NEAR = ("right_near_zero",)


@check_of("gelu", points=1.5)
def tanh_form(trial: Trial) -> None:
    """Between -3.5 and -1.5, where the forms of GELU differ most, it is the tanh form."""
    on_record(trial, "gelu/far", "At u = -3 the exact form gives -0.00405, the tanh form -0.00364.")


@check_of("gelu", points=0.25, kind="metamorphic", needs=_NEAR)
def far_out_it_is_u_or_zero(trial: Trial) -> None:
    """For large u it is u, for very negative u it is 0, and never NaN; any shape will do."""
    u = torch.tensor([[30.0, 1000.0], [-30.0, -1000.0]], dtype=torch.float64)
    if not torch.allclose(tensor(trial.call(u), (2, 2)), u.clamp(min=0), atol=1e-4):  # the tolerance of values
        raise Failed("At 30 and 1000 it is not u, or at -30 and -1000 it is not 0.", "tanh saturates; exp overflows.")


_gelu_alone = leaves_inputs_alone("gelu", lambda t: (t.normal(2, 3),), points=0.125, needs=_NEAR)
_gelu_dtype = keeps_dtype("gelu", lambda t: (t.normal(2, 3),), points=0.125, needs=_NEAR)

# feed_forward ---------------------------------------------------------------------------------------------------------


def _mlp(trial: Trial) -> tuple[Any, ...]:
    return trial.normal(2, 3, 4), trial.normal(4, 6), trial.normal(6, 4)


_feed_answers = answers_to_every_input(
    "feed_forward",
    _mlp,
    {
        "x": (0, ..., "It starts from x."),
        "w_mlp1": (1, ..., "First x @ w_mlp1."),
        "w_mlp2": (2, ..., "Last comes the product with w_mlp2."),
    },
    points=0.5,
    shape=(2, 3, 4),
)
_ANSWERS = ("answers_to_every_input",)


@check_of("feed_forward", points=1.5)
def feed_forward_example(trial: Trial) -> None:
    """With d = 4 and a width of 7 it is two products with one GELU between them."""
    on_record(trial, "feed_forward/wide", "One GELU, between the two products; no bias.")


@check_of("feed_forward", points=0.5, kind="metamorphic", needs=_ANSWERS)
def each_token_goes_alone(trial: Trial) -> None:
    """Changing one token changes the output of that token only."""
    args = _mlp(trial)
    first, second = (tensor(trial.call(*a), (2, 3, 4)) for a in (args, bumped(trial, args, 0, (slice(None), 1))))
    if (moved := changed_rows(first, second)) != [1]:
        raise Failed(f"Changing token 1 changes the tokens {moved}.", "Nothing here reads another token.")


@check_of("feed_forward", points=0.25, kind="metamorphic", needs=_ANSWERS)
def there_is_no_bias(trial: Trial) -> None:
    """A token of zeros gives zeros."""
    _, w_mlp1, w_mlp2 = _mlp(trial)
    y = tensor(trial.call(torch.zeros(1, 2, 4, dtype=torch.float64), w_mlp1, w_mlp2), (1, 2, 4))
    if not bool((y.abs() < 1e-6).all()):
        raise Failed("A token of zeros does not give zeros.", "Something is added: a bias? nn.Linear has one.")


_feed_alone = leaves_inputs_alone("feed_forward", _mlp, points=0.125, needs=_ANSWERS)
_feed_dtype = keeps_dtype("feed_forward", _mlp, points=0.125, needs=_ANSWERS)

# decoder_block --------------------------------------------------------------------------------------------------------


def _block(trial: Trial, S: int = 3) -> tuple[Any, ...]:
    """N = 2, T = 4, d = 4, two heads; slots 10 and 11 hold zeros."""
    block = trial.normal(12, 4, 4, scale=0.75)  # 1.5 / sqrt(d): weights that make every sublayer felt
    block[10:] = 0.0
    return trial.normal(2, 4, 4), trial.normal(2, S, 4), block, 2


_block_answers = answers_to_every_input(
    "decoder_block",
    _block,
    {
        "dec": (0, ..., "The block starts from dec."),
        "enc": (1, ..., "The cross-attention takes keys and values from enc."),
        "slots 0 to 3": (2, slice(0, 4), "Slots 0 to 3 are the self-attention."),
        "slots 4 to 7": (2, slice(4, 8), "Slots 4 to 7 are the cross-attention."),
        "slots 8 and 9": (2, slice(8, 10), "Slots 8 and 9 are the feed-forward layer."),
    },
    points=1,
    shape=(2, 4, 4),
)


@check_of("decoder_block", points=2, kind="metamorphic", needs=_ANSWERS)
def future_is_hidden(trial: Trial) -> None:
    """Changing a later target token never changes an earlier row of the output."""
    args = _block(trial)
    first = tensor(trial.call(*args), (2, 4, 4))
    if first.isnan().any():
        row = first.isnan().any(-1).any(0).nonzero()[0].item()
        help = "Row 0 has nobody to look at: a position may read itself." if row == 0 else "Is the mask turned round?"
        raise Failed(f"Row {row} of the output is NaN.", help)
    for t in (3, 1):
        moved = changed_rows(first, tensor(trial.call(*bumped(trial, args, 0, (slice(None), t))), (2, 4, 4)))
        if early := [row for row in moved if row < t]:
            raise Failed(
                f"Changing target token {t} changes the earlier rows {early}.",
                "The self-attention wants the causal mask: True where the key is not later than the query.",
            )


@check_of("decoder_block", points=0.5, kind="metamorphic", needs=_ANSWERS)
def past_is_read(trial: Trial) -> None:
    """Changing the first target token changes every row of the output."""
    args = _block(trial)
    first, second = (tensor(trial.call(*a), (2, 4, 4)) for a in (args, bumped(trial, args, 0, (slice(None), 0))))
    if (moved := changed_rows(first, second)) != [0, 1, 2, 3]:
        raise Failed(f"Changing target token 0 changes the rows {moved} only.", "Earlier tokens may be read.")


@check_of("decoder_block", points=1, kind="metamorphic", needs=_ANSWERS)
def whole_source_is_read(trial: Trial) -> None:
    """Every target position reads every source position, also where there are as many of one as of the other."""
    args = _block(trial, S=4)
    first, second = (tensor(trial.call(*a), (2, 4, 4)) for a in (args, bumped(trial, args, 1, (slice(None), 3))))
    if (moved := changed_rows(first, second)) != [0, 1, 2, 3]:
        raise Failed(f"Changing source position 3 changes the rows {moved} only.", "No causal mask in cross-attention.")


@check_of("decoder_block", points=1, kind="metamorphic", needs=_ANSWERS)
def every_token_leaves_normalised(trial: Trial) -> None:
    """Every token of the output has mean 0 and variance 1: the norm comes last."""
    normalised(tensor(trial.call(*_block(trial)), (2, 4, 4)))


def normalised(y: torch.Tensor) -> None:
    """Raise Failed where a token (last axis) of y has not mean 0 and variance 1."""
    mean, variance = y.mean(-1).abs().max().item(), y.var(-1, correction=0).mean().item()
    if not (mean < NORMALISED and abs(variance - 1) < NORMALISED):
        raise Failed(
            f"The tokens of the output have mean up to {mean:.3g} and variance {variance:.3g}; 0 and 1 are wanted.",
            "Each sublayer adds its input back first and normalises the sum: LN(x + f(x)).",
        )


@check_of("decoder_block", points=0.5, kind="metamorphic", needs=_ANSWERS)
def residuals_are_kept(trial: Trial) -> None:
    """With all weights zero, nothing is left but each token itself, normalised."""
    dec, enc, block, num_heads = _block(trial)
    only_residual(tensor(trial.call(dec, enc, torch.zeros_like(block), num_heads), (2, 4, 4)), dec)


def only_residual(y: torch.Tensor, x: torch.Tensor) -> None:
    """Raise Failed where the tokens of y are not those of x, shifted and stretched."""
    alike = torch.nn.functional.cosine_similarity(y - y.mean(-1, keepdim=True), x - x.mean(-1, keepdim=True), dim=-1)
    if not bool((alike > 0.999).all()):  # another vector of 4 features is this near once in many thousand times
        raise Failed("With all weights zero the tokens are lost.", "Each sublayer adds its own input back: x + f(x).")


@check_of("decoder_block", points=2.5)
def block_example(trial: Trial) -> None:
    """With two heads, four target and three source positions, it is right, entry by entry."""
    on_record(
        trial,
        "decoder_block/two",
        "If the other checks pass: is the order self, cross, feed-forward, and does each take the updated dec?",
    )


@check_of("decoder_block", points=0.5, kind="metamorphic", needs=_ANSWERS)
def unused_slots_are_ignored(trial: Trial) -> None:
    """Whatever slots 10 and 11 hold, the output stays."""
    args = _block(trial)
    first, second = (tensor(trial.call(*a), (2, 4, 4)) for a in (args, bumped(trial, args, 2, slice(10, 12))))
    if not same(first, second):
        raise Failed("Changing slots 10 and 11 changed the output.", "The feed-forward layer is slots 8 and 9.")


_block_examples = examples_are_independent("decoder_block", _block, (0, 1), points=0.5, needs=_ANSWERS)
_block_alone = leaves_inputs_alone("decoder_block", _block, points=0.25, needs=_ANSWERS)
_block_dtype = keeps_dtype("decoder_block", _block, points=0.25, needs=_ANSWERS)
