"""Named faults of `cross_attention`."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_SLOTS = "w_q, w_k, w_v, w_o = block[4:8] "
_CROSS = "return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads, enc_allowed)"

FAULTS: tuple[Fault, ...] = (
    fault(
        "cross_self_slots", "cross_attention", _SLOTS, "w_q, w_k, w_v, w_o = block[0:4] ",
        words="cross-attention used slots 0 ... 3, those of self-attention",
        help="Slots 4 ... 7 are this attention's.",
        symptom="Slots 4 ... 7 have no effect.",
    ),
    fault(
        "cross_slots_interleaved", "cross_attention", _SLOTS, "w_q, w_k, w_v, w_o = block[1:8:2] ",
        words="the slots were read as pairs of self and cross instead of four and four",
        help="Slots come in blocks: 0 ... 3 self, 4 ... 7 cross.",
        symptom="Slots 4 and 6 have no effect.",
    ),
    fault(
        "cross_slots_one_late", "cross_attention", _SLOTS, "w_q, w_k, w_v, w_o = block[5:9] ",
        words="cross-attention used slots 5 ... 8",
        help="Counting starts at 0: block[4:8].",
        symptom="Slot 4 has no effect.",
    ),
    fault(
        "cross_keys_and_values_swapped", "cross_attention", _SLOTS, "w_q, w_v, w_k, w_o = block[4:8] ",
        words="slot 5 was taken for w_v and slot 6 for w_k",
        help="The order is w_q, w_k, w_v, w_o.",
        symptom="A model that is trained with it works; given weights do not.",
    ),
    fault(
        "cross_queries_and_keys_swapped", "cross_attention", _SLOTS, "w_k, w_q, w_v, w_o = block[4:8] ",
        words="slot 4 was taken for w_k and slot 5 for w_q",
        help="The order is w_q, w_k, w_v, w_o.",
        symptom="A model that is trained with it works; given weights do not.",
    ),
    fault(
        "cross_output_first", "cross_attention", _SLOTS, "w_o, w_q, w_k, w_v = block[4:8] ",
        words="slot 4 was taken for w_o",
        help="w_o comes last, in slot 7.",
        symptom="A model that is trained with it works; given weights do not.",
    ),
    fault(
        "cross_slots_transposed", "cross_attention", _SLOTS, "w_q, w_k, w_v, w_o = block[4:8].transpose(1, 2) ",
        words="the matrices in slots 4 ... 7 were transposed before use",
        help="Weights are (in, out) as they stand: x @ w.",
        symptom="Right for symmetric weights only.",
    ),
    fault(
        "cross_roles_swapped", "cross_attention", _CROSS,
        "return multi_head_attention(enc, dec, w_q, w_k, w_v, w_o, num_heads)",
        words="the source asked and the target was read",
        help="Queries come from dec, keys and values from enc.",
        symptom="The output is as long as the source.",
    ),
    fault(
        "cross_reads_dec", "cross_attention", _CROSS,
        "return multi_head_attention(dec, dec, w_q, w_k, w_v, w_o, num_heads)",
        words="the decoder read itself again instead of the source",
        help="Keys and values come from enc.",
        symptom="Change the source and nothing moves.",
    ),
    fault(
        "cross_reads_enc_only", "cross_attention", _CROSS,
        "return multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads, enc_allowed)",
        words="queries, keys and values all came from enc",
        help="Queries come from dec.",
        symptom="Change the target and nothing moves.",
    ),
    fault(
        "cross_causal", "cross_attention", _CROSS,
        "causal = torch.ones(dec.shape[1], enc.shape[1], dtype=torch.bool, device=dec.device).tril()\n"
        "    return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads,"
        " causal if enc_allowed is None else causal & enc_allowed)",
        words="the causal mask was used in cross-attention",
        help="The source is fully known: every target position may read all of it.",
        symptom="Target 0 reads source 0 only.",
    ),
    fault(
        "cross_causal_when_square", "cross_attention", _CROSS,
        "causal = torch.ones(dec.shape[1], enc.shape[1], dtype=torch.bool, device=dec.device).tril()\n"
        "    return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads,"
        " causal if dec.shape[1] == enc.shape[1] else enc_allowed)",
        words="the target's causal mask was used in cross-attention wherever its shape fits",
        help="Cross-attention has no causal mask, also when S == T.",
        symptom="Right where S differs from T; only the last row is right where they are equal.",
    ),
    fault(
        "cross_mask_ignored", "cross_attention", _CROSS,
        "return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads)",
        words="enc_allowed was not passed on",
        help="It is the mask of this attention.",
        symptom="Padding in the source is read like words.",
    ),
    fault(
        "cross_mask_inverted", "cross_attention", _CROSS,
        "return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads,"
        " None if enc_allowed is None else ~enc_allowed)",
        words="enc_allowed was turned round before it was passed on",
        help="True says: may be read, all the way through.",
        symptom="Only the padding is read.",
    ),
    fault(
        "cross_mask_of_first_example", "cross_attention", _CROSS,
        "return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads,"
        " None if enc_allowed is None else enc_allowed[:1])",
        words="the first example's enc_allowed was used for all",
        help="Each source has its own padding.",
        symptom="Example 0 is right, example 1 is not.",
    ),
    fault(
        "cross_one_head", "cross_attention", _CROSS,
        "return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, 1, enc_allowed)",
        words="cross-attention had one head, whatever num_heads says",
        help="Pass num_heads on.",
        symptom="Right for num_heads = 1 only.",
    ),
    fault(
        "cross_adds_residual", "cross_attention", _CROSS,
        "return dec + multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads, enc_allowed)",
        words="dec was added to the output of cross-attention",
        help="The residual is the block's business, not the attention's.",
        symptom="The output is right plus dec.",
    ),
    fault(
        "cross_zeroes_padding_in_place", "cross_attention", _SLOTS,
        "w_q, w_k, w_v, w_o = block[4:8]\n"
        "    if enc_allowed is not None:\n"
        "        enc.mul_(enc_allowed.transpose(1, 2)) ",
        words="hidden source positions were set to 0 in enc itself",
        help="The mask is enough. *=, enc[...] = and names that end in _ write into the caller's tensor.",
        symptom="The output is right, but afterwards enc holds zeros.",
    ),
)  # fmt: skip
