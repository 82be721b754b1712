"""Named faults of lesson full_forward."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_ANGLE = "angle = i / 10000.0 ** (2 * pair / d) "
_CHOICE = "return torch.where(j % 2 == 0, angle.sin(), angle.cos())"
_SHIFT = "return torch.cat([first, ids[:, :-1]], dim=1) "
_ENCODER_FIRST = "enc = layer_norm(enc + read_self) "
_ENCODER_SECOND = "return layer_norm(enc + feed_forward(enc, w_mlp1, w_mlp2))"
_ENCODER_READS = "read_self = multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads)"
_ENCODER_SLOTS = "w_q, w_k, w_v, w_o, w_mlp1, w_mlp2 = block "
_EMBED = "enc = src_emb[src_ids.long()] + enc_pos_embed "
_ENCODE_RETURN = "    return enc\n"
_ENCODE_LOOP = "for block in enc_blocks:"
_TARGET = "dec = tgt_emb[tgt_ids.long()] + dec_pos_embed "
_HEAD = "return dec @ w_head "
_STEP = "dec = decoder_block(dec, enc, block, num_heads)"
_LOOP = "for block in dec_blocks:"
_ENC = "enc = encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads) "
_COUNTED = (
    "counted = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id     # (N, T)"
)
_PICK = "logits, targets = logits[counted], targets[counted] "
_LOG_P = "log_p = logits - logits.logsumexp(dim=-1, keepdim=True)"
_MEAN = "return -log_p.gather(-1, targets[:, None]).mean()"

_POSITIONS = (
    fault(
        "pe_sine_and_cosine_swapped", "positional_encoding", "j % 2 == 0", "j % 2 == 1",
        words="even columns held the cosine and odd columns the sine",
        help="Column 0 is a sine: the row of position 0 begins 0, 1, 0, 1.",
        symptom="Row 0 begins with 1.",
    ),
    fault(
        "pe_only_sines", "positional_encoding", _CHOICE, "return angle.sin()",
        words="every column held a sine",
        help="Odd columns take the cosine of their neighbour's angle.",
        symptom="Row 0 is all zeros.",
    ),
    fault(
        "pe_only_cosines", "positional_encoding", _CHOICE, "return angle.cos()",
        words="every column held a cosine",
        help="Even columns take the sine.",
        symptom="Row 0 is all ones.",
    ),
    fault(
        "pe_halves_side_by_side", "positional_encoding", _CHOICE,
        "return torch.cat([angle[:, 0::2].sin(), angle[:, 1::2].cos()], dim=1)",
        words="all sines came first and all cosines after them",
        help="Sines and cosines alternate: 0::2 are sines, 1::2 cosines.",
        symptom="The first half of row 0 is 0 and the second half 1.",
    ),
    fault(
        "pe_no_pairs", "positional_encoding", _ANGLE, "angle = i / 10000.0 ** (j / d) ",
        words="each column had an angle of its own, with exponent j/d instead of 2*floor(j/2)/d",
        help="A sine and the cosine after it share one angle: floor(j/2) is the same for both.",
        symptom="Column 1 is not the cosine of column 0's angle.",
    ),
    fault(
        "pe_twice_the_exponent", "positional_encoding", "2 * pair / d", "2 * j / d",
        words="the exponent were 2j/d with j the column instead of the pair",
        help="2*floor(j/2), not 2*j: j counts columns, and pairs have two of them.",
        symptom="Frequencies fall twice as fast as they should.",
    ),
    fault(
        "pe_half_the_exponent", "positional_encoding", "2 * pair / d", "pair / d",
        words="the exponent lacked its factor 2",
        help="The exponent runs from 0 to nearly 1 over the columns: 2*floor(j/2)/d.",
        symptom="Frequencies fall too slowly.",
    ),
    fault(
        "pe_frequency_upside_down", "positional_encoding", "i / 10000.0 **", "i * 10000.0 **",
        words="the position were multiplied by 10000^(...) instead of divided",
        help="Later columns turn more slowly: divide.",
        symptom="Later columns look like noise.",
    ),
    fault(
        "pe_base_1000", "positional_encoding", "10000.0", "1000.0",
        words="the base were 1000 instead of 10000",
        help="Count the zeros: 10000.",
        symptom="All columns from the third on are a little off.",
    ),
    fault(
        "pe_base_e", "positional_encoding", "10000.0 ** (2 * pair / d)", "torch.exp(2 * pair / d)",
        words="the base were e instead of 10000",
        help="exp needs the factor log(10000) in its argument.",
        symptom="All columns turn at nearly the same speed.",
    ),
    fault(
        "pe_counts_from_one", "positional_encoding", "i = torch.arange(length, ", "i = torch.arange(1, length + 1, ",
        words="positions were counted from 1",
        help="The first position is 0, and its row is 0, 1, 0, 1, ...",
        symptom="Row 0 is what row 1 should be.",
    ),
    fault(
        "pe_divides_by_one_less", "positional_encoding", "2 * pair / d", "2 * pair / max(d - 1, 1)",
        words="the exponent were divided by d - 1 instead of d",
        help="The exponent is 2*floor(j/2) over d.",
        symptom="The last columns turn too slowly.",
    ),
    fault(
        "pe_integer_exponent", "positional_encoding", "2 * pair / d", "2 * pair // d",
        words="the exponent were cut to a whole number",
        help="Use / instead of //: the exponent is a fraction.",
        symptom="All columns turn at the same speed.",
    ),
    fault(
        "pe_rounds_odd_width_down", "positional_encoding", "2 * pair / d", "2 * pair / max(d // 2 * 2, 2)",
        words="an odd d were rounded down to an even one",
        help="The exponent divides by d itself, odd or even.",
        symptom="Even widths are right, odd ones are not.",
    ),
    fault(
        "pe_even_width_only", "positional_encoding", _CHOICE,
        "return torch.stack([angle[:, 0::2].sin(), angle[:, 1::2].cos()], dim=2).flatten(1)",
        words="d were taken to be even",
        help="With odd d there is one sine more than there are cosines: cut the cosines to d // 2 columns.",
        symptom="An error about shapes as soon as d is odd.",
    ),
    fault(
        "pe_double_precision", "positional_encoding", "dtype=torch.get_default_dtype()", "dtype=torch.float64",
        words="the table were always float64",
        help="torch.get_default_dtype() says what others will add it to.",
        symptom="Adding it to float32 embeddings makes everything float64.",
    ),
    fault(
        "pe_half_precision", "positional_encoding", "dtype=torch.get_default_dtype()", "dtype=torch.bfloat16",
        words="positions were counted in half precision",
        help="A half has too few digits to count to 300.",
        symptom="Far positions share their rows.",
    ),
    fault(
        "pe_position_over_length", "positional_encoding", _ANGLE, "angle = i / length / 10000.0 ** (2 * pair / d) ",
        words="positions were divided by the length",
        help="A position is a count, not a fraction: row 3 is the same in every table.",
        symptom="A longer table does not begin with the shorter one.",
    ),
    fault(
        "pe_degrees", "positional_encoding", _ANGLE, "angle = torch.deg2rad(i / 10000.0 ** (2 * pair / d)) ",
        words="the angle were taken in degrees",
        help="sin and cos take radians, and so does the formula.",
        symptom="Neighbouring rows hardly differ.",
    ),
)  # fmt: skip

_SHIFTS = (
    fault(
        "shift_left", "shift_right", _SHIFT, "return torch.cat([ids[:, 1:], first], dim=1) ",
        words="ids were shifted to the left",
        help="Position t is fed what was right at t - 1.",
        symptom="The model is fed the future and learns to copy it.",
    ),
    fault(
        "shift_not_at_all", "shift_right", _SHIFT, "return torch.cat([first, ids[:, 1:]], dim=1) ",
        words="the first id were overwritten by bos_id and the others stayed where they were",
        help="Drop the last id, not the first.",
        symptom="The loss falls to zero and decoding gives nonsense: the model copies its input.",
    ),
    fault(
        "shift_keeps_the_last", "shift_right", _SHIFT, "return torch.cat([first, ids], dim=1) ",
        words="bos_id were put in front and nothing dropped",
        help="The result is as long as ids: leave out the last one.",
        symptom="The result is one position too long.",
    ),
    fault(
        "shift_without_bos", "shift_right", _SHIFT, "return ids[:, :-1] ",
        words="the last id were dropped and bos_id not put in front",
        help="Put a column of bos_id in front.",
        symptom="The result is one position too short.",
    ),
    fault(
        "shift_rolls", "shift_right", _SHIFT, "return torch.roll(ids, 1, dims=1) ",
        words="the last id went to the front in place of bos_id",
        help="torch.roll goes round: overwrite column 0 by bos_id.",
        symptom="The decoder is told the last word first.",
    ),
    fault(
        "shift_zero_for_bos", "shift_right", "first = torch.full_like(ids[:, :1], bos_id)", "first = torch.zeros_like(ids[:, :1])",
        words="0 stood in place of bos_id",
        help="Use the bos_id that is given.",
        symptom="Right only where bos_id is 0.",
    ),
    fault(
        "shift_across_examples", "shift_right", _SHIFT,
        "return torch.cat([first.flatten(), ids.flatten()])[: ids.numel()].view_as(ids) if len(ids) == 1 else "
        "torch.cat([first[0], ids.flatten()[:-1]]).view_as(ids) ",
        words="the whole batch were shifted as one long row",
        help="Shift each example by itself: along dim 1.",
        symptom="Every example but the first begins with the last id of the one before.",
    ),
    fault(
        "shift_down", "shift_right", _SHIFT, "return torch.cat([torch.full_like(ids[:1], bos_id), ids[:-1]], dim=0) ",
        words="examples were shifted instead of positions",
        help="Positions are dim 1; dim 0 is the batch.",
        symptom="The first example is all bos_id.",
    ),
    fault(
        "shift_casts_to_long", "shift_right", _SHIFT, "return torch.cat([first, ids[:, :-1]], dim=1).long() ",
        words="the result were always int64",
        help="Keep the dtype of ids.",
        symptom="Float ids come back as integers.",
    ),
    fault(
        "shift_casts_to_float", "shift_right", _SHIFT, "return torch.cat([first.float(), ids[:, :-1]], dim=1) ",
        words="bos_id were put in as a float, which makes integer ids float",
        help="Make the column of bos_id with the dtype of ids.",
        symptom="Integer ids come back as floats.",
    ),
    fault(
        "shift_in_place", "shift_right", _SHIFT, "return ids.copy_(torch.cat([first, ids[:, :-1]], dim=1)) ",
        words="ids themselves were overwritten",
        help="Make a new tensor; the caller still needs ids as labels.",
        symptom="The labels have moved too, and the model learns to copy.",
    ),
    fault(
        "shift_skips_a_second_bos", "shift_right", _SHIFT,
        "return torch.where(ids[:, :1] == bos_id, ids, torch.cat([first, ids[:, :-1]], dim=1)) ",
        words="rows that begin with bos_id already were left as they are",
        help="No id is special: shift every row.",
        symptom="Rows that begin with bos_id are not shifted.",
    ),
)  # fmt: skip

_ENCODER = (
    fault(
        "encoder_pre_norm", "encoder_block", _ENCODER_FIRST, "enc = enc + multi_head_attention(layer_norm(enc), "
        "layer_norm(enc), w_q, w_k, w_v, w_o, num_heads) ",
        words="the encoder's attention were normalised before it and not after the residual",
        help="Add first, then normalise: LN(enc + attention).",
        symptom="The result of the first half has no unit variance.",
    ),
    fault(
        "encoder_norm_of_the_sublayer", "encoder_block", _ENCODER_FIRST, "enc = enc + layer_norm(read_self) ",
        words="the encoder's attention were normalised and then added",
        help="LN wraps the sum, not the sublayer.",
        symptom="The result of the first half has no unit variance.",
    ),
    fault(
        "encoder_first_norm_missing", "encoder_block", _ENCODER_FIRST, "enc = enc + read_self ",
        words="the norm after the encoder's attention were missing",
        help="Each sublayer ends with its own norm.",
        symptom="The feed-forward layer gets tokens of any size.",
    ),
    fault(
        "encoder_last_norm_missing", "encoder_block", _ENCODER_SECOND, "return enc + feed_forward(enc, w_mlp1, w_mlp2)",
        words="the norm after the encoder's feed-forward layer were missing",
        help="Each sublayer ends with its own norm.",
        symptom="Output tokens have no unit variance.",
    ),
    fault(
        "encoder_first_residual_missing", "encoder_block", _ENCODER_FIRST, "enc = layer_norm(read_self) ",
        words="the encoder's attention replaced its input instead of being added to it",
        help="LN(enc + attention): the input goes round the sublayer.",
        symptom="A token forgets which word it was.",
    ),
    fault(
        "encoder_last_residual_missing", "encoder_block", _ENCODER_SECOND, "return layer_norm(feed_forward(enc, w_mlp1, w_mlp2))",
        words="the encoder's feed-forward layer replaced its input instead of being added to it",
        help="LN(enc + feed_forward): the input goes round the sublayer.",
        symptom="What attention gathered is lost.",
    ),
    fault(
        "encoder_causal", "encoder_block", _ENCODER_READS,
        "read_self = multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads, "
        "torch.ones(enc.shape[1], enc.shape[1], dtype=torch.bool, device=enc.device).tril())",
        words="the encoder had a causal mask",
        help="The source is fully known: every position reads every position.",
        symptom="The first source token does not feel the last one.",
    ),
    fault(
        "encoder_anticausal", "encoder_block", _ENCODER_READS,
        "read_self = multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads, "
        "torch.ones(enc.shape[1], enc.shape[1], dtype=torch.bool, device=enc.device).triu())",
        words="each source position read only itself and later ones",
        help="The encoder has no mask at all.",
        symptom="The last source token does not feel the first one.",
    ),
    fault(
        "encoder_one_head", "encoder_block", "w_v, w_o, num_heads)", "w_v, w_o, 1)",
        words="the encoder had one head of the full width, whatever num_heads says",
        help="Hand num_heads on.",
        symptom="Right with one head, wrong with more.",
    ),
    fault(
        "encoder_feed_forward_swapped", "encoder_block", _ENCODER_SECOND, "return layer_norm(enc + feed_forward(enc, w_mlp2, w_mlp1))",
        words="the encoder's two feed-forward matrices changed places",
        help="Slot 4 comes before GELU, slot 5 after it.",
        symptom="Shapes fit, values do not.",
    ),
    fault(
        "encoder_keys_and_values_swapped", "encoder_block", _ENCODER_SLOTS, "w_q, w_v, w_k, w_o, w_mlp1, w_mlp2 = block ",
        words="w_k and w_v of the encoder changed places",
        help="Slots are in the order q, k, v, o.",
        symptom="Shapes fit, values do not.",
    ),
    fault(
        "encoder_queries_and_keys_swapped", "encoder_block", _ENCODER_SLOTS, "w_k, w_q, w_v, w_o, w_mlp1, w_mlp2 = block ",
        words="w_q and w_k of the encoder changed places",
        help="Slots are in the order q, k, v, o.",
        symptom="Attention is transposed: who reads became who is read.",
    ),
    fault(
        "encoder_output_projection_missing", "encoder_block", _ENCODER_READS,
        "read_self = multi_head_attention(enc, enc, w_q, w_k, w_v, torch.eye(enc.shape[-1]).to(enc), num_heads)",
        words="the encoder's attention lacked its output projection",
        help="After the heads are merged comes w_o.",
        symptom="Slot 3 has no effect.",
    ),
    fault(
        "encoder_weights_transposed", "encoder_block", _ENCODER_SLOTS, "w_q, w_k, w_v, w_o, w_mlp1, w_mlp2 = block.mT ",
        words="the encoder's weights were used transposed, as nn.Linear stores them",
        help="y = x @ W here: the first axis of W is the input.",
        symptom="Shapes fit since all matrices are square; values do not.",
    ),
    fault(
        "encoder_feed_forward_first", "encoder_block", _ENCODER_READS,
        "enc = layer_norm(enc + feed_forward(enc, w_mlp1, w_mlp2))\n    " + _ENCODER_READS,
        words="the encoder ran its feed-forward layer before attention as well",
        help="Attention first, then feed-forward, once each.",
        symptom="Values differ from the first block on.",
    ),
    fault(
        "encoder_feed_forward_missing", "encoder_block", _ENCODER_SECOND, "return enc",
        words="the encoder block ended after attention",
        help="The feed-forward layer follows, with its own residual and norm.",
        symptom="Slots 4 and 5 have no effect.",
    ),
    fault(
        "encoder_feed_forward_reads_too_early", "encoder_block", _ENCODER_SECOND,
        "return layer_norm(enc + feed_forward(read_self, w_mlp1, w_mlp2))",
        words="the encoder's feed-forward layer read attention's bare result, without residual and norm",
        help="feed_forward reads enc as it is after the first norm.",
        symptom="Values differ from the first block on.",
    ),
    fault(
        "encoder_in_place", "encoder_block", _ENCODER_FIRST, "enc = enc.copy_(layer_norm(enc + read_self)) ",
        words="enc itself were overwritten",
        help="Write enc = ..., not enc[...] = ... or enc += ...",
        symptom="The caller's tensor changes.",
    ),
    fault(
        "encoder_single_precision", "encoder_block", _ENCODER_SECOND, "return layer_norm(enc + feed_forward(enc, w_mlp1, w_mlp2)).float()",
        words="the encoder's output were always float32",
        help="Keep the dtype of the parameters.",
        symptom="float64 and bfloat16 models come back as float32.",
    ),
)  # fmt: skip

_ENCODE = (
    fault(
        "source_positions_missing", "encode", _EMBED, "enc = src_emb[src_ids.long()] ",
        words="source positions were not added",
        help="enc = src_emb[src_ids] + enc_pos_embed, and assigned.",
        symptom="The order of the source words makes no difference.",
    ),
    fault(
        "source_positions_along_the_batch", "encode", _EMBED,
        "enc = src_emb[src_ids.long()] + enc_pos_embed[torch.arange(len(src_ids)).clamp(max=len(enc_pos_embed) - 1)][:, None] ",
        words="each example got one position's row for all its words",
        help="Positions run along dim 1: (N, S, d) + (S, d).",
        symptom="The order of the source words makes no difference.",
    ),
    fault(
        "source_positions_reversed", "encode", _EMBED, "enc = src_emb[src_ids.long()] + enc_pos_embed.flip(0) ",
        words="source positions were counted from the end",
        help="Position 0 is the first word.",
        symptom="Values differ wherever S > 1.",
    ),
    fault(
        "source_first_position_for_all", "encode", _EMBED, "enc = src_emb[src_ids.long()] + enc_pos_embed[0] ",
        words="every source word got the first position's row",
        help="Add the whole table: row s goes to position s.",
        symptom="The order of the source words makes no difference.",
    ),
    fault(
        "source_embedding_scaled", "encode", _EMBED, "enc = src_emb[src_ids.long()] * src_emb.shape[1] ** 0.5 + enc_pos_embed ",
        words="source embeddings were multiplied by sqrt(d)",
        help="The paper does so; this model does not.",
        symptom="Values differ even with E = 0.",
    ),
    fault(
        "source_zero_is_padding", "encode", _EMBED,
        "enc = src_emb[src_ids.long()] * (src_ids != 0)[..., None] + enc_pos_embed ",
        words="source id 0 were padding with an embedding of zeros",
        help="Id 0 is an ordinary word here.",
        symptom="Right for sentences without id 0.",
    ),
    fault(
        "source_ids_not_cast", "encode", "src_ids.long()", "src_ids",
        words="float ids were used as indices",
        help="Cast with .long() before the look-up.",
        symptom="IndexError: tensors used as indices must be long, int, byte or bool.",
    ),
    fault(
        "source_ids_as_bytes", "encode", "src_ids.long()", "src_ids.to(torch.uint8)",
        words="ids were cast to bytes, which select like a mask",
        help="Cast with .long().",
        symptom="An error about the shape of a mask, or a warning about uint8 indices.",
    ),
    fault(
        "source_norm_before_the_blocks", "encode", _ENCODE_LOOP, "enc = layer_norm(enc)\n    " + _ENCODE_LOOP,
        words="embeddings were normalised before the first encoder block",
        help="There is no norm outside the blocks.",
        symptom="With E = 0 the result has unit variance.",
    ),
    fault(
        "source_norm_after_the_blocks", "encode", _ENCODE_RETURN, "    return layer_norm(enc)\n",
        words="one more norm followed the last encoder block",
        help="Each block ends with a norm; nothing follows. With E = 0 nothing is normalised.",
        symptom="Hardly visible with blocks, plain with E = 0.",
    ),
    fault(
        "encoder_first_block_only", "encode", _ENCODE_LOOP, "for block in enc_blocks[:1]:",
        words="only the first encoder block ran",
        help="Is there a return inside the loop?",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "encoder_first_block_for_all", "encode", "enc = encoder_block(enc, block, num_heads)", "enc = encoder_block(enc, enc_blocks[0], num_heads)",
        words="every encoder block used the first one's weights",
        help="Use the loop's own block.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "encoder_last_block_only", "encode", _ENCODE_LOOP, "for block in enc_blocks[-1:]:",
        words="only the last encoder block ran",
        help="Every block gets the result of the one before.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "encoder_blocks_reversed", "encode", _ENCODE_LOOP, "for block in enc_blocks.flip(0):",
        words="encoder blocks ran from last to first",
        help="Block 0 comes first.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "encoder_blocks_in_parallel", "encode", "enc = encoder_block(enc, block, num_heads) ",
        "enc = encoder_block(src_emb[src_ids.long()] + enc_pos_embed, block, num_heads) ",
        words="every encoder block started from the embeddings again",
        help="Pass enc on from block to block.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "encoder_needs_a_block", "encode", _ENCODE_RETURN,
        "    return torch.stack([encoder_block(enc, b, num_heads) for b in enc_blocks])[-1] * 0.0 + enc\n",
        words="at least one encoder block were needed",
        help="With E = 0 a list of results is empty, and torch.stack refuses it. Start from the embeddings.",
        symptom="RuntimeError: stack expects a non-empty TensorList.",
    ),
    fault(
        "encode_in_place", "encode", _EMBED, "enc = enc_pos_embed.copy_(enc_pos_embed + 0.5) - 0.5 + src_emb[src_ids.long()] ",
        words="enc_pos_embed itself were overwritten",
        help="+= writes into the tensor on its left. Write a new one.",
        symptom="A second call gives another result.",
    ),
    fault(
        "encode_single_precision", "encode", _ENCODE_RETURN, "    return enc.float()\n",
        words="the encoder's output were always float32",
        help="Keep the dtype of the parameters.",
        symptom="In float64 the decoder then refuses two dtypes.",
    ),
)  # fmt: skip

_FORWARD = (
    fault(
        "logits_softmax", "encoder_decoder_forward", _HEAD, "return (dec @ w_head).softmax(dim=-1) ",
        words="the scores had gone through a softmax",
        help="Return raw scores; the loss makes probabilities of them.",
        symptom="Each row sums to 1.",
    ),
    fault(
        "logits_log_softmax", "encoder_decoder_forward", _HEAD, "return (dec @ w_head).log_softmax(dim=-1) ",
        words="the scores had gone through a log-softmax",
        help="Return raw scores; the loss makes log-probabilities of them.",
        symptom="All entries are negative.",
    ),
    fault(
        "logits_argmax", "encoder_decoder_forward", _HEAD, "return (dec @ w_head).argmax(dim=-1) ",
        words="the best word were returned instead of all scores",
        help="Return a score for every word of the vocabulary.",
        symptom="The last axis is missing.",
    ),
    fault(
        "logits_last_row", "encoder_decoder_forward", _HEAD, "return (dec @ w_head)[:, -1] ",
        words="only the last position's scores were returned",
        help="Return scores for all T positions.",
        symptom="The axis T is missing.",
    ),
    fault(
        "head_missing", "encoder_decoder_forward", _HEAD, "return dec ",
        words="the decoder's output were returned without the head",
        help="dec @ w_head makes scores of it.",
        symptom="The last axis is d instead of V_tgt.",
    ),
    fault(
        "head_tied", "encoder_decoder_forward", _HEAD, "return dec @ tgt_emb.T ",
        words="the head were the target embedding, transposed",
        help="Weights are not tied here: use w_head.",
        symptom="w_head has no effect.",
    ),
    fault(
        "norm_before_the_head", "encoder_decoder_forward", _HEAD,
        "return ((dec - dec.mean(-1, keepdim=True)) / (dec.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()) @ w_head ",
        words="one more norm stood before the head",
        help="Each block ends with a norm; nothing follows. With L = 0 nothing is normalised.",
        symptom="Hardly visible with blocks, plain with L = 0.",
    ),
    fault(
        "norm_on_the_target_embedding", "encoder_decoder_forward", _LOOP,
        "dec = (dec - dec.mean(-1, keepdim=True)) / (dec.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()\n    " + _LOOP,
        words="target embeddings were normalised before the first decoder block",
        help="There is no norm outside the blocks.",
        symptom="Values differ everywhere, plainly with L = 0.",
    ),
    fault(
        "target_positions_missing", "encoder_decoder_forward", _TARGET, "dec = tgt_emb[tgt_ids.long()] ",
        words="target positions were not added",
        help="dec = tgt_emb[tgt_ids] + dec_pos_embed, and assigned.",
        symptom="dec_pos_embed has no effect.",
    ),
    fault(
        "target_positions_along_the_batch", "encoder_decoder_forward", _TARGET,
        "dec = tgt_emb[tgt_ids.long()] + dec_pos_embed[torch.arange(len(tgt_ids)).clamp(max=len(dec_pos_embed) - 1)][:, None] ",
        words="each target sentence got one position's row for all its words",
        help="Positions run along dim 1: (N, T, d) + (T, d).",
        symptom="Only the first row of the first example is right.",
    ),
    fault(
        "target_positions_twice", "encoder_decoder_forward", _TARGET, "dec = tgt_emb[tgt_ids.long()] + 2 * dec_pos_embed ",
        words="target positions were added twice",
        help="Add dec_pos_embed once.",
        symptom="Values differ even with L = 0.",
    ),
    fault(
        "target_embedding_scaled", "encoder_decoder_forward", _TARGET,
        "dec = tgt_emb[tgt_ids.long()] * tgt_emb.shape[1] ** 0.5 + dec_pos_embed ",
        words="target embeddings were multiplied by sqrt(d)",
        help="The paper does so; this model does not.",
        symptom="Values differ even with L = 0.",
    ),
    fault(
        "target_zero_is_padding", "encoder_decoder_forward", _TARGET,
        "dec = tgt_emb[tgt_ids.long()] * (tgt_ids != 0)[..., None] + dec_pos_embed ",
        words="target id 0 were padding with an embedding of zeros",
        help="Id 0 is an ordinary word here.",
        symptom="Right for sentences without id 0.",
    ),
    fault(
        "target_shifted_inside", "encoder_decoder_forward", _TARGET,
        "dec = tgt_emb[torch.cat([torch.zeros_like(tgt_ids[:, :1]), tgt_ids[:, :-1]], dim=1).long()] + dec_pos_embed ",
        words="the target were shifted inside the function",
        help="Use tgt_ids as supplied: the caller has shifted them.",
        symptom="Row t does not feel its own id.",
    ),
    fault(
        "target_ids_not_cast", "encoder_decoder_forward", "tgt_ids.long()", "tgt_ids",
        words="float ids were used as indices",
        help="Cast with .long() before the look-up.",
        symptom="IndexError: tensors used as indices must be long, int, byte or bool.",
    ),
    fault(
        "source_table_for_the_target", "encoder_decoder_forward", "tgt_emb[tgt_ids.long()]",
        "src_emb[tgt_ids.long().clamp(max=len(src_emb) - 1)]",
        words="target words were looked up in the source's table",
        help="Two vocabularies, two tables.",
        symptom="An IndexError where the target vocabulary is the larger one; else wrong values.",
    ),
    fault(
        "target_table_for_the_source", "encoder_decoder_forward", "encode(src_ids, src_emb,",
        "encode(src_ids.clamp(max=len(tgt_emb) - 1), tgt_emb,",
        words="source words were looked up in the target's table",
        help="Two vocabularies, two tables.",
        symptom="An IndexError where the source vocabulary is the larger one; else wrong values.",
    ),
    fault(
        "source_not_encoded", "encoder_decoder_forward", _ENC, "enc = src_emb[src_ids.long()] + enc_pos_embed ",
        words="the decoder read the source's embeddings and no encoder block ran",
        help="encode first, decode then.",
        symptom="enc_blocks has no effect.",
    ),
    fault(
        "decoder_reads_itself", "encoder_decoder_forward", _STEP, "dec = decoder_block(dec, dec, block, num_heads)",
        words="cross-attention took keys and values from the decoder",
        help="Change the source and nothing moves: keys and values come from enc.",
        symptom="The source has no effect.",
    ),
    fault(
        "decoder_reads_the_target", "encoder_decoder_forward", _ENC, "enc = tgt_emb[tgt_ids.long()] + dec_pos_embed ",
        words="the decoder read the target's embeddings in place of the encoded source",
        help="The context of cross-attention is the encoder's output.",
        symptom="The source has no effect, and later target words leak into earlier rows.",
    ),
    fault(
        "decoder_first_block_only", "encoder_decoder_forward", _LOOP, "for block in dec_blocks[:1]:",
        words="only the first decoder block ran",
        help="Is there a return inside the loop?",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "decoder_first_block_for_all", "encoder_decoder_forward", _STEP, "dec = decoder_block(dec, enc, dec_blocks[0], num_heads)",
        words="every decoder block used the first one's weights",
        help="Use the loop's own block.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "decoder_blocks_reversed", "encoder_decoder_forward", _LOOP, "for block in dec_blocks.flip(0):",
        words="decoder blocks ran from last to first",
        help="Block 0 comes first.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "decoder_last_block_only", "encoder_decoder_forward", _LOOP, "for block in dec_blocks[-1:]:",
        words="only the last decoder block ran",
        help="Every block gets the result of the one before.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "decoder_changes_the_context", "encoder_decoder_forward", _STEP,
        _STEP + "\n        enc = enc + dec.mean(dim=1, keepdim=True)",
        words="the context changed from one decoder block to the next",
        help="enc is fixed once it is encoded: every block reads the same.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "decoder_one_head", "encoder_decoder_forward", _STEP, "dec = decoder_block(dec, enc, block, 1)",
        words="the decoder had one head of the full width, whatever num_heads says",
        help="Hand num_heads on.",
        symptom="Right with one head, wrong with more.",
    ),
    fault(
        "decoder_reads_the_first_source", "encoder_decoder_forward", _STEP, "dec = decoder_block(dec, enc[:1].expand_as(enc), block, num_heads)",
        words="every example read the first example's source",
        help="Example n of the target reads example n of the source.",
        symptom="The first example is right, the others are not.",
    ),
    fault(
        "decoder_reads_the_last_source_word", "encoder_decoder_forward", _STEP, "dec = decoder_block(dec, enc[:, -1:], block, num_heads)",
        words="the decoder read the last source position only, as in models before attention",
        help="Cross-attention reads all of enc.",
        symptom="Only the last source word has an effect.",
    ),
    fault(
        "decoder_reads_a_mean", "encoder_decoder_forward", _STEP,
        "dec = decoder_block(dec, enc.mean(dim=1, keepdim=True), block, num_heads)",
        words="the decoder read the mean of the source positions",
        help="Cross-attention chooses among all of enc.",
        symptom="w_q and w_k of cross-attention have no effect.",
    ),
    fault(
        "decoder_needs_a_block", "encoder_decoder_forward", _HEAD, "return torch.stack([dec for _ in dec_blocks])[-1] @ w_head ",
        words="at least one decoder block were needed",
        help="With L = 0 a list of results is empty, and torch.stack refuses it. Start from the embeddings.",
        symptom="RuntimeError: stack expects a non-empty TensorList.",
    ),
    fault(
        "target_as_long_as_the_source", "encoder_decoder_forward", _TARGET,
        "dec = tgt_emb[tgt_ids.long()] + dec_pos_embed[: src_ids.shape[1]] ",
        words="the target's length were taken from the source",
        help="The target's length is tgt_ids.shape[1].",
        symptom="An error about sizes as soon as T > S.",
    ),
    fault(
        "logits_position_first", "encoder_decoder_forward", _HEAD, "return (dec @ w_head).transpose(0, 1) ",
        words="positions came before examples in the result",
        help="(N, T, V_tgt): the batch comes first.",
        symptom="The first two axes changed places.",
    ),
    fault(
        "forward_spare_slots", "encoder_decoder_forward", _STEP,
        "dec = decoder_block(dec, enc, torch.cat([block[:8], block[8:10] + block[10:12], block[10:]]), num_heads)",
        words="slots 10 and 11 took part",
        help="Slots 10 and 11 are unused, whatever they hold.",
        symptom="Right as long as they hold zeros.",
    ),
    fault(
        "forward_in_place", "encoder_decoder_forward", _LOOP, "dec_blocks[:, 10:] = 0.0\n    " + _LOOP,
        words="dec_blocks itself were written to",
        help="Leave inputs unchanged, unused slots too.",
        symptom="The caller's weights change.",
    ),
    fault(
        "forward_single_precision", "encoder_decoder_forward", _HEAD, "return (dec @ w_head).float() ",
        words="logits were always float32",
        help="Keep the dtype of the parameters.",
        symptom="float64 and bfloat16 models come back as float32.",
    ),
    fault(
        "forward_mixed_precision", "encoder_decoder_forward", _TARGET, "dec = tgt_emb[tgt_ids.long()].float() + dec_pos_embed.float() ",
        words="target embeddings were made float32, which other dtypes refuse to meet",
        help="Leave out .float(): the parameters' dtype is the right one.",
        symptom="RuntimeError: expected m1 and m2 to have the same dtype.",
    ),
    fault(
        "forward_dropout", "encoder_decoder_forward", _TARGET,
        "dec = torch.nn.functional.dropout(tgt_emb[tgt_ids.long()] + dec_pos_embed, 0.5) ",
        words="dropout were on",
        help="There is no dropout here: two calls give the same numbers.",
        symptom="Two identical calls give different results.",
    ),
)  # fmt: skip

_LOSS = (
    fault(
        "loss_sign", "sequence_loss", _MEAN, "return log_p.gather(-1, targets[:, None]).mean()",
        words="the minus sign were missing",
        help="Log-probabilities are negative; a loss is their negative mean.",
        symptom="The loss is negative, and training makes the model worse.",
    ),
    fault(
        "loss_sum", "sequence_loss", _MEAN, "return -log_p.gather(-1, targets[:, None]).sum()",
        words="surprises were summed and not averaged",
        help="Divide by the number of positions that count.",
        symptom="The loss grows with the batch.",
    ),
    fault(
        "loss_sum_over_positions", "sequence_loss", _MEAN,
        "return -log_p.gather(-1, targets[:, None]).sum() / counted.shape[0]",
        words="surprises were summed over positions and averaged over examples only",
        help="Divide by the number of positions that count.",
        symptom="The loss grows with the length.",
    ),
    fault(
        "loss_divides_by_all", "sequence_loss", _MEAN, "return -log_p.gather(-1, targets[:, None]).sum() / counted.numel()",
        words="padding were left out of the sum but still divided by",
        help="Divide by the number of positions that count.",
        symptom="More padding makes the loss smaller.",
    ),
    fault(
        "loss_mean_of_means", "sequence_loss", _MEAN,
        "each = -log_p.gather(-1, targets[:, None])[:, 0]\n    where = counted.nonzero()[:, 0]\n"
        "    return torch.stack([each[where == n].mean() for n in where.unique()]).mean()",
        words="each sentence were averaged by itself and the means averaged",
        help="Average over all counted positions at once: longer sentences weigh more.",
        symptom="Right where all sentences are equally long.",
    ),
    fault(
        "loss_counts_padding", "sequence_loss", _COUNTED, "counted = torch.ones_like(targets, dtype=torch.bool)",
        words="padding counted like any word",
        help="Leave out positions whose target is pad_id.",
        symptom="pad_id has no effect.",
    ),
    fault(
        "loss_counts_only_padding", "sequence_loss", "targets != pad_id", "targets == pad_id",
        words="only padding counted",
        help="Keep where the target is not pad_id.",
        symptom="The model learns to say nothing.",
    ),
    fault(
        "loss_pad_zero_is_none", "sequence_loss", "pad_id is None", "not pad_id",
        words="pad_id = 0 were taken for no pad_id at all",
        help="Ask 'pad_id is None': 0 counts as false.",
        symptom="Right for every pad_id but 0.",
    ),
    fault(
        "loss_zero_is_padding", "sequence_loss", _COUNTED, "counted = targets != (0 if pad_id is None else pad_id)",
        words="id 0 were padding even where no pad_id is given",
        help="Without pad_id every position counts.",
        symptom="Right for targets without id 0.",
    ),
    fault(
        "loss_base_two", "sequence_loss", _MEAN, "return -log_p.gather(-1, targets[:, None]).mean() / 0.6931471805599453",
        words="the logarithm were to base 2",
        help="Natural logarithm: torch.log.",
        symptom="The loss is 1.44 times too large.",
    ),
    fault(
        "loss_no_logarithm", "sequence_loss", _MEAN, "return 1 - log_p.exp().gather(-1, targets[:, None]).mean()",
        words="one minus the probability were averaged, without a logarithm",
        help="Surprise is -log p.",
        symptom="The loss never exceeds 1.",
    ),
    fault(
        "loss_no_softmax", "sequence_loss", _LOG_P, "log_p = logits",
        words="raw scores were taken for log-probabilities",
        help="Subtract logsumexp over the vocabulary first.",
        symptom="The loss can be negative.",
    ),
    fault(
        "loss_softmax_twice", "sequence_loss", _LOG_P, "log_p = logits.softmax(-1).log_softmax(-1)",
        words="softmax were applied twice",
        help="logits are raw scores; one log-softmax makes log-probabilities of them.",
        symptom="The loss hardly falls below log V - 1.",
    ),
    fault(
        "loss_wrong_axis", "sequence_loss", _LOG_P, "log_p = logits - logits.logsumexp(dim=0, keepdim=True)",
        words="softmax ran over positions instead of the vocabulary",
        help="dim=-1: the vocabulary is the last axis.",
        symptom="The loss depends on how many positions there are.",
    ),
    fault(
        "loss_unstable", "sequence_loss", _LOG_P, "log_p = (logits.exp() / logits.exp().sum(dim=-1, keepdim=True)).log()",
        words="exp ran without the maximum being subtracted",
        help="logits - logsumexp(logits) stays finite; log(softmax) does not.",
        symptom="NaN or infinity once a score is in the thousands.",
    ),
    fault(
        "loss_log_of_softmax", "sequence_loss", _LOG_P, "log_p = logits.softmax(dim=-1).log()",
        words="the logarithm were taken of a softmax that had rounded to 0",
        help="Use logits - logsumexp(logits): it never takes log 0.",
        symptom="The loss is infinite for a very unlikely word.",
    ),
    fault(
        "loss_clamped", "sequence_loss", _LOG_P, "log_p = (logits.softmax(dim=-1) + 1e-9).log()",
        words="1e-9 had been added to probabilities before the logarithm",
        help="logits - logsumexp(logits) needs no such number.",
        symptom="No surprise exceeds 20.7.",
    ),
    fault(
        "loss_shifts_again", "sequence_loss", "targets = targets.long()", "targets = targets.long().roll(-1, dims=1)",
        words="targets were shifted once more",
        help="The caller has aligned logits and targets: position t predicts target t.",
        symptom="The loss of a good model is high.",
    ),
    fault(
        "loss_has_an_axis", "sequence_loss", _MEAN, "return -log_p.gather(-1, targets[:, None]).mean().reshape(1)",
        words="the loss had one axis of length 1",
        help="A mean over everything has no axes.",
        symptom="shape (1,) instead of ().",
    ),
    fault(
        "loss_per_position", "sequence_loss", _MEAN, "return -log_p.gather(-1, targets[:, None])",
        words="the surprise of every position were returned",
        help="Average them.",
        symptom="Many numbers instead of one.",
    ),
    fault(
        "loss_targets_not_cast", "sequence_loss", "targets = targets.long()", "targets = targets",
        words="float targets were used as indices",
        help="Cast targets with .long().",
        symptom="RuntimeError: gather expects an int64 index.",
    ),
    fault(
        "loss_in_place", "sequence_loss", _PICK, "targets.copy_(targets)\n    logits -= logits.amax(-1, keepdim=True)\n    " + _PICK,
        words="the maximum were subtracted from logits in place",
        help="-= writes into the caller's tensor. Write logits = logits - ...",
        symptom="The caller's logits change.",
    ),
    fault(
        "loss_single_precision", "sequence_loss", _MEAN, "return -log_p.gather(-1, targets[:, None]).mean().float()",
        words="the loss were always float32",
        help="Keep the dtype of the logits.",
        symptom="In float64 the loss comes back as float32.",
    ),
    fault(
        "loss_perplexity", "sequence_loss", _MEAN, "return (-log_p.gather(-1, targets[:, None]).mean()).exp()",
        words="the perplexity, e to the loss, were returned",
        help="Return the mean of -log p itself.",
        symptom="A uniform guess gives V instead of log V.",
    ),
)  # fmt: skip

_COUNT = (
    fault(
        "count_three_matrices", "parameter_count", "attention = 4 * d_model**2", "attention = 3 * d_model**2",
        words="the output projection were not counted",
        help="Attention has four matrices: w_q, w_k, w_v and w_o.",
        symptom="One d x d matrix too few for each attention.",
    ),
    fault(
        "count_no_cross_attention", "parameter_count", "decoder_blocks * (2 * attention +", "decoder_blocks * (attention +",
        words="a decoder block had one attention only",
        help="Self-attention and cross-attention: 8d^2.",
        symptom="Encoder and decoder blocks cost the same.",
    ),
    fault(
        "count_half_again", "parameter_count", "decoder_blocks * (2 * attention +", "decoder_blocks * (3 * attention // 2 +",
        words="cross-attention added half of self-attention's matrices, as the chapter says",
        help="It adds as many again: 8d^2 against 4d^2. The chapter slips here.",
        symptom="A decoder block has 6d^2 weights in attention.",
    ),
    fault(
        "count_one_feed_forward_matrix", "parameter_count", "feed_forward = 2 * d_model * d_ff", "feed_forward = d_model * d_ff",
        words="one feed-forward matrix were counted",
        help="There are two: up and down.",
        symptom="d * d_ff too few for each block.",
    ),
    fault(
        "count_square_feed_forward", "parameter_count", "feed_forward = 2 * d_model * d_ff", "feed_forward = 2 * d_ff**2",
        words="feed-forward matrices were d_ff x d_ff",
        help="They lead from d to d_ff and back: d * d_ff each.",
        symptom="Right only where d_ff is d.",
    ),
    fault(
        "count_fixed_width", "parameter_count", "feed_forward = 2 * d_model * d_ff", "feed_forward = 8 * d_model**2",
        words="d_ff were always 4d",
        help="Use the d_ff that is given.",
        symptom="d_ff has no effect.",
    ),
    fault(
        "count_no_feed_forward_in_the_decoder", "parameter_count", "(2 * attention + feed_forward)", "(2 * attention)",
        words="decoder blocks had no feed-forward layer",
        help="Both kinds of block end with one.",
        symptom="d_ff has no effect where there are decoder blocks only.",
    ),
    fault(
        "count_two_feed_forwards_in_the_decoder", "parameter_count", "(2 * attention + feed_forward)", "2 * (attention + feed_forward)",
        words="decoder blocks had two feed-forward layers",
        help="Two attentions, one feed-forward layer.",
        symptom="A decoder block costs exactly two encoder blocks.",
    ),
    fault(
        "count_blocks_swapped", "parameter_count", "encoder = encoder_blocks * (attention + feed_forward)\n    decoder = decoder_blocks *",
        "encoder = decoder_blocks * (attention + feed_forward)\n    decoder = encoder_blocks *",
        words="the numbers of encoder and decoder blocks changed places",
        help="encoder_blocks comes before decoder_blocks.",
        symptom="Right only where both are equal.",
    ),
    fault(
        "count_biases", "parameter_count", "feed_forward = 2 * d_model * d_ff", "feed_forward = 2 * d_model * d_ff + d_model + d_ff",
        words="biases of the feed-forward layer were counted",
        help="There are no biases.",
        symptom="d + d_ff too many for each block.",
    ),
    fault(
        "count_norms", "parameter_count", "attention = 4 * d_model**2", "attention = 4 * d_model**2 + 2 * d_model",
        words="scale and bias of a norm were counted with each attention",
        help="The norms have no parameters here.",
        symptom="2d too many for each attention.",
    ),
    fault(
        "count_spare_slots", "parameter_count", "decoder = decoder_blocks * (2 * attention + feed_forward)",
        "decoder = decoder_blocks * (2 * attention + feed_forward + 2 * d_model**2)",
        words="slots 10 and 11 were counted",
        help="They are unused: no weights of the model.",
        symptom="2d^2 too many for each decoder block.",
    ),
    fault(
        "count_as_float", "parameter_count", "return encoder + decoder", "return (encoder + decoder) / 1",
        words="the count were a float",
        help="/ gives a float; a count is an int.",
        symptom="A decimal point in the result.",
    ),
    fault(
        "count_in_millions", "parameter_count", "return encoder + decoder", "return (encoder + decoder) // 1000 * 1000",
        words="the count were rounded to thousands",
        help="Count exactly.",
        symptom="The last digits are zeros.",
    ),
)  # fmt: skip

FAULTS: tuple[Fault, ...] = (*_POSITIONS, *_SHIFTS, *_ENCODER, *_ENCODE, *_FORWARD, *_LOSS, *_COUNT)
