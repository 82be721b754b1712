"""Named faults of `merge_heads`."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_BACK = "x = x.transpose(1, 2) "
_JOIN = "return x.reshape(N, T, h * d_k) "

FAULTS: tuple[Fault, ...] = (
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
