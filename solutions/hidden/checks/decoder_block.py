"""Hidden checks of lesson decoder_block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch.nn import functional as F

from attnlab.checking import check_of
from attnlab.trial import Trial
from attnlab.verdict import Failed
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
from solutions.hidden.inputs import (
    FAINT,
    BlockInputs,
    Size,
    decoder_inputs,
    feed_forward_far,
    feed_forward_near,
    noisy_slots,
    strided,
)  # fmt: skip

# layer_norm -----------------------------------------------------------------------------------------------------------


def _tokens(trial: Trial, *shape: int) -> torch.Tensor:
    """Tokens (..., d) of means between -2 and 2 and standard deviations between 1 and 3, far above eps."""
    rows = shape[:-1]
    mean, spread = (torch.rand(*rows, 1, generator=trial.random, dtype=torch.float64) for _ in range(2))
    return 4.0 * mean - 2.0 + (1.0 + 2.0 * spread) * F.layer_norm(trial.normal(*shape), shape[-1:])


_NORM = (trace.nan_rows, trace.one_example, trace.statistics)


@check_of("layer_norm", points=0.5, kind="contract")
def norm_depends_on_x(trial: Trial) -> None:
    """The output has the shape of x and depends on it."""
    alive(trial, (_tokens(trial, 2, 3, 6),), [(_tokens(trial, 2, 3, 6),)], shape=(2, 3, 6))


@check_of("layer_norm", points=1.25)
def norm_is_mean_0_variance_1(trial: Trial) -> None:
    """Each token ends with mean 0 and variance 1, the variance being the mean of the squares (divide by d)."""
    help = "(x - mean) / sqrt(variance + 1e-5), both over the last axis, unbiased=False."
    agrees(trial, _tokens(trial, 3, 4, 6), look=_NORM, help=help)
    agrees(trial, strided(_tokens(trial, 2, 5, 5)), look=_NORM, help=help)


@check_of("layer_norm", points=0.25, needs=("norm_depends_on_x",))
def norm_takes_any_axes(trial: Trial) -> None:
    """Any number of axes may stand before the last, also none."""
    agrees(trial, _tokens(trial, 8), help="Count axes from the end: dim=-1.")
    agrees(trial, _tokens(trial, 2, 1, 3, 8), help="Count axes from the end: dim=-1.")


@check_of("layer_norm", points=0.5, kind="metamorphic", needs=("norm_depends_on_x",))
def norm_keeps_tokens_apart(trial: Trial) -> None:
    """Each token is normalised over its own features; other tokens and examples have no say."""
    x, other = _tokens(trial, 3, 4, 6), 3.0 * _tokens(trial, 3, 4, 6)
    other[0, 0] = x[0, 0]
    before, after = (shaped(trial, (given,), (3, 4, 6)) for given in (x, other))
    help = "Mean and variance over the last axis alone: dim=-1, keepdim=True."
    stays(before[0, 0], after[0, 0], "One token changes with the others.", help)


@check_of("layer_norm", points=0.5)
def norm_adds_eps_inside_root(trial: Trial) -> None:
    """Nearly constant tokens: 1e-5 is added to the variance, under the root."""
    help = "Right for ordinary tokens? Then it is eps: 1e-5, inside the root, sqrt(variance + 1e-5)."
    # standard deviations from a third to three times sqrt(eps)
    spread = FAINT * torch.tensor([1 / 3, 1.0, 3.0], dtype=torch.float64)[:, None]
    agrees(trial, spread * F.layer_norm(trial.normal(2, 3, 8), (8,), eps=0.0), look=_NORM, help=help)


@check_of("layer_norm", points=0.5, needs=("norm_depends_on_x",))
def norm_of_constant_token(trial: Trial) -> None:
    """A token whose features are all equal gives zeros, not NaN."""
    x = _tokens(trial, 2, 3, 6)
    x[0, 1], x[1, 1] = 2.0, 0.0
    # the other tokens are other checks' clauses
    agrees(trial, x, part=_token_1, help="Its variance is 0: eps keeps you from dividing by 0.")


def _token_1(value: Any) -> Any:
    """Token 1 of each example, as (N, d); what has no such token is left to the comparison."""
    return value[:, 1] if isinstance(value, torch.Tensor) and value.dim() == 3 else value


@check_of("layer_norm", points=0.25, kind="contract", needs=("norm_depends_on_x",))
def norm_leaves_input(trial: Trial) -> None:
    """x is left as it was."""
    leaves_inputs(trial, _tokens(trial, 2, 3, 6), names="x")


@check_of("layer_norm", points=0.25, kind="contract", needs=("norm_depends_on_x",))
def norm_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of x."""
    keeps_dtype(trial, _tokens(trial, 2, 3, 6))


