"""Named faults of `layer_norm`."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_MEAN = "mean = x.mean(dim=-1, keepdim=True) "
_CENTRED = "centred = x - mean "
_VARIANCE = "variance = (centred**2).mean(dim=-1, keepdim=True) "
_NORM = "return centred / torch.sqrt(variance + 1e-5)"


def _over(id: str, dim: str, *, words: str, help: str, symptom: str) -> Fault:
    """layer_norm over other axes."""
    edits = (
        Edit("layer_norm", _MEAN, f"mean = x.mean(dim={dim}, keepdim=True) "),
        Edit("layer_norm", _VARIANCE, f"variance = (centred**2).mean(dim={dim}, keepdim=True) "),
    )
    return Fault(id, edits, words, help, symptom)



FAULTS: tuple[Fault, ...] = (
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
