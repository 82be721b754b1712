"""Named faults of lesson mask."""

from __future__ import annotations

from attnlab.fault import Edit, Fault, fault

_CAUSAL = "return position[:, None] >= position[None, :] "
_PADDING = "return (ids != pad_id)[:, None, :]"
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


_CAUSAL_MASKS = (
    fault(
        "causal_inverted", "causal_mask", _CAUSAL, "return position[:, None] < position[None, :] ",
        words="True stood for hidden, as in nn.MultiheadAttention, and not for allowed",
        help="Here True says: may be read. Turn the comparison round.",
        symptom="The last row of the weights is NaN or zero: nothing is left for it to read.",
    ),
    fault(
        "causal_flipped", "causal_mask", _CAUSAL, "return position[:, None] <= position[None, :] ",
        words="each position read itself and the future instead of the past",
        help="The query goes down the rows, the key across the columns: allowed where s <= t.",
        symptom="Changing the last token changes the first output.",
    ),
    fault(
        "causal_without_diagonal", "causal_mask", _CAUSAL, "return position[:, None] > position[None, :] ",
        words="no position was allowed to read itself",
        help="A position may read itself: s <= t, not s < t.",
        symptom="Row 0 has nothing to read.",
    ),
    fault(
        "causal_one_ahead", "causal_mask", _CAUSAL, "return position[:, None] + 1 >= position[None, :] ",
        words="each position also read the one right after it",
        help="The diagonal is the last allowed key; check the offset of tril or triu.",
        symptom="Output t changes when token t+1 changes.",
    ),
    fault(
        "causal_hides_nothing", "causal_mask", _CAUSAL, "return position[:, None] >= 0 * position[None, :] ",
        words="every position was allowed to read every other",
        help="Allowed only where the key is not later than the query.",
        symptom="Only the last row of the outputs is right.",
    ),
    fault(
        "causal_itself_only", "causal_mask", _CAUSAL, "return position[:, None] == position[None, :] ",
        words="each position read itself alone",
        help="Earlier positions are allowed too: >= and not ==.",
        symptom="Attention does nothing: each output depends on its own token only.",
    ),
    fault(
        "causal_two_steps_back", "causal_mask", _CAUSAL,
        "return (position[:, None] - position[None, :] >= 0) & (position[:, None] - position[None, :] < 2)",
        words="each position read itself and the one before, but nothing earlier",
        help="All earlier positions are allowed, however far back.",
        symptom="Right for two tokens, wrong from the third row on.",
    ),
    fault(
        "causal_past_hidden", "causal_mask", _CAUSAL,
        "return (position[:, None] >= position[None, :]) & ((position[None, :] > 0) | (position[:, None] == 0))",
        words="position 0 was hidden from all later positions",
        help="Nothing is special about position 0.",
        symptom="The first token has no effect on what follows.",
    ),
    fault(
        "causal_additive", "causal_mask", _CAUSAL,
        "return (0.0 * position).expand(length, length)"
        ".masked_fill(position[:, None] < position[None, :], -torch.inf)",
        words="the mask held 0 and minus infinity, to be added to the scores",
        help="A mask here holds True and False; masked_softmax turns it into minus infinity.",
        symptom="The table holds -inf.",
    ),
    fault(
        "causal_ones_and_zeros", "causal_mask", _CAUSAL, "return (position[:, None] >= position[None, :]).float() ",
        words="the mask held the numbers 1.0 and 0.0 instead of True and False",
        help="torch.ones(...).tril() is float: make it bool, or compare positions.",
        symptom="Its dtype is float32.",
    ),
    fault(
        "causal_integers", "causal_mask", _CAUSAL, "return (position[:, None] >= position[None, :]).long() ",
        words="the mask held the integers 1 and 0 instead of True and False",
        help="Integers index where bool selects: leave the result of the comparison as it is.",
        symptom="Its dtype is int64, and ~mask gives -1 and -2.",
    ),
    fault(
        "causal_ignores_device", "causal_mask", "torch.arange(length, device=device)", "torch.arange(length)",
        words="the mask was always made on the CPU",
        help="Pass device=device to whatever makes the first tensor.",
        symptom="On a GPU: expected all tensors to be on the same device.",
    ),
    fault(
        "causal_with_batch_axis", "causal_mask", _CAUSAL, "return (position[:, None] >= position[None, :])[None] ",
        words="the mask had an axis of length 1 in front",
        help="Two axes, (length, length); broadcasting adds the others.",
        symptom="Its shape is (1, length, length).",
    ),
    fault(
        "causal_one_too_long", "causal_mask", "torch.arange(length,", "torch.arange(length + 1,",
        words="the mask was made for one position more than there are",
        help="Positions are 0 ... length - 1.",
        symptom="Its shape is (length+1, length+1).",
    ),
)  # fmt: skip

