"""Named faults of `padding_mask`."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_PADDING = "return (ids != pad_id)[:, None, :]"

FAULTS: tuple[Fault, ...] = (
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