# gelu -----------------------------------------------------------------------------------------------------------------


def _spread(trial: Trial, *shape: int) -> torch.Tensor:
    """Entries from -10 to 10 in equal steps, in random order. Beside 10 either form of GELU does."""
    count = torch.Size(shape).numel()
    order = torch.randperm(count, generator=trial.random)
    return torch.linspace(-10.0, 10.0, count, dtype=torch.float64)[order].reshape(shape)


@check_of("gelu", points=0.25, kind="contract")
def gelu_depends_on_u(trial: Trial) -> None:
    """The output has the shape of u and depends on it."""
    u = _spread(trial, 5, 8)
    alive(trial, (u,), [(-u,)], shape=(5, 8))


@check_of("gelu", points=1.0)
def gelu_is_a_gate(trial: Trial) -> None:
    """Large positive entries pass, large negative ones are held back, and 0 is the smooth step between."""
    help = "0.5 * u * (1 + tanh(...)), term by term: u in front, u^3 inside, sqrt(2/pi) before the bracket."
    agrees(trial, _spread(trial, 9, 9), look=(trace.scaled,), help=help)


@check_of("gelu", points=0.75)
def gelu_is_the_tanh_form(trial: Trial) -> None:
    """The tanh form, not the exact one with erf: they differ by a tenth near u = -3."""
    help = "The library's default is the erf form. Near -3 it gives -0.00405, the tanh form -0.00364."
    agrees(trial, -3.0 + trial.normal(4, 5, scale=0.05), help=help)


@check_of("gelu", points=0.25)
def gelu_of_large_entries(trial: Trial) -> None:
    """Very large entries give u or 0, not NaN."""
    u = 300.0 + trial.normal(2, 4).abs()
    agrees(trial, torch.cat([u, -u, 30.0 * u, -30.0 * u]), help="torch.tanh cannot overflow; exp can.")


@check_of("gelu", points=0.25, needs=("gelu_depends_on_u",))
def gelu_takes_any_shape(trial: Trial) -> None:
    """Any shape will do, also that of a single number; each entry is on its own."""
    for shape in ((), (1,), (2, 1, 2, 3)):
        agrees(trial, _spread(trial, *shape) + 0.5, help="No axis matters here: the same formula for every entry.")


@check_of("gelu", points=0.25, kind="contract", needs=("gelu_depends_on_u",))
def gelu_leaves_input(trial: Trial) -> None:
    """u is left as it was."""
    leaves_inputs(trial, _spread(trial, 4, 5), names="u")


