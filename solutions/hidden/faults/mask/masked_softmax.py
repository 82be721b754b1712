"""Named faults of `masked_softmax`."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_HIDE = "scores = scores.masked_fill(~allowed, -torch.inf)"
_EXP = "exp = torch.exp(scores - top) "
_RETURN = "return exp / total.masked_fill(total == 0.0, 1.0)"


def _over(id: str, dim: str, *, words: str, help: str, symptom: str) -> Fault:
    """masked_softmax over another axis."""
    edits = (
        Edit("masked_softmax", "scores.amax(dim=-1,", f"scores.amax(dim={dim},"),
        Edit("masked_softmax", "exp.sum(dim=-1,", f"exp.sum(dim={dim},"),
    )
    return Fault(id, edits, words, help, symptom)



FAULTS: tuple[Fault, ...] = (
    fault(
        "penalty_1e9", "masked_softmax", _HIDE, "scores = scores.masked_fill(~allowed, -1e9)",
        words="hidden scores were set to -1e9 instead of minus infinity",
        help="A hidden key wins where all allowed scores are below -1e9. Use -torch.inf.",
        symptom="No difference on ordinary scores; very low ones let hidden keys through.",
    ),
    fault(
        "penalty_1e4", "masked_softmax", _HIDE, "scores = scores.masked_fill(~allowed, -1e4)",
        words="hidden scores were set to -1e4 instead of minus infinity",
        help="A hidden key wins where all allowed scores are below -1e4. Use -torch.inf.",
        symptom="No difference on ordinary scores; large ones let hidden keys through.",
    ),
    fault(
        "penalty_100", "masked_softmax", _HIDE, "scores = scores.masked_fill(~allowed, -100.0)",
        words="hidden scores were set to -100 instead of minus infinity",
        help="A hidden key wins where all allowed scores are below -100. Use -torch.inf.",
        symptom="No difference on ordinary scores; large ones let hidden keys through.",
    ),
    fault(
        "penalty_added", "masked_softmax", _HIDE, "scores = scores - 1e9 * (~allowed).to(scores.dtype)",
        words="1e9 was subtracted from hidden scores instead of infinity",
        help="A score above 1e9 survives the penalty. Use minus infinity.",
        symptom="No difference on ordinary scores; very large ones come through.",
    ),
    fault(
        "hidden_scores_zero", "masked_softmax", _HIDE, "scores = scores.masked_fill(~allowed, 0.0)",
        words="hidden scores were set to 0, or to a tiny number such as 1e-9",
        help="0 is not nothing: e^0 = 1. Use minus infinity.",
        symptom="Hidden keys still have weight, more than keys of negative score.",
    ),
    fault(
        "mask_times_infinity", "masked_softmax", _HIDE, "scores = scores + (~allowed).to(scores.dtype) * -torch.inf",
        words="the mask was multiplied by minus infinity, which makes 0 * infinity on allowed keys",
        help="0 times infinity is NaN. Use masked_fill or torch.where.",
        symptom="Every weight is NaN, also of allowed keys.",
    ),
    fault(
        "plus_infinity", "masked_softmax", _HIDE, "scores = scores.masked_fill(~allowed, torch.inf)",
        words="hidden scores were set to plus infinity",
        help="Check the sign: exp(-inf) is 0, exp(+inf) is infinite.",
        symptom="NaN in every row with a hidden key.",
    ),
    fault(
        "mask_added_as_numbers", "masked_softmax", _HIDE, "scores = scores + allowed",
        words="1 was added to allowed scores and hidden ones were left as they are",
        help="Adding 1 does not forbid the others: they only lose a factor e.",
        symptom="Hidden keys have a little less weight than without a mask.",
    ),
    fault(
        "softmax_mask_inverted", "masked_softmax", _HIDE, "scores = scores.masked_fill(allowed, -torch.inf)",
        words="the allowed keys were hidden and the others read",
        help="masked_fill fills where the mask is True: fill where not allowed, ~allowed.",
        symptom="All weight lies on keys that may not be read.",
    ),
    Fault(
        "mask_after_softmax",
        (
            Edit("masked_softmax", _HIDE, "hidden = ~allowed"),
            Edit("masked_softmax", _RETURN, "return exp / total * (1.0 if allowed is None else allowed)"),
        ),
        words="weights were set to 0 after the softmax, without sharing them out again",
        help="Hide the scores first, then take the softmax.",
        symptom="Rows with a hidden key sum to less than 1.",
    ),
    fault(
        "mask_ignored", "masked_softmax", _HIDE, "scores = scores",
        words="the mask was not used at all",
        help="Give hidden keys the score minus infinity.",
        symptom="The weights are the same with and without a mask.",
    ),
    fault(
        "mask_of_first_row", "masked_softmax", _HIDE, "scores = scores.masked_fill(~allowed[..., :1, :], -torch.inf)",
        words="the mask of the first query was used for all of them",
        help="Leave the mask's shape to broadcasting.",
        symptom="Row 0 is right, the others are not.",
    ),
    fault(
        "mask_of_first_example", "masked_softmax", _HIDE,
        "scores = scores.masked_fill(~(allowed[:1] if allowed.dim() == scores.dim() else allowed), -torch.inf)",
        words="the mask of the first example was used for all of them",
        help="Each example brings its own mask: keep the axis N.",
        symptom="Example 0 is right, example 1 is not.",
    ),
    fault(
        "mask_transposed", "masked_softmax", _HIDE,
        "scores = scores.masked_fill(~allowed.transpose(-2, -1), -torch.inf)",
        words="the mask was transposed: (key, query) instead of (query, key)",
        help="Scores and mask are both (T, S), query down, key across.",
        symptom="An error where S differs from T; silent where they are equal.",
    ),
    fault(
        "mask_required", "masked_softmax", "if allowed is not None:", "if True:",
        words="a mask had to be given, although None stands for: all allowed",
        help="Ask `if allowed is not None` before using it.",
        symptom="Without a mask it raises TypeError.",
    ),
    _over(
        "softmax_over_queries", "-2",
        words="the softmax ran over the queries instead of the keys",
        help="dim=-1: each row, the weights of one query, sums to 1.",
        symptom="Columns sum to 1, rows do not.",
    ),
    _over(
        "softmax_over_all_pairs", "(-2, -1)",
        words="the softmax ran over all queries and keys at once",
        help="dim=-1 alone: each row sums to 1, not the whole matrix.",
        symptom="The whole matrix sums to 1.",
    ),
    _over(
        "softmax_over_examples", "0",
        words="the softmax ran over the first axis, the examples",
        help="dim=-1. Count axes from the end.",
        symptom="The weights change when another example changes.",
    ),
    _over(
        "softmax_over_axis_1", "1",
        words="the softmax ran over axis 1, which are the heads where there are any",
        help="dim=-1. Count axes from the end.",
        symptom="The weights change when another head changes.",
    ),
    fault(
        "softmax_missing", "masked_softmax", _RETURN, "return scores.masked_fill(scores == -torch.inf, 0.0)",
        words="the scores themselves were used as weights",
        help="Weights are the softmax of the scores: at least 0, and each row sums to 1.",
        symptom="Negative weights.",
    ),
    fault(
        "softmax_not_divided", "masked_softmax", _RETURN, "return exp",
        words="the exponentials were not divided by their sum",
        help="Divide by the sum of the row.",
        symptom="Rows sum to more than 1, the largest weight of each is 1.",
    ),
    fault(
        "softmax_twice", "masked_softmax", _RETURN,
        "return torch.softmax(exp / total.masked_fill(total == 0.0, 1.0), dim=-1)",
        words="the softmax was taken twice",
        help="The weights are there after the first one.",
        symptom="Weights nearly equal, and hidden keys have some again.",
    ),
    fault(
        "softmax_unit_length", "masked_softmax", "total = exp.sum(dim=-1, keepdim=True) ",
        "total = exp.norm(dim=-1, keepdim=True) ",
        words="the exponentials were divided by their length, the root of the sum of squares",
        help="Divide by the plain sum.",
        symptom="The squares of each row sum to 1.",
    ),
    fault(
        "softmax_base_2", "masked_softmax", _EXP, "exp = torch.exp2(scores - top) ",
        words="powers of 2 were taken instead of powers of e",
        help="torch.exp.",
        symptom="Weights are more even than they ought to be.",
    ),
    fault(
        "softmax_without_maximum", "masked_softmax", _EXP, "exp = torch.exp(scores) ",
        words="exp was taken of the scores as they are, without subtracting the largest",
        help="exp(710) is infinite. Subtract the largest score of each row first: the weights stay the same.",
        symptom="NaN for large scores.",
    ),
    Fault(
        "softmax_tiny_in_denominator",
        (
            Edit("masked_softmax", _EXP, "exp = torch.exp(scores) "),
            Edit("masked_softmax", _RETURN, "return exp / (total + 1e-6)"),
        ),
        words="1e-6 was added to the denominator instead of subtracting the largest score",
        help="Where all scores are low the sum is far below 1e-6. Subtract the largest score of each row first.",
        symptom="Rows of very low scores sum to 0, rows of very high ones are NaN.",
    ),
    fault(
        "softmax_maximum_of_all", "masked_softmax", "scores.amax(dim=-1, keepdim=True) ", "scores.amax() ",
        words="the largest score of the whole tensor was subtracted instead of each row's own",
        help="A row far below the largest gets only zeros. amax(dim=-1, keepdim=True).",
        symptom="Rows of low scores are 0 or NaN.",
    ),
    fault(
        "softmax_clamped", "masked_softmax", _EXP, "exp = torch.exp(scores.clamp(max=50.0)) ",
        words="scores were cut off at 50 to keep exp from overflowing",
        help="Keys above the limit become equal. Subtract the largest score of each row instead.",
        symptom="Large scores all get the same weight.",
    ),
    fault(
        "empty_row_nan", "masked_softmax", "top = top.masked_fill(top == -torch.inf, 0.0) ", "top = top ",
        words="a row with nothing allowed came out as 0/0",
        help="There the sum of the exponentials is 0: put 1 in its place before you divide.",
        symptom="NaN in rows where nothing may be read.",
    ),
    fault(
        "empty_row_even", "masked_softmax", "-torch.inf)\n    top", "torch.finfo(scores.dtype).min)\n    top",
        words="a row with nothing allowed spread its weight evenly over hidden keys",
        help="The smallest finite number hides keys only beside larger scores. Set such rows to 0.",
        symptom="Rows where nothing may be read sum to 1.",
    ),
    fault(
        "softmax_in_place", "masked_softmax", _HIDE, "scores = scores.masked_fill_(~allowed, -torch.inf)",
        words="the caller's scores were overwritten",
        help="masked_fill_ writes into the tensor you were given; masked_fill makes a new one.",
        symptom="The weights are right, but afterwards the scores hold -inf.",
    ),
    fault(
        "softmax_single_precision", "masked_softmax", _RETURN, _RETURN + ".float()",
        words="the weights were always float32",
        help="Return the dtype you were given: .to(scores.dtype).",
        symptom="With float64 scores the product with the values raises a dtype error.",
    ),
)  # fmt: skip
