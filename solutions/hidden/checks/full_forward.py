"""Hidden checks of lesson full_forward: positions, the shifted target, the encoder, the whole model, the loss."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.placement import stays_at_home, stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import keeps_dtype, moved, outcome_of, readable, same, tensor_of, untouched
from solutions.hidden.inputs import Model, Size, encoder_inputs, model, noisy_slots, strided

BLOCK = Size(N=2, S=3, T=3, d=8, h=2, E=1, L=1, V_src=6, V_tgt=5)
"""For contracts and movements: small, since nothing is compared with the reference."""

DECODER = replace(BLOCK, E=0)
"""The same without encoder blocks, where the encoder is not what is asked about."""


# positional_encoding --------------------------------------------------------------------------------------------------


@check_of("positional_encoding", points=0.25, kind="contract")
def pe_gives_each_position_a_row(trial: Trial) -> None:
    """One row of d features per position, the rows differing from one another, and the same on every call."""
    first, second = (tensor_of(trial.call(5, 6), 5, 6) for _ in range(2))
    if not same(first, second):
        raise Failed("Two calls with the same arguments gave different tables.", "Nothing here is random.")
    if not all(moved(first[0], row) for row in first[1:]):
        raise Failed("Two positions have the same row.", "Row i holds sines and cosines of multiples of i.")


@check_of("positional_encoding", points=0.75)
def pe_alternates_sine_and_cosine(trial: Trial) -> None:
    """Even columns hold the sine and odd columns the cosine of i / 10000^(2*floor(j/2)/d)."""
    for length, d in ((4, 2), (7, 12)):
        agrees(
            trial,
            length,
            d,
            help="Columns 2k and 2k+1 share one angle; the first takes its sine, the second its cosine.",
        )


@check_of("positional_encoding", points=0.5)
def pe_takes_an_odd_width(trial: Trial) -> None:
    """An odd d is allowed: the last column is a sine without a cosine beside it."""
    for d in (3, 7):
        agrees(
            trial,
            5,
            d,
            help="With odd d there is one sine more than there are cosines; the exponent still divides by d.",
        )


@check_of("positional_encoding", points=0.5)
def pe_holds_far_positions(trial: Trial) -> None:
    """Far positions keep the same formula, exactly."""
    # 300: above what bfloat16 and int8 can count, below where two right float32 formulas differ by 1e-4
    agrees(
        trial, 300, 8, help="Position i itself is multiplied by the frequency, without rounding and without wrapping."
    )


@check_of("positional_encoding", points=0.25)
def pe_takes_one_position_and_one_feature(trial: Trial) -> None:
    """One position, or one feature, is enough."""
    for length, d in ((1, 4), (3, 1), (1, 1)):
        agrees(
            trial, length, d, help="Position 0 is sin 0 and cos 0 in turn; a single column is the sine of the position."
        )


@check_of("positional_encoding", points=0.25, kind="metamorphic", needs=("pe_gives_each_position_a_row",))
def pe_rows_do_not_depend_on_the_length(trial: Trial) -> None:
    """A longer table begins with the shorter one."""
    short, long = tensor_of(trial.call(4, 6), 4, 6), tensor_of(trial.call(9, 6), 9, 6)
    if not same(short, long[:4]):
        raise Failed(
            "The first rows of a longer table are not those of a shorter one.", "The angle depends on i, j and d alone."
        )


@check_of("positional_encoding", points=0.5, kind="contract", needs=("pe_gives_each_position_a_row",))
def pe_is_of_the_default_dtype(trial: Trial) -> None:
    """The table is of torch's default dtype, and on its default device."""
    value = trial.call(3, 4)
    if not isinstance(value, torch.Tensor) or value.dtype != torch.get_default_dtype():
        raise Failed(
            f"It returned {describe(value)}.", "torch.get_default_dtype() is float32 unless somebody changed it."
        )
    stays_at_home(trial, 3, 4)


# shift_right ----------------------------------------------------------------------------------------------------------