@check_of("gelu", points=0.25, kind="contract", needs=("gelu_depends_on_u",))
def gelu_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of u."""
    keeps_dtype(trial, trial.normal(4, 5))


# feed_forward ---------------------------------------------------------------------------------------------------------


def _layers(trial: Trial, *rows: int, d: int = 12, d_ff: int = 12) -> Args:
    """x (..., d) and the two matrices, for which either form of GELU does, and a tanh made of exponentials."""
    # without a residual beside them outputs are compared more closely, so the first matrix is steeper than a block's
    w_mlp1, w_mlp2 = feed_forward_far(trial, d, d_ff, steep=8.0)
    x = trial.normal(*rows, d)
    largest = (x @ w_mlp1).abs().amax(dim=-1, keepdim=True)
    return x * (20.0 / largest).clamp(max=1.0), w_mlp1, w_mlp2  # from 21.5 on exp(2z) overflows


@check_of("feed_forward", points=0.25, kind="contract")
def ff_depends_on_x(trial: Trial) -> None:
    """The output has the shape of x and depends on the inputs."""
    args, others = (_layers(trial, 2, 3) for _ in range(2))
    alive(trial, args, [others], shape=(2, 3, 12))


@check_of("feed_forward", points=1.0)
def ff_is_two_products(trial: Trial) -> None:
    """The first matrix, GELU, the second matrix, in this order; also when both are square."""
    agrees(trial, *_layers(trial, 3, 6), look=(trace.scaled,), help="gelu(x @ w_mlp1) @ w_mlp2")


@check_of("feed_forward", points=0.5)
def ff_takes_any_width(trial: Trial) -> None:
    """The hidden width may differ from d, and any number of axes may stand before the last."""
    agrees(trial, *_layers(trial, 12, d=12, d_ff=16), help="w_mlp1 is (d, d_ff), w_mlp2 is (d_ff, d): x @ w.")
    agrees(trial, *_layers(trial, 2, 1, 6, d=12, d_ff=8), help="Leave the axes before the last to the matrix product.")


@check_of("feed_forward", points=0.5)
def ff_uses_the_tanh_form(trial: Trial) -> None:
    """The GELU between the products is the tanh form."""
    x = trial.normal(4, 12)
    agrees(trial, x, *feed_forward_near(trial, x), help="Use your gelu: near -3 the erf form is off by a tenth.")


@check_of("feed_forward", points=0.25, kind="metamorphic", needs=("ff_depends_on_x",))
def ff_keeps_tokens_apart(trial: Trial) -> None:
    """Each token is worked on alone."""
    args = _layers(trial, 2, 3)
    other = trial.normal(2, 3, 12, scale=3.0)
    other[0, 0] = args[0][0, 0]
    before, after = (shaped(trial, given, (2, 3, 12)) for given in (args, replaced(args, a0=other)))
    stays(before[0, 0], after[0, 0], "One token's output changes with the other tokens.", "No sum over positions here.")


@check_of("feed_forward", points=0.25, kind="contract", needs=("ff_depends_on_x",))
def ff_leaves_inputs(trial: Trial) -> None:
    """x and both matrices are left as they were."""
    leaves_inputs(trial, *_layers(trial, 2, 3), names="x,w_mlp1,w_mlp2")


@check_of("feed_forward", points=0.25, kind="contract", needs=("ff_depends_on_x",))
def ff_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of x."""
    x = trial.normal(6, 12)
    w_mlp1, w_mlp2 = feed_forward_near(trial, x, gain=1.0)  # small pre-activations: none is large for a short dtype
    keeps_dtype(trial, x.reshape(2, 3, 12), w_mlp1, w_mlp2)


# decoder_block --------------------------------------------------------------------------------------------------------

_BLOCK = (trace.nan_rows, trace.only_one_row, trace.one_example, trace.statistics)
_SMALL = Size(N=2, S=3, T=3, h=2)  # S = T, so that what raises where they differ does not cost these checks too
_SMALL_OUT = (2, 3, 12)


def _only(x: BlockInputs, *sublayers: str) -> Args:
    """The arguments with the output matrix of every other sublayer zero, so that it adds nothing."""
    block = x.block.clone()
    for name, slot in (("self", 3), ("cross", 7), ("feed_forward", 9)):
        if name not in sublayers:
            block[slot] = 0.0
    return replace(x, block=block).args


