"""Named faults of `multi_head_attention`."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_Q = "q = split_heads(x_q @ w_q,"
_K = "k = split_heads(x_kv @ w_k,"
_V = "v = split_heads(x_kv @ w_v,"
_MASK = "allowed = allowed.expand(N, T, S)[:, None] "
_ATTEND = "mixed, _ = attention(q, k, v, allowed) "
_OUT = "return merge_heads(mixed) @ w_o "


def _corners(w: str) -> str:
    """Text for the blocks of a matrix that stay inside one head, zeros elsewhere."""
    width = f"{w}.shape[0] // num_heads"
    return f"({w} * torch.block_diag(*[torch.ones_like({w}[: {width}, : {width}])] * num_heads))"



FAULTS: tuple[Fault, ...] = (
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
