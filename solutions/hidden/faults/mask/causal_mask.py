"""Named faults of `causal_mask`."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_CAUSAL = "return position[:, None] >= position[None, :] "

FAULTS: tuple[Fault, ...] = (
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