@check_of("decoder_block", points=0.25, kind="contract")
def block_depends_on_inputs(trial: Trial) -> None:
    """The output has the shape of dec and depends on the inputs."""
    alive_in_batch(trial, decoder_inputs(trial, "strong", replace(_SMALL, N=1)).args, batched=(0, 1))


@check_of("decoder_block", points=1.0)
def block_matches(trial: Trial) -> None:
    """Self-attention, cross-attention with the updated dec, feed-forward; residual, then norm, after each."""
    help = "Which of the sublayers is right alone? The checks named after them tell; else look at the order."
    agrees(trial, *decoder_inputs(trial, "strong").args, look=_BLOCK, help=help)


@check_of("decoder_block", points=0.5)
def block_matches_when_square(trial: Trial) -> None:
    """The same when source and target are equally long."""
    help = "With S == T a mistaken source or mask does not raise: what comes from dec, what from enc?"
    agrees(trial, *decoder_inputs(trial, "square").args, look=_BLOCK, help=help)


@check_of("decoder_block", points=1.0)
def self_attention_alone(trial: Trial) -> None:
    """Self-attention, with slots 0 ... 3 and the causal mask, is right where the other sublayers add nothing."""
    help = "LN(dec + causal self-attention of dec), slots 0 ... 3; then two norms of what is left."
    agrees(trial, *_only(decoder_inputs(trial, "strong"), "self"), look=_BLOCK, help=help)


@check_of("decoder_block", points=1.0)
def cross_attention_alone(trial: Trial) -> None:
    """Cross-attention, with slots 4 ... 7, is right where the other sublayers add nothing."""
    help = "LN(dec + attention of dec to enc), slots 4 ... 7, no causal mask."
    # one head, so that a mistake in splitting them does not cost this check too
    agrees(trial, *_only(decoder_inputs(trial, "one_head"), "cross"), look=_BLOCK, help=help)


@check_of("decoder_block", points=1.0)
def feed_forward_alone(trial: Trial) -> None:
    """Feed-forward, with slots 8 and 9, is right where the other sublayers add nothing."""
    help = "LN(dec + gelu(dec @ w_mlp1) @ w_mlp2), slots 8 and 9."
    agrees(trial, *_only(decoder_inputs(trial, "strong"), "feed_forward"), look=_BLOCK, help=help)


@check_of("decoder_block", points=0.5)
def block_masks_with_minus_infinity(trial: Trial) -> None:
    """Later positions weigh nothing however large their scores."""
    help = "A finite penalty such as -1e9 loses against scores that are lower still. Use minus infinity."
    agrees(trial, *decoder_inputs(trial, "huge_self").args, look=_BLOCK, help=help)


@check_of("decoder_block", points=0.5)
def block_is_stable(trial: Trial) -> None:
    """Large scores in cross-attention give no NaN."""
    help = "Subtract the largest score of each row before exp."
    agrees(trial, *decoder_inputs(trial, "sharp_cross").args, look=_BLOCK, help=help)


@check_of("decoder_block", points=0.5)
def block_norm_adds_eps(trial: Trial) -> None:
    """Nearly constant tokens are normalised with eps = 1e-5 inside the root."""
    help = "Right for ordinary tokens? Then it is eps: sqrt(variance + 1e-5)."
    agrees(trial, *decoder_inputs(trial, "faint").args, look=_BLOCK, help=help)


@check_of("decoder_block", points=0.5)
def block_uses_the_tanh_form(trial: Trial) -> None:
    """The GELU of the feed-forward sublayer is the tanh form."""
    help = "The library's default is the erf form; near -3 they differ by a tenth."
    agrees(trial, *decoder_inputs(trial, "near").args, look=_BLOCK, help=help)