@check_of("shift_right", points=0.125, kind="contract")
def shift_depends_on_the_ids(trial: Trial) -> None:
    """The result has the shape of ids, is the same on every call, depends on ids and is not ids themselves."""
    ids = torch.tensor([[3.0, 5.0, 2.0], [6.0, 1.0, 4.0]], dtype=torch.float64)
    first, again, other = (tensor_of(trial.call(i, 7), 2, 3) for i in (ids, ids, ids + 1))
    if not same(first, again):
        raise Failed("Two calls with the same arguments gave different ids.", "Nothing here is random.")
    if same(first, ids) or not moved(first, other):
        raise Failed(
            "It returned ids as they are, or something apart from them.", "bos_id first, then ids without the last."
        )


@check_of("shift_right", points=0.625)
def shift_puts_bos_first_and_drops_the_last(trial: Trial) -> None:
    """bos_id comes first, every other id moves one place to the right, the last one falls off."""
    ids = torch.stack([torch.randperm(9, generator=trial.random)[:5] for _ in range(3)]).double()
    agrees(trial, ids, 11, help="Column 0 is bos_id; column t is column t - 1 of ids.")


@check_of("shift_right", points=0.25)
def shift_treats_no_id_as_special(trial: Trial) -> None:
    """Zeros and ids that equal bos_id are ordinary."""
    ids = torch.tensor([[2.0, 0.0, 2.0, 0.0], [0.0, 0.0, 2.0, 5.0]], dtype=torch.float64)
    agrees(trial, ids, 2, help="Shift whatever ids hold: a row may begin with bos_id already.")
    agrees(trial, ids, 0, help="bos_id may be 0.")


@check_of("shift_right", points=0.25)
def shift_takes_a_single_position(trial: Trial) -> None:
    """With T = 1 only bos_id is left."""
    agrees(trial, trial.ids(3, 1, high=9), 9, help="ids[:, :-1] is then empty, and one column of bos_id remains.")


@check_of("shift_right", points=0.5, kind="contract", needs=("shift_depends_on_the_ids",))
def shift_keeps_the_dtype(trial: Trial) -> None:
    """The dtype and the device of ids are kept."""
    for dtype in (torch.int64, torch.int32, torch.float32):
        value = trial.call(trial.ids(2, 3, high=9, dtype=dtype), 4)
        if not isinstance(value, torch.Tensor) or value.dtype != dtype:
            raise Failed(
                f"With {dtype} ids it returned {describe(value)}.",
                "Make the first column with ids.new_full or full_like.",
            )
    stays_on_device(trial, trial.ids(2, 3, high=9, dtype=torch.int64), 4)


@check_of("shift_right", points=0.25, kind="contract", needs=("shift_depends_on_the_ids",))
def shift_leaves_ids_alone(trial: Trial) -> None:
    """ids are unchanged afterwards."""
    untouched(trial, torch.tensor([[3, 5, 2], [6, 1, 4]]), 9)


# encoder_block --------------------------------------------------------------------------------------------------------


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


# encode ---------------------------------------------------------------------------------------------------------------


@check_of("encode", points=0.125, kind="contract")
def encode_depends_on_the_source(trial: Trial) -> None:
    """The output is (N, S, d), the same for the same sentence and different for another one."""
    m = model(trial, size=replace(BLOCK, L=0))
    ids = torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 1.0]], dtype=torch.float64)
    out, again = (
        tensor_of(outcome_of(trial, ids, *_encoding(m)[1:]).value, 2, *m.enc_pos_embed.shape) for _ in range(2)
    )
    if not same(out, again):
        raise Failed("Two calls with the same arguments gave different numbers.", "Nothing here is random.")
    if not moved(out[0], out[1]):
        raise Failed("Two different sentences came out the same.", "Look the ids up in src_emb.")
    if same(out, m.src_emb[ids.long()]):
        raise Failed("It returned the embeddings as they are.", "Add the positions, then run the blocks.")


