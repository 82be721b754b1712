"""Named faults of `split_heads`."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_CUT = "x = x.reshape(N, T, num_heads, d // num_heads) "
_CUT_RETURN = "return x.transpose(1, 2) "

FAULTS: tuple[Fault, ...] = (
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
