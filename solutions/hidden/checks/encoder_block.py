"""Hidden checks of `encoder_block`."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import keeps_dtype, moved, outcome_of, same, tensor_of, untouched
from solutions.hidden.inputs import BLOCK, encoder_inputs, strided


@check_of("encoder_block", points=0.375, kind="contract")
def block_depends_on_enc_and_weights(trial: Trial) -> None:
    """The output has the shape of enc, is the same for the same tokens and depends on enc and on block."""
    x = encoder_inputs(trial, size=replace(BLOCK, N=3))
    enc = torch.stack([x.enc[0], x.enc[0], x.enc[1]])
    first, other = (tensor_of(outcome_of(trial, enc, b, 2).value, *enc.shape) for b in (x.block, x.block.flip(0)))
    if not same(first[0], first[1]):
        raise Failed(
            "Two equal examples of one batch came out different.", "Nothing here is random, and there is no dropout."
        )
    if not moved(first[0], first[2]):
        raise Failed("Two different examples came out the same.", "Start from enc.")
    if not moved(first, other):
        raise Failed("Other weights gave the same output.", "block holds w_q, w_k, w_v, w_o, w_mlp1 and w_mlp2.")


@check_of("encoder_block", points=0.875)
def block_attends_then_feeds_forward(trial: Trial) -> None:
    """Self-attention, add, normalise; feed-forward, add, normalise."""
    x = encoder_inputs(trial)
    agrees(trial, x.enc, x.block, x.num_heads, help="enc = LN(enc + attention), then enc = LN(enc + feed_forward).")


@check_of("encoder_block", points=0.25)
def block_takes_one_head(trial: Trial) -> None:
    """One head of the full width is allowed."""
    x = encoder_inputs(trial, "one_head")
    agrees(trial, x.enc, x.block, x.num_heads, help="With h = 1 the scores are divided by the root of d.")


@check_of("encoder_block", points=0.25)
def block_takes_one_token(trial: Trial) -> None:
    """One example with one token is enough."""
    x = encoder_inputs(trial, "single")
    agrees(
        trial, x.enc, x.block, x.num_heads, help="A lone token reads itself, with weight 1. Do not squeeze axes away."
    )


@check_of("encoder_block", points=0.5)
def block_puts_eps_inside_the_root(trial: Trial) -> None:
    """Nearly constant tokens are divided by sqrt(variance + 1e-5)."""
    x = encoder_inputs(trial, "faint")
    agrees(
        trial,
        x.enc,
        x.block,
        x.num_heads,
        help="Right for ordinary tokens? Then look at eps: 1e-5, added to the variance.",
    )


@check_of("encoder_block", points=0.25)
def block_stays_stable_for_large_scores(trial: Trial) -> None:
    """Scores in the thousands give weights, not NaN."""
    x = encoder_inputs(trial, "sharp_self")
    agrees(trial, x.enc, x.block, x.num_heads, help="Subtract each row's maximum before exp.")


@check_of("encoder_block", points=0.25)
def block_uses_the_tanh_gelu(trial: Trial) -> None:
    """The feed-forward layer uses the tanh form of GELU."""
    x = encoder_inputs(trial, "near")
    agrees(trial, x.enc, x.block, x.num_heads, help="Near -3 the erf form, PyTorch's default, differs by a tenth.")


@check_of("encoder_block", points=0.375, kind="metamorphic", needs=("block_depends_on_enc_and_weights",))
def block_reads_in_both_directions(trial: Trial) -> None:
    """There is no mask: a change of the last token is felt by the first, and the other way round."""
    x = encoder_inputs(trial, size=replace(BLOCK, N=1))
    last, first = x.enc[0].clone(), x.enc[0].clone()
    last[-1], first[0] = -last[-1], -first[0]
    out = tensor_of(outcome_of(trial, torch.stack([x.enc[0], last, first]), x.block, 2).value, 3, *x.enc.shape[1:])
    if not moved(out[0, 0], out[1, 0]):
        raise Failed(
            "The first token does not feel the last one.", "The source is fully known: the encoder has no causal mask."
        )
    if not moved(out[0, -1], out[2, -1]):
        raise Failed("The last token does not feel the first one.", "Every position may read every position.")


@check_of("encoder_block", points=0.25, kind="metamorphic", needs=("block_depends_on_enc_and_weights",))
def block_keeps_examples_apart(trial: Trial) -> None:
    """Another example in the batch changes nothing."""
    x = encoder_inputs(trial, size=BLOCK)
    other = torch.stack([x.enc[0], -2.0 * x.enc[1].flip(0)])
    one, two = (tensor_of(outcome_of(trial, e, x.block, 2).value, *other.shape) for e in (x.enc, other))
    if not same(one[0], two[0]):
        raise Failed(
            "Example 0 changed when example 1 did.", "Which axis do you attend over, and which do you normalise?"
        )


@check_of("encoder_block", points=0.25, kind="contract", needs=("block_depends_on_enc_and_weights",))
def block_keeps_the_dtype(trial: Trial) -> None:
    """The output has the parameters' dtype and device, and is finite, in short dtypes too."""
    x = encoder_inputs(trial, size=BLOCK)
    keeps_dtype(trial, x.enc, x.block, x.num_heads)


@check_of("encoder_block", points=0.25, kind="contract", needs=("block_depends_on_enc_and_weights",))
def block_leaves_inputs_alone(trial: Trial) -> None:
    """enc and block are unchanged afterwards."""
    x = encoder_inputs(trial, size=BLOCK)
    untouched(trial, x.enc, x.block, x.num_heads)


@check_of("encoder_block", points=0.125, needs=("block_depends_on_enc_and_weights",))
def block_takes_strided_inputs(trial: Trial) -> None:
    """Inputs that do not lie in memory row by row are allowed."""
    x = encoder_inputs(trial, size=BLOCK)
    agrees(
        trial, strided(x.enc), strided(x.block), x.num_heads, help="Use reshape instead of view on what you are given."
    )