@check_of("encode", points=0.375, needs=("encode_depends_on_the_source",))
def encode_adds_positions_and_runs_the_blocks(trial: Trial) -> None:
    """Embeddings plus positions go through the blocks in order."""
    m = model(trial, size=Size(E=2, L=0))
    agrees(
        trial,
        *_encoding(m),
        help="enc = src_emb[src_ids] + enc_pos_embed, then every block of enc_blocks, first to last.",
    )


@check_of("encode", points=0.25)
def encode_takes_no_blocks(trial: Trial) -> None:
    """With E = 0 the embeddings plus positions are the result, and nothing normalises them."""
    m = model(trial, size=Size(E=0, L=0))
    agrees(trial, *_encoding(m), help="Zero blocks is legal. There is no norm before or after the blocks.")


@check_of("encode", points=0.25, kind="metamorphic", needs=("encode_depends_on_the_source",))
def encode_knows_the_order_of_words(trial: Trial) -> None:
    """Position s gets row s of enc_pos_embed, in every example."""
    m = model(trial, size=replace(BLOCK, E=0, L=0))
    ids = torch.zeros(2, 3, dtype=torch.float64)
    out = tensor_of(
        outcome_of(trial, ids, m.src_emb, m.enc_pos_embed, m.enc_blocks, 2).value, 2, *m.enc_pos_embed.shape
    )
    for s in range(1, 3):
        if not same(out[:, s] - out[:, 0], (m.enc_pos_embed[s] - m.enc_pos_embed[0]).expand(2, BLOCK.d)):
            raise Failed(
                "With the same word everywhere and no blocks, positions do not differ by their rows of enc_pos_embed.",
                "(N, S, d) + (S, d) broadcasts over the batch. Assign the sum.",
            )


@check_of("encode", points=0.25, kind="contract", needs=("encode_depends_on_the_source",))
def encode_takes_float_ids(trial: Trial) -> None:
    """Ids come as floats that hold integers."""
    m = model(trial, size=replace(BLOCK, L=0))
    tensor_of(outcome_of(trial, *_encoding(m), float_ids=True).value, 2, *m.enc_pos_embed.shape)


@check_of("encode", points=0.125)
def encode_takes_integer_ids(trial: Trial) -> None:
    """Ids may come as integers too, and one sentence of one word is enough."""
    m = model(trial, size=Size(N=1, S=1, T=1, d=4, h=1, E=1, L=0))
    agrees(trial, m.src_ids.int(), *_encoding(m)[1:], help="Cast ids with .long(), whatever they come as.")


@check_of("encode", points=0.125, kind="metamorphic", needs=("encode_depends_on_the_source",))
def encode_keeps_examples_apart(trial: Trial) -> None:
    """Another sentence in the batch changes nothing."""
    m = model(trial, size=replace(BLOCK, L=0))
    other = m.src_ids.clone()
    other[1] = (other[1] + 1) % 6
    one, two = (
        tensor_of(outcome_of(trial, i, *_encoding(m)[1:]).value, 2, *m.enc_pos_embed.shape) for i in (m.src_ids, other)
    )
    if not same(one[0], two[0]):
        raise Failed("Sentence 0 changed when sentence 1 did.", "Batch examples never read each other.")


@check_of("encode", points=0.25, kind="contract", needs=("encode_depends_on_the_source",))
def encode_keeps_the_dtype(trial: Trial) -> None:
    """The output has the parameters' dtype and device, and is finite, in short dtypes too."""
    keeps_dtype(trial, *_encoding(model(trial, size=replace(BLOCK, L=0))))


@check_of("encode", points=0.25, kind="contract", needs=("encode_depends_on_the_source",))
def encode_leaves_inputs_alone(trial: Trial) -> None:
    """Ids, tables and weights are unchanged afterwards."""
    untouched(trial, *_encoding(model(trial, size=replace(BLOCK, L=0))))


def _encoding(m: Model) -> tuple[object, ...]:
    """The arguments of encode."""
    return m.src_ids, m.src_emb, m.enc_pos_embed, m.enc_blocks, m.num_heads


# encoder_decoder_forward ----------------------------------------------------------------------------------------------


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


