"""Named faults of `attention`."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_SCALE = " / math.sqrt(d_k)"
_SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k) "
_WEIGHTS = "weights = masked_softmax(scores, allowed) "
_MIX = "return weights @ v, weights "

FAULTS: tuple[Fault, ...] = (
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
