"""Named faults of lesson cross_attention."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_CUT = "x = x.reshape(N, T, num_heads, d // num_heads) "
_CUT_RETURN = "return x.transpose(1, 2) "
_BACK = "x = x.transpose(1, 2) "
_JOIN = "return x.reshape(N, T, h * d_k) "
_SCALE = " / math.sqrt(d_k)"
_SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k) "
_WEIGHTS = "weights = masked_softmax(scores, allowed) "
_MIX = "return weights @ v, weights "
_Q, _K, _V = "q = split_heads(x_q @ w_q,", "k = split_heads(x_kv @ w_k,", "v = split_heads(x_kv @ w_v,"
_MASK = "allowed = allowed.expand(N, T, S)[:, None] "
_ATTEND = "mixed, _ = attention(q, k, v, allowed) "
_OUT = "return merge_heads(mixed) @ w_o "
_SLOTS = "w_q, w_k, w_v, w_o = block[4:8] "
_CROSS = "return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads, enc_allowed)"


def _corners(w: str) -> str:
    """Text for the blocks of a matrix that stay inside one head, zeros elsewhere."""
    width = f"{w}.shape[0] // num_heads"
    return f"({w} * torch.block_diag(*[torch.ones_like({w}[: {width}, : {width}])] * num_heads))"


_SPLIT = (
    fault(
        "split_interleaved", "split_heads", _CUT,
        "x = x.reshape(N, T, d // num_heads, num_heads).transpose(2, 3) ",
        words="head i held every h-th feature instead of d_k neighbouring ones",
        help="Head 0 is features 0 ... d_k - 1: reshape to (N, T, h, d_k), heads before features.",
        symptom="Right for one head only.",
    ),
    fault(
        "split_by_reshape_alone", "split_heads", _CUT_RETURN,
        "return x.reshape(N, num_heads, T, d // num_heads) ",
        words="the tensor was reshaped to (N, h, T, d_k) in one go",
        help="That cuts memory anew and mixes tokens. Split the features first, then transpose.",
        symptom="Head 0 holds the first tokens whole, and none of the others.",
    ),
    fault(
        "split_not_transposed", "split_heads", _CUT_RETURN, "return x ",
        words="the axes of tokens and heads were not swapped",
        help="Heads come before tokens, so that each head attends over tokens: transpose(1, 2).",
        symptom="Its shape is (N, T, h, d_k): attention then runs over the heads.",
    ),
    fault(
        "split_features_before_tokens", "split_heads", _CUT_RETURN, "return x.permute(0, 2, 3, 1) ",
        words="tokens stood last, after the features",
        help="The order is (N, h, T, d_k).",
        symptom="Its shape is (N, h, d_k, T).",
    ),
    fault(
        "split_count_for_width", "split_heads", _CUT, "x = x.reshape(N, T, d // num_heads, num_heads) ",
        words="num_heads was taken for the width of a head",
        help="h heads of width d/h, not the other way round.",
        symptom="h and d_k have changed places in the shape.",
    ),
    fault(
        "split_heads_reversed", "split_heads", _CUT_RETURN, "return x.transpose(1, 2).flip(1) ",
        words="the heads came in the opposite order",
        help="Head 0 is the first d_k features.",
        symptom="Head 0 holds the last features.",
    ),
    fault(
        "split_into_batch", "split_heads", _CUT_RETURN,
        "return x.transpose(1, 2).reshape(N * num_heads, T, d // num_heads) ",
        words="the heads were folded into the batch axis",
        help="Keep four axes, (N, h, T, d_k).",
        symptom="Its shape is (N*h, T, d_k).",
    ),
    fault(
        "split_squeezed", "split_heads", _CUT_RETURN, "return x.transpose(1, 2).squeeze(1) ",
        words="the axis of the heads was dropped where there is only one",
        help="One head is a case like any other: no squeeze.",
        symptom="Right except for num_heads = 1.",
    ),
    fault(
        "split_single_precision", "split_heads", _CUT_RETURN, "return x.transpose(1, 2).float() ",
        words="the heads were always float32",
        help="Reshaping needs no dtype; leave it as it is.",
        symptom="float64 in, float32 out.",
    ),
)  # fmt: skip

_MERGE = (
    fault(
        "merge_not_transposed", "merge_heads", _BACK, "x = x ",
        words="heads and tokens were not swapped back before they were joined",
        help="transpose(1, 2) first: (N, T, h, d_k), then reshape.",
        symptom="Token 0 holds head 0 of several tokens. A model with it still learns a little.",
    ),
    fault(
        "merge_by_view", "merge_heads", _JOIN, "return x.view(N, T, h * d_k) ",
        words="view was asked to join axes that do not lie side by side in memory",
        help="After transpose use reshape, or contiguous().view(...).",
        symptom="It raises: view size is not compatible with input tensor's size and stride.",
    ),
    fault(
        "merge_interleaved", "merge_heads", _JOIN, "return x.transpose(2, 3).reshape(N, T, h * d_k) ",
        words="the features of the heads were interleaved",
        help="All features of head 0 come first, then all of head 1.",
        symptom="Right for one head only.",
    ),
    fault(
        "merge_heads_reversed", "merge_heads", _JOIN, "return x.flip(2).reshape(N, T, h * d_k) ",
        words="the heads were joined in the opposite order",
        help="Head 0 comes first.",
        symptom="The last head's features come first.",
    ),
    fault(
        "merge_heads_averaged", "merge_heads", _JOIN,
        "return x.mean(dim=2, keepdim=True).expand(N, T, h, d_k).reshape(N, T, h * d_k) ",
        words="every head was replaced by the mean of all heads",
        help="Heads are put side by side, not added or averaged.",
        symptom="The same d_k numbers stand in a token h times.",
    ),
    fault(
        "merge_heads_added", "merge_heads", _JOIN, "return x.sum(dim=2) ",
        words="the heads were added instead of joined",
        help="Side by side they are h*d_k wide: reshape, no sum.",
        symptom="Its last axis is d_k long.",
    ),
    fault(
        "merge_first_head", "merge_heads", _JOIN, "return x[:, :, :1].expand(N, T, h, d_k).reshape(N, T, h * d_k) ",
        words="head 0 stood in the place of every head",
        help="Each head keeps its own features.",
        symptom="Changing head 1 changes nothing.",
    ),
    fault(
        "merge_squeezed", "merge_heads", _JOIN, "return x.reshape(N, T, h * d_k).squeeze() ",
        words="axes of length 1 were dropped",
        help="One example or one token is a case like any other: no squeeze.",
        symptom="Right except for N = 1 or T = 1.",
    ),
    fault(
        "merge_single_precision", "merge_heads", _JOIN, "return x.reshape(N, T, h * d_k).float() ",
        words="the joined heads were always float32",
        help="Reshaping needs no dtype; leave it as it is.",
        symptom="float64 in, float32 out.",
    ),
)  # fmt: skip

_ATTENTION = (
    fault(
        "scale_missing", "attention", _SCALE, "",
        words="the scores were not divided at all",
        help="Divide q @ k.T by sqrt(d_k).",
        symptom="Weights are too close to 0 and 1.",
    ),
    fault(
        "scale_d_k", "attention", _SCALE, " / d_k",
        words="the scores were divided by d_k, or by its root twice",
        help="Divide by the square root of d_k, once.",
        symptom="Weights are too even.",
    ),
    fault(
        "scale_multiplied", "attention", _SCALE, " * math.sqrt(d_k)",
        words="the scores were multiplied by sqrt(d_k)",
        help="Scaling shrinks scores: divide.",
        symptom="Nearly all weight lies on one key.",
    ),
    fault(
        "scale_whole_root", "attention", _SCALE, " / int(math.sqrt(d_k))",
        words="the root of d_k was rounded down to a whole number",
        help="math.sqrt(d_k) as it is, without int.",
        symptom="Right where d_k is a square number.",
    ),
    fault(
        "scale_floor", "attention", _SCALE, " // math.sqrt(d_k)",
        words="the scores were rounded down by the integer division //",
        help="Divide with a single /.",
        symptom="Scores are whole numbers.",
    ),
    fault(
        "scale_keys", "attention", _SCALE, " / math.sqrt(k.shape[-2])",
        words="the scores were divided by the root of the number of keys",
        help="d_k is the last axis of q and k, the width of a head.",
        symptom="The weights change with the length of the source in a strange way.",
    ),
    fault(
        "scale_d_v", "attention", "d_k = q.shape[-1]", "d_k = v.shape[-1]",
        words="the scores were divided by the root of the width of the values",
        help="The dot product runs over the features of q and k: d_k = q.shape[-1].",
        symptom="Right where values are as wide as keys.",
    ),
    fault(
        "scale_fourth_root", "attention", _SCALE, " / d_k**0.25",
        words="only one of q and k was divided by the fourth root of d_k",
        help="Divide the scores by sqrt(d_k), or q and k both by its root.",
        symptom="Weights are a little too close to 0 and 1.",
    ),
    fault(
        "scores_transposed", "attention", _SCORES, "scores = k @ q.transpose(-2, -1) / math.sqrt(d_k) ",
        words="the scores were (key, query) instead of (query, key)",
        help="Row t belongs to query t: q @ k.transpose(-2, -1).",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    fault(
        "mix_transposed", "attention", _MIX, "return weights.transpose(-2, -1) @ v, weights ",
        words="the transposed weights mixed the values",
        help="Row t of the weights mixes the rows of v: weights @ v.",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    fault(
        "mix_keys", "attention", _MIX, "return weights @ k, weights ",
        words="the keys were mixed instead of the values",
        help="weights @ v.",
        symptom="The values have no effect.",
    ),
    fault(
        "mix_scores", "attention", _MIX, "return scores @ v, weights ",
        words="the values were mixed by the scores instead of the weights",
        help="Softmax first, then weights @ v.",
        symptom="The weights are right, the mixed values are far too large.",
    ),
    fault(
        "mix_before_weights", "attention", _MIX, "return weights, weights @ v ",
        words="weights and mixed values were returned in the opposite order",
        help="return mixed, weights.",
        symptom="The first of the two has one column for every key.",
    ),
    fault(
        "mix_without_weights", "attention", _MIX, "return weights @ v ",
        words="only the mixed values were returned",
        help="Return both: mixed, weights.",
        symptom="Unpacking the result fails, or takes the first example for the mixed values.",
    ),
    fault(
        "mix_with_scores", "attention", _MIX, "return weights @ v, scores ",
        words="the scores were returned instead of the weights",
        help="The second of the two is the softmax of the scores.",
        symptom="Rows do not sum to 1.",
    ),
    fault(
        "attention_mask_ignored", "attention", _WEIGHTS, "weights = masked_softmax(scores) ",
        words="attention did not pass the mask on",
        help="masked_softmax(scores, allowed).",
        symptom="The weights are the same with and without a mask.",
    ),
    fault(
        "attention_mask_inverted", "attention", _WEIGHTS,
        "weights = masked_softmax(scores, None if allowed is None else ~allowed) ",
        words="attention turned the mask round before passing it on",
        help="True says: may be read, here as in masked_softmax.",
        symptom="All weight lies on keys that may not be read.",
    ),
    fault(
        "attention_always_causal", "attention", _WEIGHTS,
        "weights = masked_softmax(scores, torch.ones_like(scores, dtype=torch.bool).tril()"
        " & (True if allowed is None else allowed)) ",
        words="every attention was causal, asked or not",
        help="Attention hides what `allowed` says and nothing else.",
        symptom="Row 0 reads key 0 only.",
    ),
    Fault(
        "attention_single_precision",
        (
            Edit("attention", "q @ k.transpose(-2, -1)", "q.float() @ k.float().transpose(-2, -1)"),
            Edit("attention", _MIX, "return weights @ v.float(), weights "),
        ),
        words="attention worked and answered in float32",
        help="Make no tensor of a fixed dtype.",
        symptom="float64 in, float32 out.",
    ),
    fault(
        "attention_in_place", "attention", _SCORES,
        "scores = q.div_(math.sqrt(d_k)) @ k.transpose(-2, -1) ",
        words="q was divided in place",
        help="q /= ... writes into the tensor you were given; q = q / ... does not.",
        symptom="The first call is right, a second one with the same q is not.",
    ),
)  # fmt: skip

_HEADS = (
    fault(
        "queries_from_kv", "multi_head_attention", _Q, "q = split_heads(x_kv @ w_q,",
        words="the queries were made from x_kv",
        help="The one who reads asks: queries from x_q.",
        symptom="The output is as long as the source.",
    ),
    Fault(
        "keys_and_values_from_q",
        (
            Edit("multi_head_attention", _K, "k = split_heads(x_q @ w_k,"),
            Edit("multi_head_attention", _V, "v = split_heads(x_q @ w_v,"),
        ),
        words="keys and values were made from x_q, so that x_kv was never read",
        help="Keys and values come from x_kv.",
        symptom="Change the source and nothing moves.",
    ),
    fault(
        "keys_from_q", "multi_head_attention", _K, "k = split_heads(x_q @ w_k,",
        words="the keys were made from x_q",
        help="Keys and values both come from x_kv.",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    fault(
        "values_from_q", "multi_head_attention", _V, "v = split_heads(x_q @ w_v,",
        words="the values were made from x_q",
        help="Keys and values both come from x_kv.",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    Fault(
        "w_k_and_w_v_swapped",
        (
            Edit("multi_head_attention", _K, "k = split_heads(x_kv @ w_v,"),
            Edit("multi_head_attention", _V, "v = split_heads(x_kv @ w_k,"),
        ),
        words="w_k made the values and w_v the keys",
        help="Keys are x_kv @ w_k, values x_kv @ w_v.",
        symptom="A model that is trained with it works; given weights do not.",
    ),
    fault(
        "w_q_for_keys", "multi_head_attention", _K, "k = split_heads(x_kv @ w_q,",
        words="w_q made the keys too",
        help="Keys have a matrix of their own, w_k.",
        symptom="w_k has no effect.",
    ),
    fault(
        "w_k_for_values", "multi_head_attention", _V, "v = split_heads(x_kv @ w_k,",
        words="w_k made the values too",
        help="Values have a matrix of their own, w_v.",
        symptom="w_v has no effect.",
    ),
    fault(
        "values_not_projected", "multi_head_attention", _V, "v = split_heads(x_kv,",
        words="the values were not projected",
        help="Values are x_kv @ w_v.",
        symptom="w_v has no effect.",
    ),
    fault(
        "output_projection_missing", "multi_head_attention", _OUT, "return merge_heads(mixed) ",
        words="the output projection was missing",
        help="The merged heads go through w_o: @ w_o.",
        symptom="w_o has no effect.",
    ),
    fault(
        "output_projection_twice", "multi_head_attention", _OUT, "return merge_heads(mixed) @ w_o @ w_o ",
        words="the output projection was applied twice",
        help="One w_o, after merging.",
        symptom="The output is right but for one more product with w_o.",
    ),
    Fault(
        "projections_transposed",
        (
            Edit("multi_head_attention", "x_q @ w_q,", "x_q @ w_q.T,"),
            Edit("multi_head_attention", "x_kv @ w_k,", "x_kv @ w_k.T,"),
            Edit("multi_head_attention", "x_kv @ w_v,", "x_kv @ w_v.T,"),
            Edit("multi_head_attention", _OUT, "return merge_heads(mixed) @ w_o.T "),
        ),
        words="all four weights were transposed, as nn.Linear stores them",
        help="Weights here are (in, out): x @ w, not x @ w.T.",
        symptom="Right for symmetric weights only.",
    ),
    Fault(
        "heads_ignored",
        (
            Edit("multi_head_attention", "x_q @ w_q, num_heads)", "x_q @ w_q, 1)"),
            Edit("multi_head_attention", "x_kv @ w_k, num_heads)", "x_kv @ w_k, 1)"),
            Edit("multi_head_attention", "x_kv @ w_v, num_heads)", "x_kv @ w_v, 1)"),
        ),
        words="there was one head, whatever num_heads says",
        help="Pass num_heads to split_heads.",
        symptom="Right for num_heads = 1 only.",
    ),
    Fault(
        "heads_cut_before_projecting",
        (
            Edit("multi_head_attention", "x_q @ w_q,", f"x_q @ {_corners('w_q')},"),
            Edit("multi_head_attention", "x_kv @ w_k,", f"x_kv @ {_corners('w_k')},"),
            Edit("multi_head_attention", "x_kv @ w_v,", f"x_kv @ {_corners('w_v')},"),
        ),
        words="the inputs were cut into heads first and each projected by its own corner of the matrices",
        help="Project with the whole (d, d) matrix, then split.",
        symptom="Most of each matrix has no effect.",
    ),
    fault(
        "scale_d_model", "multi_head_attention", _ATTEND,
        "mixed, _ = attention(q / num_heads**0.5, k, v, allowed) ",
        words="the scores were divided by sqrt(d) instead of sqrt(d_k)",
        help="Each dot product has d/h terms: d_k = d / num_heads.",
        symptom="Right for one head only.",
    ),
    fault(
        "heads_mask_ignored", "multi_head_attention", _ATTEND, "mixed, _ = attention(q, k, v) ",
        words="multi-head attention did not pass the mask on",
        help="attention(q, k, v, allowed).",
        symptom="The output is the same with and without a mask.",
    ),
    fault(
        "heads_mask_without_axis", "multi_head_attention", _MASK, "allowed = allowed.expand(N, T, S) ",
        words="the mask had no axis for the heads, so that its examples met the heads",
        help="Insert the axis: (N, 1, T, S).",
        symptom="An error where N differs from h; silent where they are equal.",
    ),
    fault(
        "heads_mask_of_first_example", "multi_head_attention", _MASK, "allowed = allowed.expand(N, T, S)[:1, None] ",
        words="the first example's mask was used for the whole batch",
        help="Keep the axis N of the mask.",
        symptom="Example 0 is right, example 1 is not.",
    ),
    fault(
        "heads_mask_of_first_head", "multi_head_attention", _MASK,
        "allowed = allowed.expand(N, T, S)[:, None]"
        " | (torch.arange(num_heads, device=x_q.device)[:, None, None] > 0) ",
        words="only head 0 was masked",
        help="The mask is the same for every head: an axis of length 1 broadcasts.",
        symptom="Right for one head only.",
    ),
    Fault(
        "attends_across_batch",
        (
            Edit(
                "multi_head_attention", "N, T, S = x_q.shape[0], x_q.shape[1], x_kv.shape[1]",
                "x_q, x_kv = x_q.transpose(0, 1), x_kv.transpose(0, 1)\n"
                "    N, T, S = x_q.shape[0], x_q.shape[1], x_kv.shape[1]",
            ),
            Edit("multi_head_attention", _OUT, "return (merge_heads(mixed) @ w_o).transpose(0, 1) "),
        ),
        words="attention ran over the examples instead of the positions",
        help="Axis 0 is the batch here; nn.MultiheadAttention needs batch_first=True.",
        symptom="Example 0 depends on example 1.",
    ),
    fault(
        "heads_add_residual", "multi_head_attention", _OUT, "return x_q + merge_heads(mixed) @ w_o ",
        words="the input was added to the output of the attention",
        help="The residual is the block's business, not the attention's.",
        symptom="The output is right plus x_q.",
    ),
    fault(
        "heads_single_precision", "multi_head_attention", _OUT, "return merge_heads(mixed).float() @ w_o.float() ",
        words="the output of multi-head attention was always float32",
        help="Make no tensor of a fixed dtype.",
        symptom="float64 in, float32 out.",
    ),
    fault(
        "heads_in_place", "multi_head_attention", _Q, "q = split_heads(x_q.copy_(x_q @ w_q),",
        words="the queries were written over x_q",
        help="x_q[...] = and names that end in _ write into the tensor you were given.",
        symptom="A second call with the same x_q gives something else.",
    ),
)  # fmt: skip

_CROSS_ATTENTION = (
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

FAULTS: tuple[Fault, ...] = (*_SPLIT, *_MERGE, *_ATTENTION, *_HEADS, *_CROSS_ATTENTION)