# sequence_loss --------------------------------------------------------------------------------------------------------


@check_of("sequence_loss", points=0.25, kind="contract")
def loss_depends_on_logits_and_targets(trial: Trial) -> None:
    """One number, the same on every call, that depends on the logits and on the targets."""
    logits = trial.normal(1, 2, 4)
    logits[0, [0, 1], [1, 3]] += 8.0
    # no zeros among the targets: an answer that takes 0 for padding has a check of its own
    best, worst = (torch.tensor([ids], dtype=torch.float64) for ids in ([1, 3], [2, 2]))
    values = [
        _number(outcome_of(trial, *args).value)
        for args in ((logits, best), (logits, best), (logits, worst), (2 * logits, best))
    ]
    if values[0] != values[1]:
        raise Failed("Two calls with the same arguments gave different numbers.", "Nothing here is random.")
    if len({round(value, 6) for value in values}) != 3:
        raise Failed(
            "Other targets, or other logits, gave the same number.", "It is the mean of -log softmax(logits)[target]."
        )


def _number(value: object) -> float:
    if isinstance(value, float):
        return value
    if not isinstance(value, torch.Tensor) or not readable(value) or value.numel() != 1:
        raise Failed(f"It returned {describe(value)}; a 0-dim tensor is wanted.")
    return float(value.detach().to("cpu", torch.float64).reshape(()))


@check_of("sequence_loss", points=0.625)
def loss_is_the_mean_surprise(trial: Trial) -> None:
    """The mean over all N*T positions of -log softmax(logits)[target], natural logarithm."""
    logits = trial.normal(3, 4, 7, scale=2.0)
    targets = trial.ids(3, 4, high=6) + 1
    agrees(
        trial,
        logits,
        targets,
        help="Softmax runs over the last axis; take minus its logarithm at the target, and average.",
    )


@check_of("sequence_loss", points=0.5)
def loss_leaves_padding_out(trial: Trial) -> None:
    """Positions whose target is pad_id count neither in the sum nor in the number that divides it."""
    logits = trial.normal(3, 4, 6, scale=2.0)
    targets = torch.tensor([[2, 4, 3, 5], [1, 5, 0, 5], [5, 5, 5, 5]]).double()  # uneven, and one row all padding
    agrees(
        trial, logits, targets, 5, help="Divide by the number of positions that count, over the whole batch at once."
    )


@check_of("sequence_loss", points=0.25)
def loss_counts_every_id_unless_told(trial: Trial) -> None:
    """Without pad_id every position counts, id 0 too; pad_id may be 0."""
    logits, targets = trial.normal(2, 3, 4, scale=2.0), torch.tensor([[0, 2, 0], [3, 0, 1]]).double()
    logits[:, :, 0] -= 3.0  # zeros are the surprising ones, so leaving them out shows
    agrees(trial, logits, targets, help="No id is padding unless pad_id says so.")
    agrees(trial, logits, targets, 0, help="pad_id = 0 is a pad_id: ask 'is None', not 'is it true'.")


@check_of("sequence_loss", points=0.25)
def loss_is_stable(trial: Trial) -> None:
    """Logits in the thousands give a finite loss."""
    logits = trial.normal(2, 2, 5)
    logits[0, 0, 1], logits[0, 1, 2], logits[1] = 4000.0, -5000.0, logits[1] - 3000.0
    targets = torch.tensor([[3, 2], [1, 4]]).double()
    agrees(trial, logits, targets, help="Not log(softmax(x)): x - logsumexp(x), which subtracts the maximum first.")


