"""Named faults of `shift_right`."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_SHIFT = "return torch.cat([first, ids[:, :-1]], dim=1) "

FAULTS: tuple[Fault, ...] = (
    fault(
        "shift_left",
        "shift_right",
        _SHIFT,
        "return torch.cat([ids[:, 1:], first], dim=1) ",
        words="ids were shifted to the left",
        help="Position t is fed what was right at t - 1.",
        symptom="The model is fed the future and learns to copy it.",
    ),
    fault(
        "shift_not_at_all",
        "shift_right",
        _SHIFT,
        "return torch.cat([first, ids[:, 1:]], dim=1) ",
        words="the first id was overwritten by bos_id and the others stayed where they were",
        help="Drop the last id, not the first.",
        symptom="The loss falls to zero and decoding gives nonsense: the model copies its input.",
    ),
    fault(
        "shift_keeps_the_last",
        "shift_right",
        _SHIFT,
        "return torch.cat([first, ids], dim=1) ",
        words="bos_id was put in front and nothing dropped",
        help="The result is as long as ids: leave out the last one.",
        symptom="The result is one position too long.",
    ),
    fault(
        "shift_without_bos",
        "shift_right",
        _SHIFT,
        "return ids[:, :-1] ",
        words="the last id was dropped and bos_id not put in front",
        help="Put a column of bos_id in front.",
        symptom="The result is one position too short.",
    ),
    fault(
        "shift_rolls",
        "shift_right",
        _SHIFT,
        "return torch.roll(ids, 1, dims=1) ",
        words="the last id went to the front in place of bos_id",
        help="torch.roll goes round: overwrite column 0 by bos_id.",
        symptom="The decoder is told the last word first.",
    ),
    fault(
        "shift_zero_for_bos",
        "shift_right",
        "first = torch.full_like(ids[:, :1], bos_id)",
        "first = torch.zeros_like(ids[:, :1])",
        words="0 stood in place of bos_id",
        help="Use the bos_id that is given.",
        symptom="Right only where bos_id is 0.",
    ),
    fault(
        "shift_across_examples",
        "shift_right",
        _SHIFT,
        "return torch.cat([first.flatten(), ids.flatten()])[: ids.numel()].view_as(ids) if len(ids) == 1 else "
        "torch.cat([first[0], ids.flatten()[:-1]]).view_as(ids) ",
        words="the whole batch was shifted as one long row",
        help="Shift each example by itself: along dim 1.",
        symptom="Every example but the first begins with the last id of the one before.",
    ),
    fault(
        "shift_down",
        "shift_right",
        _SHIFT,
        "return torch.cat([torch.full_like(ids[:1], bos_id), ids[:-1]], dim=0) ",
        words="examples were shifted instead of positions",
        help="Positions are dim 1; dim 0 is the batch.",
        symptom="The first example is all bos_id.",
    ),
    fault(
        "shift_casts_to_long",
        "shift_right",
        _SHIFT,
        "return torch.cat([first, ids[:, :-1]], dim=1).long() ",
        words="the result was always int64",
        help="Keep the dtype of ids.",
        symptom="Float ids come back as integers.",
    ),
    fault(
        "shift_casts_to_float",
        "shift_right",
        _SHIFT,
        "return torch.cat([first.float(), ids[:, :-1]], dim=1) ",
        words="bos_id was put in as a float, which makes integer ids float",
        help="Make the column of bos_id with the dtype of ids.",
        symptom="Integer ids come back as floats.",
    ),
    fault(
        "shift_in_place",
        "shift_right",
        _SHIFT,
        "return ids.copy_(torch.cat([first, ids[:, :-1]], dim=1)) ",
        words="ids themselves were overwritten",
        help="Make a new tensor; the caller still needs ids as labels.",
        symptom="The labels have moved too, and the model learns to copy.",
    ),
    fault(
        "shift_skips_a_second_bos",
        "shift_right",
        _SHIFT,
        "return torch.where(ids[:, :1] == bos_id, ids, torch.cat([first, ids[:, :-1]], dim=1)) ",
        words="rows that begin with bos_id already were left as they are",
        help="No id is special: shift every row.",
        symptom="Rows that begin with bos_id are not shifted.",
    ),
)