_PADDING_MASKS = (
    fault(
        "padding_inverted", "padding_mask", _PADDING, "return (ids == pad_id)[:, None, :]",
        words="True stood for padding and not for words",
        help="Here True says: may be read, so it stands for words. Use !=.",
        symptom="Attention reads the padding only.",
    ),
    fault(
        "padding_is_always_zero", "padding_mask", _PADDING, "return (ids != 0)[:, None, :]",
        words="id 0 was padding, whatever pad_id says",
        help="Compare with pad_id.",
        symptom="Right while pad_id is 0, wrong for any other.",
    ),
    fault(
        "padding_is_all_up_to_pad_id", "padding_mask", _PADDING, "return (ids > pad_id)[:, None, :]",
        words="every id up to pad_id was padding",
        help="Only pad_id itself is padding: != and not >.",
        symptom="Right while pad_id is 0, wrong for any other.",
    ),
    fault(
        "padding_without_query_axis", "padding_mask", _PADDING, "return ids != pad_id",
        words="the mask had no axis for the queries",
        help="(N, S) meets scores (N, T, S) with the wrong axes: insert one, [:, None, :].",
        symptom="Its shape is (N, S); with N = T it hides keys of the wrong examples without an error.",
    ),
    fault(
        "padding_axis_last", "padding_mask", _PADDING, "return (ids != pad_id)[:, :, None]",
        words="the new axis stood last, so that padded queries were hidden and not padded keys",
        help="Keys go across: the last axis is S. Insert the new one before it.",
        symptom="Its shape is (N, S, 1).",
    ),
    fault(
        "padding_with_head_axis", "padding_mask", _PADDING, "return (ids != pad_id)[:, None, None, :]",
        words="the mask had an axis for the heads as well",
        help="Three axes, (N, 1, S): multi_head_attention adds the one for its heads.",
        symptom="Its shape is (N, 1, 1, S).",
    ),
    fault(
        "padding_hides_queries_too", "padding_mask", _PADDING,
        "return (ids != pad_id)[:, None, :] & (ids != pad_id)[:, :, None]",
        words="padded queries were hidden as well as padded keys",
        help="Hide keys only. A query that may read nothing has no weights to speak of.",
        symptom="Its shape is (N, S, S), and rows of padded positions are all False.",
    ),
    fault(
        "padding_to_the_end", "padding_mask", _PADDING,
        "return (ids != pad_id).long().cumprod(dim=1).bool()[:, None, :]",
        words="everything after the first padding was hidden, words too",
        help="Look at each id by itself.",
        symptom="Right while padding stands only at the end.",
    ),
    fault(
        "padding_of_first_example", "padding_mask", _PADDING, "return (ids[:1] != pad_id).expand_as(ids)[:, None, :]",
        words="the first example's padding was taken for that of all",
        help="Each example has its own length: keep the axis N.",
        symptom="Example 0 is right, the others are not.",
    ),
    fault(
        "padding_additive", "padding_mask", _PADDING,
        "return torch.zeros(ids.shape, device=ids.device).masked_fill(ids == pad_id, -torch.inf)[:, None, :]",
        words="the padding mask held 0 and minus infinity, to be added to the scores",
        help="A mask here holds True and False.",
        symptom="The table holds -inf.",
    ),
    fault(
        "padding_ones_and_zeros", "padding_mask", _PADDING, "return (ids != pad_id)[:, None, :].float()",
        words="the padding mask held the numbers 1.0 and 0.0 instead of True and False",
        help="The comparison gives bool by itself; leave it so.",
        symptom="Its dtype is float32.",
    ),
    fault(
        "padding_in_place", "padding_mask", _PADDING, "return ids.ne_(pad_id).bool()[:, None, :]",
        words="the ids themselves were overwritten by the result of the comparison",
        help="ne_ writes into ids; use !=.",
        symptom="The mask is right, but afterwards all ids are 0 or 1.",
    ),
)  # fmt: skip

_SOFTMAX = (
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

FAULTS: tuple[Fault, ...] = (*_CAUSAL_MASKS, *_PADDING_MASKS, *_SOFTMAX)
