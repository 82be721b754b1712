"""Hidden checks of `encoder_decoder_forward`."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import keeps_dtype, moved, outcome_of, same, tensor_of, untouched
from solutions.hidden.inputs import BLOCK, Size, model, noisy_slots, strided

DECODER = replace(BLOCK, E=0)
"""The same without encoder blocks, where the encoder is not what is asked about."""


@check_of("encoder_decoder_forward", points=0.5, kind="contract")
def forward_depends_on_the_target(trial: Trial) -> None:
    """The output is (N, T, V_tgt), the same for the same sentences and different for another target."""
    m = model(trial, size=BLOCK)
    target = torch.stack([m.tgt_ids[0], (m.tgt_ids[0] + 1) % 5])
    out, again = (tensor_of(outcome_of(trial, m.src_ids[[0, 0]], target, *m.args[2:]).value, 2, 3, 5) for _ in range(2))
    if not same(out, again):
        raise Failed("Two calls with the same arguments gave different numbers.", "There is no dropout here.")
    if not moved(out[0], out[1]):
        raise Failed(
            "Two different targets came out the same.", "Start the decoder from tgt_emb[tgt_ids] + dec_pos_embed."
        )


@check_of("encoder_decoder_forward", points=1.0)
def forward_gives_raw_logits(trial: Trial) -> None:
    """Encoder, decoder and head give raw scores for every target position."""
    m = model(trial, size=Size(S=4, T=6, E=2, L=2))
    agrees(trial, *m.args, help="Compare enc first (see encode), then dec after each block. No softmax at the end.")


@check_of("encoder_decoder_forward", points=0.5)
def forward_reads_the_whole_source_at_equal_lengths(trial: Trial) -> None:
    """With S = T too, cross-attention reads every source position, and each residual is the decoder's own."""
    m = model(trial, "square", Size(N=2, S=3, T=3, d=8, h=2, E=1, L=1))
    agrees(trial, *m.args, help="The causal mask belongs to self-attention alone, also where its shape would fit.")


@check_of("encoder_decoder_forward", points=0.5)
def forward_takes_no_encoder_blocks(trial: Trial) -> None:
    """With E = 0 the decoder reads the source embeddings plus positions, not normalised."""
    m = model(trial, "no_encoder", Size(N=2, S=4, T=3, d=8, h=2, E=0, L=1))
    agrees(trial, *m.args, help="Zero encoder blocks is legal. There is no norm before or after the blocks.")


@check_of("encoder_decoder_forward", points=0.375)
def forward_takes_no_decoder_blocks(trial: Trial) -> None:
    """With L = 0 the target embeddings plus positions go straight to the head."""
    m = model(trial, "no_decoder", Size(E=1, L=0))
    agrees(trial, *m.args, help="Zero decoder blocks is legal, and there is no norm before the head.")


@check_of("encoder_decoder_forward", points=0.5)
def forward_puts_eps_inside_the_root(trial: Trial) -> None:
    """Nearly constant tokens are divided by sqrt(variance + 1e-5)."""
    m = model(trial, "faint", Size(N=2, S=3, T=3, d=8, h=2, E=0, L=1))
    agrees(trial, *m.args, help="Right for ordinary tokens? Then look at eps: 1e-5, added to the variance.")


@check_of("encoder_decoder_forward", points=0.25)
def forward_stays_stable_for_large_scores(trial: Trial) -> None:
    """Scores in the thousands give weights, not NaN, and hidden positions stay hidden."""
    agrees(trial, *model(trial, "sharp_self").args, help="Subtract each row's maximum before exp, after masking.")


@check_of("encoder_decoder_forward", points=0.5)
def forward_masks_with_minus_infinity(trial: Trial) -> None:
    """Later targets are excluded by minus infinity, not by a large penalty."""
    agrees(
        trial, *model(trial, "huge_self").args, help="With scores near -1e11 a hidden key at -1e9 wins. Fill with -inf."
    )


@check_of("encoder_decoder_forward", points=0.25)
def forward_stays_stable_in_cross_attention(trial: Trial) -> None:
    """Scores in the thousands give weights in cross-attention too."""
    agrees(trial, *model(trial, "sharp_cross").args, help="Subtract each row's maximum before exp.")


@check_of("encoder_decoder_forward", points=0.25)
def forward_uses_the_tanh_gelu(trial: Trial) -> None:
    """The feed-forward layers use the tanh form of GELU."""
    agrees(trial, *model(trial, "near").args, help="Near -3 the erf form, PyTorch's default, differs by a tenth.")