@check_of("sequence_loss", points=0.25, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_takes_float_targets(trial: Trial) -> None:
    """Targets may come as floats that hold integers."""
    _number(outcome_of(trial, trial.normal(2, 3, 4), trial.ids(2, 3, high=4), float_ids=True).value)


@check_of("sequence_loss", points=0.25)
def loss_takes_integer_targets(trial: Trial) -> None:
    """Targets may come as integers, and one position is enough."""
    for logits, ids in ((trial.normal(1, 1, 4), [[2]]), (trial.normal(2, 3, 4), [[1, 3, 2], [2, 1, 3]])):
        for dtype in (torch.int64, torch.int32):
            agrees(trial, logits, torch.tensor(ids, dtype=dtype), 9, help="Cast targets with .long().")


@check_of("sequence_loss", points=0.25, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_is_a_number_without_axes(trial: Trial) -> None:
    """The result is a 0-dim tensor."""
    tensor_of(outcome_of(trial, trial.normal(2, 3, 4), trial.ids(2, 3, high=4)).value)


@check_of("sequence_loss", points=0.25, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_keeps_the_dtype(trial: Trial) -> None:
    """The loss has the logits' dtype and device, and is finite."""
    targets = trial.ids(2, 3, high=4, dtype=torch.int64)
    keeps_dtype(trial, trial.normal(2, 3, 4), targets, dtypes=(torch.float32, torch.float64))


@check_of("sequence_loss", points=0.125, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_leaves_inputs_alone(trial: Trial) -> None:
    """Logits and targets are unchanged afterwards."""
    untouched(trial, trial.normal(2, 3, 4), torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]], dtype=torch.float64), 0)


# parameter_count ------------------------------------------------------------------------------------------------------


@check_of("parameter_count", points=0.125, kind="contract")
def count_depends_on_every_argument(trial: Trial) -> None:
    """A number that grows with each of its arguments."""
    values = []
    for args in ((8, 12, 2, 3), (9, 12, 2, 3), (8, 13, 2, 3), (8, 12, 3, 3), (8, 12, 2, 4)):
        value = trial.call(*args)
        value = value.item() if readable(value) and value.numel() == 1 else value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Failed(f"It returned {describe(value)}; a number is wanted.")
        values.append(value)
    if not all(value > values[0] for value in values[1:]):
        raise Failed("One argument more did not make the number larger.", "Each of the four arguments counts.")


@check_of("parameter_count", points=0.375)
def count_of_encoder_blocks(trial: Trial) -> None:
    """An encoder block holds four d x d matrices and two d x d_ff matrices."""
    d, d_ff, E = _sizes(trial)
    agrees(trial, d, d_ff, E, 0, help="w_q, w_k, w_v and w_o; then w_mlp1 (d, d_ff) and w_mlp2 (d_ff, d). No biases.")


@check_of("parameter_count", points=0.5)
def count_of_decoder_blocks(trial: Trial) -> None:
    """A decoder block holds twice the attention matrices of an encoder block, and one feed-forward pair."""
    d, d_ff, L = _sizes(trial)
    agrees(trial, d, d_ff, 0, L, help="Self-attention and cross-attention have four matrices each.")


@check_of("parameter_count", points=0.375)
def count_of_both_together(trial: Trial) -> None:
    """Both stacks add up."""
    d, d_ff, E = _sizes(trial)
    agrees(trial, d, d_ff, E, E + 2, help="Blocks of the encoder and of the decoder, each with its own price.")


@check_of("parameter_count", points=0.125, needs=("count_depends_on_every_argument",))
def count_of_nothing(trial: Trial) -> None:
    """No blocks hold no weights."""
    agrees(trial, 8, 32, 0, 0, help="Embeddings and the head are not counted here.")


@check_of("parameter_count", points=0.5, kind="contract", needs=("count_depends_on_every_argument",))
def count_is_a_whole_number(trial: Trial) -> None:
    """The number is an int."""
    value = trial.call(6, 10, 1, 2)
    if isinstance(value, torch.Tensor) or not isinstance(value, int):
        raise Failed(
            f"It returned {describe(value)}; an int is wanted.", "/ gives a float even where nothing is left over."
        )


def _sizes(trial: Trial) -> tuple[int, int, int]:
    """d, a d_ff that is neither d nor 4d, and a number of blocks above 1."""
    a, b, c = (int(torch.randint(6, (), generator=trial.random)) for _ in range(3))
    return 10 + a, 20 + b, 2 + c
