"""Named faults of `feed_forward`."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_HIDDEN = "hidden = gelu(x @ w_mlp1) "
_PRODUCT = "return hidden @ w_mlp2 "

FAULTS: tuple[Fault, ...] = (
    fault(
        "ff_gelu_missing", "feed_forward", _HIDDEN, "hidden = x @ w_mlp1 ",
        words="there was no GELU between the two products",
        help="gelu(x @ w_mlp1) @ w_mlp2: without it two products are one.",
        symptom="The output doubles when x doubles.",
    ),
    Fault(
        "ff_gelu_last",
        (
            Edit("feed_forward", _HIDDEN, "hidden = x @ w_mlp1 "),
            Edit("feed_forward", _PRODUCT, "return gelu(hidden @ w_mlp2) "),
        ),
        words="GELU came after the second product instead of between the two",
        help="gelu(x @ w_mlp1) @ w_mlp2.",
        symptom="The output has hardly any negative entries.",
    ),
    fault(
        "ff_gelu_twice", "feed_forward", _PRODUCT, "return gelu(hidden @ w_mlp2) ",
        words="GELU came after the second product too",
        help="One GELU, between the products.",
        symptom="The output has hardly any negative entries.",
    ),
    fault(
        "ff_gelu_first", "feed_forward", _HIDDEN, "hidden = gelu(x) @ w_mlp1 ",
        words="GELU came before the first product",
        help="gelu(x @ w_mlp1) @ w_mlp2.",
        symptom="It agrees nowhere, though every piece is there.",
    ),
    fault(
        "ff_relu", "feed_forward", _HIDDEN, "hidden = torch.relu(x @ w_mlp1) ",
        words="feed-forward used ReLU",
        help="Use gelu.",
        symptom="Close, but off in the second digit.",
    ),
    Fault(
        "ff_swapped",
        (
            Edit("feed_forward", "x @ w_mlp1", "x @ w_mlp2"),
            Edit("feed_forward", "hidden @ w_mlp2 ", "hidden @ w_mlp1 "),
        ),
        words="w_mlp2 came first and w_mlp1 second",
        help="w_mlp1 first.",
        symptom="An error where d_ff differs from d; silent where they are equal.",
    ),
    Fault(
        "ff_transposed",
        (
            Edit("feed_forward", "x @ w_mlp1", "x @ w_mlp1.T"),
            Edit("feed_forward", "hidden @ w_mlp2 ", "hidden @ w_mlp2.T "),
        ),
        words="both feed-forward matrices were transposed",
        help="Weights are (in, out): x @ w.",
        symptom="An error where d_ff differs from d; silent where they are equal.",
    ),
    fault(
        "ff_one_matrix", "feed_forward", "hidden @ w_mlp2 ", "hidden @ w_mlp1 ",
        words="w_mlp1 was used for both products",
        help="The second product is with w_mlp2.",
        symptom="w_mlp2 has no effect.",
    ),
    fault(
        "ff_adds_residual", "feed_forward", _PRODUCT, "return x + hidden @ w_mlp2 ",
        words="feed-forward added its input",
        help="The residual is the block's business.",
        symptom="The output is right plus x.",
    ),
    fault(
        "ff_in_place", "feed_forward", _HIDDEN,
        "hidden = x @ w_mlp1\n"
        "    hidden = gelu(x.copy_(hidden) if hidden.shape == x.shape else hidden) ",
        words="the first product was written over x",
        help="x[...] = and names that end in _ write into the tensor you were given.",
        symptom="The output is right, but afterwards x holds the first product.",
    ),
    fault(
        "ff_single_precision", "feed_forward", _PRODUCT, "return hidden.float() @ w_mlp2.float() ",
        words="feed-forward always gave float32",
        help="Leave the dtype as it is.",
        symptom="float64 in, float32 out.",
    ),
)  # fmt: skip