@check_of("encoder_decoder_forward", points=0.5, kind="metamorphic", needs=("forward_depends_on_the_target",))
def forward_never_reads_later_targets(trial: Trial) -> None:
    """A change of a later target id changes no earlier row, and does change its own."""
    m = model(trial, size=DECODER)
    later = m.tgt_ids[0].clone()
    later[1:] = (later[1:] + 1) % 5
    target, source = torch.stack([m.tgt_ids[0], later]), m.src_ids[[0, 0]]
    out = tensor_of(outcome_of(trial, source, target, *m.args[2:]).value, 2, 3, 5)
    if not same(out[0, 0], out[1, 0]):
        raise Failed(
            "Row 0 changed when only later target ids did.", "Self-attention needs the causal mask, in every block."
        )
    if not moved(out[0, 1], out[1, 1]):
        raise Failed("Row 1 stayed when target id 1 changed.", "A position reads itself as well as those before it.")


@check_of("encoder_decoder_forward", points=0.5, kind="metamorphic", needs=("forward_depends_on_the_target",))
def forward_reads_every_source_position(trial: Trial) -> None:
    """A change of any source id, the last included, changes every row."""
    m = model(trial, size=replace(DECODER, N=1))
    changed = torch.tensor([[1, 0, 3], [2, 0, 3], [1, 0, 4]], dtype=torch.float64)
    out = tensor_of(outcome_of(trial, changed, m.tgt_ids.repeat(3, 1), *m.args[2:]).value, 3, 3, 5)
    for other, which in ((1, "first"), (2, "last")):
        if not all(moved(out[0, t], out[other, t]) for t in range(3)):
            raise Failed(
                f"Some row does not feel the {which} source position.",
                "Cross-attention takes keys and values from enc and masks nothing.",
            )


@check_of("encoder_decoder_forward", points=0.5, kind="metamorphic", needs=("forward_depends_on_the_target",))
def forward_ignores_the_spare_slots(trial: Trial) -> None:
    """Slots 10 and 11 of a decoder block may hold anything."""
    m = model(trial, size=replace(DECODER, N=1))
    noisy = replace(m, dec_blocks=noisy_slots(trial, m.dec_blocks))
    one, two = (tensor_of(outcome_of(trial, *which.args).value, 1, 3, 5) for which in (m, noisy))
    if not same(one, two):
        raise Failed("The output changed when only slots 10 and 11 did.", "Feed-forward weights are in slots 8 and 9.")


@check_of("encoder_decoder_forward", points=0.25, kind="metamorphic", needs=("forward_depends_on_the_target",))
def forward_keeps_examples_apart(trial: Trial) -> None:
    """Another example in the batch changes nothing."""
    m = model(trial, size=DECODER)
    source, target = m.src_ids.clone(), m.tgt_ids.clone()
    source[1], target[1] = (source[1] + 1) % 6, (target[1] + 1) % 5
    other = replace(m, src_ids=source, tgt_ids=target)
    one, two = (tensor_of(outcome_of(trial, *which.args).value, 2, 3, 5) for which in (m, other))
    if not same(one[0], two[0]):
        raise Failed(
            "Example 0 changed when example 1 did.", "Which axis do you attend over, and which do you normalise?"
        )


@check_of("encoder_decoder_forward", points=0.5, kind="contract", needs=("forward_depends_on_the_target",))
def forward_keeps_the_dtype(trial: Trial) -> None:
    """The logits have the parameters' dtype and device, and are finite, in short dtypes too."""
    m = model(trial, size=replace(BLOCK, N=1))
    keeps_dtype(trial, *m.args, dtypes=(torch.float32, torch.float64))
    keeps_dtype(trial, *replace(m, enc_blocks=m.enc_blocks[:0]).args, dtypes=(torch.bfloat16,))


@check_of("encoder_decoder_forward", points=0.5, kind="contract", needs=("forward_depends_on_the_target",))
def forward_leaves_inputs_alone(trial: Trial) -> None:
    """Ids, tables and weights are unchanged afterwards."""
    m = model(trial, size=BLOCK)
    untouched(trial, *replace(m, dec_blocks=noisy_slots(trial, m.dec_blocks)).args)


@check_of("encoder_decoder_forward", points=0.375, kind="contract", needs=("forward_depends_on_the_target",))
def forward_takes_float_ids(trial: Trial) -> None:
    """Ids come as floats that hold integers, zero among them."""
    m = model(trial, size=replace(BLOCK, L=0))
    tensor_of(outcome_of(trial, *m.args, float_ids=True).value, 2, 3, 5)


@check_of("encoder_decoder_forward", points=0.25)
def forward_takes_integer_ids_and_strides(trial: Trial) -> None:
    """Integer ids, one word a side, and inputs that do not lie in memory row by row are allowed."""
    m = model(trial, size=Size(N=1, S=1, T=1, d=4, h=1, E=0, L=1, V_src=3, V_tgt=5))
    rest = (strided(t) if isinstance(t, torch.Tensor) else t for t in m.args[2:])
    help = "Cast ids with .long(), whatever they come as; use reshape instead of view on what you are given."
    agrees(trial, m.src_ids.long(), m.tgt_ids.int(), *rest, help=help)
