"""Hidden checks of `decoder_block`."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    Args,
    agrees,
    alive_in_batch,
    examples_apart,
    keeps_dtype,
    leaves_inputs,
    moves,
    replaced,
    shaped,
    stays,
)
from solutions.hidden.inputs import (
    BlockInputs,
    Size,
    decoder_inputs,
    noisy_slots,
)

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
