"""Named faults of lesson decoder_block."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_MEAN = "mean = x.mean(dim=-1, keepdim=True) "
_CENTRED = "centred = x - mean "
_VARIANCE = "variance = (centred**2).mean(dim=-1, keepdim=True) "
_NORM = "return centred / torch.sqrt(variance + 1e-5)"
_INNER = "inner = math.sqrt(2.0 / math.pi) * (u + 0.044715 * u**3)"
_GELU = "return 0.5 * u * (1.0 + torch.tanh(inner))"
_HIDDEN = "hidden = gelu(x @ w_mlp1) "
_PRODUCT = "return hidden @ w_mlp2 "

_SELF_SLOTS = "w_q, w_k, w_v, w_o = block[0:4] "
_FF_SLOTS = "w_mlp1, w_mlp2 = block[8:10] "
_READ_SELF = "read_self = multi_head_attention(dec, dec, w_q, w_k, w_v, w_o, num_heads, causal)"
_ADD_SELF = "dec = layer_norm(dec + read_self) "
_READ_SOURCE = "read_source = cross_attention(dec, enc, block, num_heads)"
_ADD_SOURCE = "dec = layer_norm(dec + read_source) "
_LAST = "return layer_norm(dec + feed_forward(dec, w_mlp1, w_mlp2))"


def _over(id: str, dim: str, *, words: str, help: str, symptom: str) -> Fault:
    """layer_norm over other axes."""
    edits = (
        Edit("layer_norm", _MEAN, f"mean = x.mean(dim={dim}, keepdim=True) "),
        Edit("layer_norm", _VARIANCE, f"variance = (centred**2).mean(dim={dim}, keepdim=True) "),
    )
    return Fault(id, edits, words, help, symptom)


def _block(id: str, *changes: tuple[str, str], words: str, help: str, symptom: str) -> Fault:
    """decoder_block with several changes."""
    return Fault(id, tuple(Edit("decoder_block", *change) for change in changes), words, help, symptom)


_NORMS = (
    fault(
        "norm_unbiased", "layer_norm", _VARIANCE,
        "variance = (centred**2).sum(dim=-1, keepdim=True) / (x.shape[-1] - 1) ",
        words="the sum of squares was divided by d - 1, as var and std do unless told otherwise",
        help="Population variance: divide by d, unbiased=False.",
        symptom="Every entry is a little too small, by sqrt((d-1)/d).",
    ),
    fault(
        "norm_eps_outside_root", "layer_norm", _NORM, "return centred / (torch.sqrt(variance) + 1e-5)",
        words="eps was added to the standard deviation, outside the root",
        help="sqrt(variance + eps).",
        symptom="Right for ordinary tokens, far off for nearly constant ones.",
    ),
    fault(
        "norm_eps_1e6", "layer_norm", _NORM, "return centred / torch.sqrt(variance + 1e-6)",
        words="eps was 1e-6",
        help="eps is 1e-5 here.",
        symptom="Right for ordinary tokens, off for nearly constant ones.",
    ),
    fault(
        "norm_eps_1e8", "layer_norm", _NORM, "return centred / torch.sqrt(variance + 1e-8)",
        words="eps was 1e-8",
        help="eps is 1e-5 here.",
        symptom="Right for ordinary tokens, off for nearly constant ones.",
    ),
    fault(
        "norm_eps_missing", "layer_norm", _NORM, "return centred / torch.sqrt(variance)",
        words="there was no eps",
        help="A token whose features are all equal has variance 0: add 1e-5 under the root.",
        symptom="NaN for constant tokens.",
    ),
    fault(
        "norm_eps_as_floor", "layer_norm", _NORM, "return centred / torch.sqrt(variance.clamp(min=1e-5))",
        words="eps was the least variance allowed instead of being added to it",
        help="sqrt(variance + eps), not the larger of both.",
        symptom="Right for ordinary tokens, off by up to a third for nearly constant ones.",
    ),
    fault(
        "norm_not_centred", "layer_norm", _CENTRED, "centred = x ",
        words="the mean was not taken away, as in RMSNorm",
        help="Subtract the mean first; the variance is that of what is left.",
        symptom="The mean of a token is not 0.",
    ),
    fault(
        "norm_centred_only_below", "layer_norm", _NORM, "return x / torch.sqrt(variance + 1e-5)",
        words="the mean was taken away for the variance but not from the token",
        help="Divide x - mean, not x.",
        symptom="The variance of a token is 1 but its mean is not 0.",
    ),
    fault(
        "norm_by_variance", "layer_norm", _NORM, "return centred / (variance + 1e-5)",
        words="the token was divided by the variance and not by its root",
        help="torch.sqrt(variance + 1e-5).",
        symptom="Tokens of large variance come out small.",
    ),
    fault(
        "norm_centred_only", "layer_norm", _NORM, "return centred",
        words="the mean was taken away but nothing was divided",
        help="Divide by sqrt(variance + 1e-5).",
        symptom="The variance of a token is not 1.",
    ),
    fault(
        "norm_unit_length", "layer_norm", _VARIANCE, "variance = (centred**2).sum(dim=-1, keepdim=True) ",
        words="each token was brought to length 1: the squares were added and not averaged",
        help="The variance is the mean of the squares.",
        symptom="Every entry is too small by sqrt(d).",
    ),
    fault(
        "norm_mean_deviation", "layer_norm", _VARIANCE,
        "variance = centred.abs().mean(dim=-1, keepdim=True) ** 2 ",
        words="the mean absolute deviation was taken for the standard deviation",
        help="Square, average, take the root.",
        symptom="The variance of a token is somewhat above 1.",
    ),
    _over(
        "norm_over_tokens", "-2",
        words="mean and variance ran over the tokens instead of the features",
        help="dim=-1: each token by itself.",
        symptom="Row 0 moves when token 3 changes, although the mask is right.",
    ),
    _over(
        "norm_over_examples", "0",
        words="mean and variance ran over the examples, as in batch norm",
        help="dim=-1: each token by itself.",
        symptom="Example 0 depends on example 1; a single example comes out as zeros.",
    ),
    _over(
        "norm_over_tokens_and_features", "(-2, -1)",
        words="each example had one mean and one variance for all its tokens",
        help="dim=-1 alone: each token by itself.",
        symptom="Row 0 moves when token 3 changes, although the mask is right.",
    ),
    _over(
        "norm_over_everything", "tuple(range(x.dim()))",
        words="there was one mean and one variance for the whole tensor",
        help="dim=-1, keepdim=True: one of each for every token.",
        symptom="Everything depends on everything.",
    ),
    fault(
        "norm_in_place", "layer_norm", _CENTRED, "centred = x.sub_(mean) ",
        words="x itself was centred",
        help="x -= mean writes into the tensor you were given; x - mean does not.",
        symptom="The output is right, but afterwards x has mean 0.",
    ),
    fault(
        "norm_single_precision", "layer_norm", _NORM, _NORM.replace("return ", "return (") + ").float()",
        words="the norm always gave float32",
        help="Leave the dtype as it is.",
        symptom="float64 in, float32 out.",
    ),
)  # fmt: skip

_GELUS = (
    fault(
        "gelu_erf", "gelu", _GELU, "return 0.5 * u * (1.0 + torch.erf(u / math.sqrt(2.0)))",
        words="the exact GELU with erf was used, the library's default",
        help="The tanh form: 0.5u(1 + tanh(sqrt(2/pi)(u + 0.044715u^3))).",
        symptom="Right to three digits; near u = -3 it gives -0.00405 instead of -0.00364.",
    ),
    fault(
        "gelu_relu", "gelu", _GELU, "return torch.relu(u)",
        words="ReLU stood in the place of GELU",
        help="GELU is smooth and slightly negative below 0.",
        symptom="No entry is negative.",
    ),
    fault(
        "gelu_sigmoid", "gelu", _GELU, "return u * torch.sigmoid(1.702 * u)",
        words="GELU was approximated by u * sigmoid(1.702u)",
        help="Use the tanh form.",
        symptom="Off in the second digit.",
    ),
    fault(
        "gelu_silu", "gelu", _GELU, "return u * torch.sigmoid(u)",
        words="SiLU, u * sigmoid(u), stood in the place of GELU",
        help="Use the tanh form of GELU.",
        symptom="Too slow a step around 0.",
    ),
    fault(
        "gelu_without_half", "gelu", _GELU, "return u * (1.0 + torch.tanh(inner))",
        words="the factor 0.5 was missing",
        help="0.5 * u * (1 + tanh(...)): 1 + tanh goes up to 2.",
        symptom="Everything is twice as large.",
    ),
    fault(
        "gelu_without_one", "gelu", _GELU, "return 0.5 * u * torch.tanh(inner)",
        words="the 1 beside tanh was missing",
        help="1 + tanh goes from 0 to 2; tanh alone from -1 to 1.",
        symptom="It is even: u and -u give the same.",
    ),
    fault(
        "gelu_without_u", "gelu", _GELU, "return 0.5 * (1.0 + torch.tanh(inner))",
        words="the gate was returned without u in front",
        help="The gate multiplies u.",
        symptom="All values lie between 0 and 1.",
    ),
    fault(
        "gelu_without_cube", "gelu", _INNER, "inner = math.sqrt(2.0 / math.pi) * u",
        words="the cubic term was missing",
        help="u + 0.044715u^3 inside.",
        symptom="Off in the second digit around u = 2.",
    ),
    fault(
        "gelu_square", "gelu", "u**3", "u**2",
        words="u was squared instead of cubed",
        help="u**3.",
        symptom="Positive entries nearly right, negative ones not.",
    ),
    fault(
        "gelu_cube_outside", "gelu", _INNER, "inner = math.sqrt(2.0 / math.pi) * u + 0.044715 * u**3",
        words="sqrt(2/pi) multiplied u alone and not the cubic term",
        help="It stands before the bracket: sqrt(2/pi) * (u + 0.044715 * u**3).",
        symptom="Off in the third digit around u = 2.",
    ),
    fault(
        "gelu_root_missing", "gelu", "math.sqrt(2.0 / math.pi)", "(2.0 / math.pi)",
        words="2/pi was used without its root",
        help="sqrt(2/pi) is 0.798, 2/pi is 0.637.",
        symptom="Too slow a step around 0.",
    ),
    fault(
        "gelu_root_upside_down", "gelu", "math.sqrt(2.0 / math.pi)", "math.sqrt(math.pi / 2.0)",
        words="the root was that of pi/2",
        help="sqrt(2/pi) is 0.798, sqrt(pi/2) is 1.253.",
        symptom="Too fast a step around 0.",
    ),
    fault(
        "gelu_ten_times_cube", "gelu", "0.044715 * u**3", "0.44715 * u**3",
        words="the factor of the cube was 0.44715",
        help="0.044715.",
        symptom="Too fast a step around 1.",
    ),
    fault(
        "gelu_by_exponentials", "gelu", _GELU,
        "return 0.5 * u * (1.0 + (torch.exp(2 * inner) - 1) / (torch.exp(2 * inner) + 1))",
        words="tanh was written as a quotient of exponentials that overflow",
        help="torch.tanh is exact for any size.",
        symptom="NaN for large positive entries.",
    ),
    fault(
        "gelu_in_place", "gelu", _GELU, "return u.mul_(0.5 * (1.0 + torch.tanh(inner)))",
        words="the result was written over u",
        help="mul_ and *= write into the tensor you were given.",
        symptom="The output is right, but afterwards u holds it too.",
    ),
    fault(
        "gelu_single_precision", "gelu", _GELU, "return (0.5 * u * (1.0 + torch.tanh(inner))).float()",
        words="GELU always gave float32",
        help="Leave the dtype as it is.",
        symptom="float64 in, float32 out.",
    ),
)  # fmt: skip

_FEED_FORWARD = (
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

_BLOCKS = (
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

FAULTS: tuple[Fault, ...] = (*_NORMS, *_GELUS, *_FEED_FORWARD, *_BLOCKS)
