"""Named faults of `decoder_block`."""

from __future__ import annotations

from attnlab.fault import Edit, Fault

_SELF_SLOTS = "w_q, w_k, w_v, w_o = block[0:4] "
_FF_SLOTS = "w_mlp1, w_mlp2 = block[8:10] "
_READ_SELF = "read_self = multi_head_attention(dec, dec, w_q, w_k, w_v, w_o, num_heads, causal)"
_ADD_SELF = "dec = layer_norm(dec + read_self) "
_READ_SOURCE = "read_source = cross_attention(dec, enc, block, num_heads)"
_ADD_SOURCE = "dec = layer_norm(dec + read_source) "
_LAST = "return layer_norm(dec + feed_forward(dec, w_mlp1, w_mlp2))"


def _block(id: str, *changes: tuple[str, str], words: str, help: str, symptom: str) -> Fault:
    """decoder_block with several changes."""
    return Fault(id, tuple(Edit("decoder_block", *change) for change in changes), words, help, symptom)



FAULTS: tuple[Fault, ...] = (
    _block(
        "pre_norm",
        (_READ_SELF, _READ_SELF.replace("(dec, dec", "(layer_norm(dec), layer_norm(dec)")),
        (_ADD_SELF, "dec = dec + read_self "),
        (_READ_SOURCE, _READ_SOURCE.replace("(dec", "(layer_norm(dec)")),
        (_ADD_SOURCE, "dec = dec + read_source "),
        (_LAST, "return dec + feed_forward(layer_norm(dec), w_mlp1, w_mlp2)"),
        words="the norm came before each sublayer instead of after its sum",
        help="Post-norm: LN(dec + sublayer(dec)). Every output token has mean 0 and variance 1.",
        symptom="The variance of the output grows.",
    ),
    _block(
        "norm_of_the_sublayer",
        (_ADD_SELF, "dec = dec + layer_norm(read_self) "),
        (_ADD_SOURCE, "dec = dec + layer_norm(read_source) "),
        (_LAST, "return dec + layer_norm(feed_forward(dec, w_mlp1, w_mlp2))"),
        words="the norm was taken of each sublayer's output, and dec added after it",
        help="LN wraps the sum: LN(dec + sublayer(dec)).",
        symptom="The variance of the output grows.",
    ),
    _block(
        "norm_once_at_the_end",
        (_ADD_SELF, "dec = dec + read_self "), (_ADD_SOURCE, "dec = dec + read_source "),
        words="there was one norm at the end of the block instead of one after each sublayer",
        help="Three sublayers, three norms.",
        symptom="Mean 0 and variance 1, and yet wrong.",
    ),
    _block(
        "norm_missing_after_self", (_ADD_SELF, "dec = dec + read_self "),
        words="the norm after self-attention was missing",
        help="Every sublayer ends with a norm.",
        symptom="Mean 0 and variance 1, and yet wrong.",
    ),
    _block(
        "norm_missing_after_cross", (_ADD_SOURCE, "dec = dec + read_source "),
        words="the norm after cross-attention was missing",
        help="Every sublayer ends with a norm.",
        symptom="Mean 0 and variance 1, and yet wrong.",
    ),
    _block(
        "norm_missing_after_feed_forward", (_LAST, "return dec + feed_forward(dec, w_mlp1, w_mlp2)"),
        words="the norm after feed-forward was missing",
        help="Every sublayer ends with a norm.",
        symptom="The variance of the output is not 1.",
    ),
    _block(
        "residual_missing_self", (_ADD_SELF, "dec = layer_norm(read_self) "),
        words="self-attention replaced dec instead of being added to it",
        help="layer_norm(dec + read_self).",
        symptom="With zero weights the output is zero instead of LN(dec).",
    ),
    _block(
        "residual_missing_cross", (_ADD_SOURCE, "dec = layer_norm(read_source) "),
        words="cross-attention replaced dec instead of being added to it",
        help="layer_norm(dec + read_source).",
        symptom="With zero weights the output is zero instead of LN(dec).",
    ),
    _block(
        "residual_missing_feed_forward", (_LAST, "return layer_norm(feed_forward(dec, w_mlp1, w_mlp2))"),
        words="feed-forward replaced dec instead of being added to it",
        help="layer_norm(dec + feed_forward(dec, ...)).",
        symptom="With zero weights the output is zero instead of LN(dec).",
    ),
    _block(
        "residual_doubles_self", (_ADD_SELF, "dec = layer_norm(read_self + read_self) "),
        words="the output of self-attention was added to itself instead of to dec",
        help="Keep dec until it has been added.",
        symptom="As if the residual were missing.",
    ),
    _block(
        "residual_adds_dec_twice", (_ADD_SELF, "dec = layer_norm(dec + dec + read_self) "),
        words="dec was added twice to self-attention",
        help="dec + read_self, once; or is there a residual inside your attention as well?",
        symptom="The sublayer has half its effect.",
    ),
    _block(
        "residual_cross_from_start",
        (_READ_SELF, "start = dec\n    " + _READ_SELF), (_ADD_SOURCE, "dec = layer_norm(start + read_source) "),
        words="the residual of cross-attention was the block's input",
        help="Each residual starts from the output of the sublayer before.",
        symptom="Self-attention reaches the output through cross-attention's queries only.",
    ),
    _block(
        "residual_feed_forward_from_start",
        (_READ_SELF, "start = dec\n    " + _READ_SELF),
        (_LAST, "return layer_norm(start + feed_forward(dec, w_mlp1, w_mlp2))"),
        words="the residual of feed-forward was the block's input",
        help="Each residual starts from the output of the sublayer before.",
        symptom="Both attentions reach the output through feed-forward only.",
    ),
    _block(
        "residual_cross_from_enc", (_ADD_SOURCE, "dec = layer_norm(enc + read_source) "),
        words="the residual of cross-attention was enc",
        help="The decoder carries dec on: dec + read_source.",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    _block(
        "cross_asks_too_early",
        (_READ_SELF, "start = dec\n    " + _READ_SELF), (_READ_SOURCE, _READ_SOURCE.replace("(dec", "(start")),
        words="the queries of cross-attention were made from the block's input",
        help="Cross-attention uses the updated dec, after self-attention.",
        symptom="Right where self-attention adds nothing.",
    ),
    _block(
        "feed_forward_reads_too_early",
        (_READ_SOURCE, "before = dec\n    " + _READ_SOURCE),
        (_LAST, "return layer_norm(dec + feed_forward(before, w_mlp1, w_mlp2))"),
        words="feed-forward read what cross-attention had read, not what it made",
        help="Feed-forward uses the updated dec, after cross-attention.",
        symptom="Right where cross-attention adds nothing.",
    ),
    _block(
        "cross_before_self",
        (_READ_SELF, "dec = layer_norm(dec + cross_attention(dec, enc, block, num_heads))\n    " + _READ_SELF),
        (_READ_SOURCE, "read_source = 0"),
        (_ADD_SOURCE, "dec = dec + read_source "),
        words="cross-attention came before self-attention",
        help="Self, cross, feed-forward.",
        symptom="Right where either of the two adds nothing.",
    ),
    _block(
        "feed_forward_in_the_middle",
        (_READ_SOURCE, "dec = layer_norm(dec + feed_forward(dec, w_mlp1, w_mlp2))\n    " + _READ_SOURCE),
        (_LAST, "return dec"),
        words="feed-forward came before cross-attention",
        help="Self, cross, feed-forward.",
        symptom="Right where either of the two adds nothing.",
    ),
    _block(
        "sublayers_in_parallel",
        (_ADD_SELF, "dec = dec "), (_ADD_SOURCE, "dec = dec "),
        (_LAST, "return layer_norm(dec + read_self + read_source + feed_forward(dec, w_mlp1, w_mlp2))"),
        words="all three sublayers read the block's input, and their sum was normalised once",
        help="One after the other: each reads what the one before has made.",
        symptom="No sublayer feels another.",
    ),
    _block(
        "self_missing", (_ADD_SELF, "dec = layer_norm(dec) "),
        words="self-attention had no effect",
        help="Its output is added to dec: layer_norm(dec + read_self).",
        symptom="A row does not feel earlier tokens.",
    ),
    _block(
        "cross_missing", (_ADD_SOURCE, "dec = layer_norm(dec) "),
        words="cross-attention had no effect",
        help="Its output is added to dec: layer_norm(dec + read_source).",
        symptom="Change the source and nothing moves.",
    ),
    _block(
        "feed_forward_missing", (_LAST, "return layer_norm(dec)"),
        words="feed-forward had no effect",
        help="Its output is added to dec before the last norm.",
        symptom="Slots 8 and 9 have no effect.",
    ),
    _block(
        "self_not_causal", (_READ_SELF, _READ_SELF.replace(", causal)", ")")),
        words="self-attention had no causal mask",
        help="Position t may read 0 ... t only: pass causal_mask(T) as `allowed`.",
        symptom="Only the last row of self-attention is right.",
    ),
    _block(
        "self_anticausal", (_READ_SELF, _READ_SELF.replace("causal)", "causal.T)")),
        words="the causal mask of self-attention was transposed",
        help="Query down, key across: row t is True up to t.",
        symptom="Row 0 feels the last token.",
    ),
    _block(
        "self_mask_of_source_length",
        ("causal_mask(dec.shape[1], device=dec.device)", "causal_mask(enc.shape[1], device=dec.device)"),
        words="the causal mask was made for the length of the source",
        help="Self-attention is (T, T): dec.shape[1].",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    _block(
        "block_cross_causal",
        (_READ_SOURCE, "read_source = cross_attention(dec, enc, block, num_heads, torch.ones(\n"
         "        dec.shape[1], enc.shape[1], dtype=torch.bool, device=dec.device).tril())"),
        words="the decoder block's cross-attention was causal too",
        help="The source is fully known: no mask there.",
        symptom="Target 0 reads source 0 only.",
    ),
    _block(
        "cross_gets_target_mask",
        (_READ_SOURCE, _READ_SOURCE.replace("num_heads)", "num_heads, causal)")),
        words="the target's causal mask was given to cross-attention",
        help="That mask has T columns, the scores have S; and the source needs none.",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    _block(
        "cross_reads_target", (_READ_SOURCE, _READ_SOURCE.replace("enc", "dec")),
        words="the block's cross-attention read dec and not enc",
        help="cross_attention(dec, enc, ...).",
        symptom="Change the source and nothing moves.",
    ),
    _block(
        "self_reads_source", (_READ_SELF, _READ_SELF.replace("(dec, dec", "(dec, enc")),
        words="keys and values of self-attention came from enc",
        help="Self-attention reads dec alone.",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    _block(
        "cross_normalises_source", (_READ_SOURCE, _READ_SOURCE.replace("enc", "layer_norm(enc)")),
        words="the source was normalised before it was read",
        help="enc is used as it is.",
        symptom="Hardly visible behind an encoder, plain without one.",
    ),
    _block(
        "cross_uses_self_slots",
        (_READ_SOURCE, _READ_SOURCE.replace("block,", "block[[0, 1, 2, 3] * 3],")),
        words="self-attention's slots were used for cross-attention too",
        help="Slots 4 ... 7 are cross-attention's.",
        symptom="Slots 4 ... 7 have no effect.",
    ),
    _block(
        "self_uses_cross_slots", (_SELF_SLOTS, "w_q, w_k, w_v, w_o = block[4:8] "),
        words="cross-attention's slots were used for self-attention too",
        help="Slots 0 ... 3 are self-attention's.",
        symptom="Slots 0 ... 3 have no effect.",
    ),
    _block(
        "self_and_cross_slots_swapped",
        (_SELF_SLOTS, "w_q, w_k, w_v, w_o = block[4:8] "),
        (_READ_SOURCE, _READ_SOURCE.replace("block,", "block[[0, 1, 2, 3] * 3],")),
        words="self-attention had the slots of cross-attention and the other way round",
        help="Slots 0 ... 3 are self-attention's, 4 ... 7 cross-attention's.",
        symptom="A model that is trained with it works; given weights do not.",
    ),
    _block(
        "slots_paired",
        (_SELF_SLOTS, "w_q, w_k, w_v, w_o = block[0:8:2] "),
        (_READ_SOURCE, _READ_SOURCE.replace("block,", "block[[0, 0, 0, 0, 1, 3, 5, 7]],")),
        words="slots were read as pairs, q of self, q of cross, k of self, and so on",
        help="Slots come in blocks: 0 ... 3 self, 4 ... 7 cross, 8 and 9 feed-forward.",
        symptom="A model that is trained with it works; given weights do not.",
    ),
    _block(
        "self_keys_and_values_swapped", (_SELF_SLOTS, "w_q, w_v, w_k, w_o = block[0:4] "),
        words="slot 1 was taken for w_v and slot 2 for w_k",
        help="The order is w_q, w_k, w_v, w_o.",
        symptom="A model that is trained with it works; given weights do not.",
    ),
    _block(
        "feed_forward_slots_swapped", (_FF_SLOTS, "w_mlp2, w_mlp1 = block[8:10] "),
        words="slot 8 was taken for w_mlp2 and slot 9 for w_mlp1",
        help="w_mlp1 is slot 8.",
        symptom="Both are square, so nothing raises.",
    ),
    _block(
        "feed_forward_spare_slots", (_FF_SLOTS, "w_mlp1, w_mlp2 = block[10:12] "),
        words="feed-forward used slots 10 and 11",
        help="Slots 8 and 9; 10 and 11 hold nothing.",
        symptom="Feed-forward adds nothing, unless somebody fills the spare slots.",
    ),
    _block(
        "feed_forward_slots_one_early", (_FF_SLOTS, "w_mlp1, w_mlp2 = block[7:9] "),
        words="feed-forward used slots 7 and 8",
        help="Counting starts at 0: block[8:10].",
        symptom="Slot 9 has no effect.",
    ),
    _block(
        "spare_slot_as_bias", (_LAST, "return layer_norm(dec + feed_forward(dec, w_mlp1, w_mlp2) + block[10, 0])"),
        words="slot 10 was added as a bias",
        help="There are no biases; slots 10 and 11 are ignored whatever they hold.",
        symptom="Right while the spare slots hold zeros.",
    ),
    _block(
        "self_one_head", (_READ_SELF, _READ_SELF.replace("num_heads", "1")),
        words="self-attention had one head, whatever num_heads says",
        help="Pass num_heads on.",
        symptom="Right for num_heads = 1 only.",
    ),
    _block(
        "block_cross_one_head", (_READ_SOURCE, _READ_SOURCE.replace("num_heads", "1")),
        words="the block's cross-attention had one head, whatever num_heads says",
        help="Pass num_heads on.",
        symptom="Right for num_heads = 1 only.",
    ),
    _block(
        "block_in_place", (_ADD_SELF, "dec += read_self\n    dec = layer_norm(dec) "),
        words="self-attention was added to the caller's dec in place",
        help="dec += ... writes into the tensor you were given; dec = dec + ... does not.",
        symptom="The output is right, but afterwards dec is another.",
    ),
    _block(
        "block_clears_spare_slots", (_FF_SLOTS, "block[10:] = 0.0\n    w_mlp1, w_mlp2 = block[8:10] "),
        words="the spare slots were overwritten in the caller's weights",
        help="Do not read them; there is no need to clear them.",
        symptom="The output is right, but afterwards slots 10 and 11 hold zeros.",
    ),
    _block(
        "block_single_precision", (_LAST, _LAST + ".float()"),
        words="the block always gave float32",
        help="Leave the dtype as it is.",
        symptom="float64 in, float32 out.",
    ),
)  # fmt: skip