@check_of("decoder_block", points=0.75, kind="metamorphic", needs=("block_depends_on_inputs",))
def block_hides_the_future(trial: Trial) -> None:
    """Changing the last target token changes no earlier row of the output."""
    x = decoder_inputs(trial, "strong", replace(_SMALL, S=4, T=4))
    x.dec[1], x.enc[1] = x.dec[0], x.enc[0]
    x.dec[1, -1] = trial.normal(12, scale=3.0)
    before, after = shaped(trial, x.args, (2, 4, 12))
    help = "Self-attention needs the causal mask: position t reads 0 ... t. Each token is normalised alone."
    for t in range(3):
        stays(before[t], after[t], f"Row {t} of the output changes with token 3, which comes later.", help)


@check_of("decoder_block", points=0.5, kind="metamorphic", needs=("block_depends_on_inputs",))
def block_reads_the_whole_source(trial: Trial) -> None:
    """Every target position feels every source position, the last included."""
    x = decoder_inputs(trial, "strong", _SMALL)
    x.dec[1], x.enc[1] = x.dec[0], x.enc[0]
    x.enc[1, -1] += trial.normal(12, scale=3.0)
    before, after = shaped(trial, x.args, _SMALL_OUT)
    for t in range(3):
        help = "The source is fully known: no causal mask in cross-attention, and keys and values from enc."
        moves(before[t], after[t], f"Row {t} of the output does not feel the last source position.", help)


@check_of("decoder_block", points=0.25, kind="metamorphic", needs=("block_depends_on_inputs",))
def block_ends_normalised(trial: Trial) -> None:
    """Every token of the output has mean 0 and variance 1; a single one is enough."""
    out = shaped(trial, decoder_inputs(trial, "single").args, (1, 1, 12))
    variance = out.var(dim=-1, correction=0)
    # eps takes less than 1e-4 off the variance of these tokens, any other mistake far more
    if not ((out.mean(dim=-1).abs() < 1e-3) & ((variance - 1.0).abs() < 1e-3)).all():
        help = "Post-norm: add the residual, then normalise, last of all."
        raise Failed("A token of the output has another mean or variance.", help)


@check_of("decoder_block", points=0.25, kind="metamorphic", needs=("block_depends_on_inputs",))
def block_keeps_examples_apart(trial: Trial) -> None:
    """Examples of a batch never influence each other."""
    x = decoder_inputs(trial, "strong", replace(_SMALL, N=3))
    dec, enc = (torch.cat([t[:1], trial.normal(2, *t.shape[1:], scale=3.0)]) for t in (x.dec, x.enc))
    examples_apart(trial, x.args, replaced(x.args, a0=dec, a1=enc), (3, 3, 12))


@check_of("decoder_block", points=0.5, kind="metamorphic", needs=("block_depends_on_inputs",))
def block_ignores_spare_slots(trial: Trial) -> None:
    """Slots 10 and 11 change nothing, whatever they hold."""
    x = decoder_inputs(trial, "strong", _SMALL)
    before, after = (shaped(trial, replaced(x.args, a2=b), _SMALL_OUT) for b in (x.block, noisy_slots(trial, x.block)))
    stays(before, after, "The output changes with slots 10 and 11.", "Feed-forward is slots 8 and 9; these are spare.")


@check_of("decoder_block", points=0.5, kind="contract", needs=("block_depends_on_inputs",))
def block_leaves_inputs(trial: Trial) -> None:
    """dec, enc and block are left as they were."""
    x = decoder_inputs(trial, "strong", _SMALL)
    # noise in the spare slots shows whoever clears them; what comes out does not matter here
    args = replaced(x.args, a2=noisy_slots(trial, x.block))
    leaves_inputs(trial, *args, names="dec,enc,block,num_heads")


@check_of("decoder_block", points=0.5, kind="contract", needs=("block_depends_on_inputs",))
def block_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the inputs."""
    # small pre-activations: none is large for a short dtype
    keeps_dtype(trial, *decoder_inputs(trial, "near", replace(_SMALL, N=1)).args)
