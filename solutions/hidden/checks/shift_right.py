"""Hidden checks of `shift_right`."""

from __future__ import annotations

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.placement import stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import moved, same, tensor_of, untouched


@check_of("shift_right", points=0.125, kind="contract")
def shift_depends_on_the_ids(trial: Trial) -> None:
    """The result has the shape of ids, is the same on every call, depends on ids and is not ids themselves."""
    ids = torch.tensor([[3.0, 5.0, 2.0], [6.0, 1.0, 4.0]], dtype=torch.float64)
    first, again, other = (tensor_of(trial.call(i, 7), 2, 3) for i in (ids, ids, ids + 1))
    if not same(first, again):
        raise Failed("Two calls with the same arguments gave different ids.", "Nothing here is random.")
    if same(first, ids) or not moved(first, other):
        raise Failed(
            "It returned ids as they are, or something apart from them.", "bos_id first, then ids without the last."
        )


@check_of("shift_right", points=0.625)
def shift_puts_bos_first_and_drops_the_last(trial: Trial) -> None:
    """bos_id comes first, every other id moves one place to the right, the last one falls off."""
    ids = torch.stack([torch.randperm(9, generator=trial.random)[:5] for _ in range(3)]).double()
    agrees(trial, ids, 11, help="Column 0 is bos_id; column t is column t - 1 of ids.")


@check_of("shift_right", points=0.25)
def shift_treats_no_id_as_special(trial: Trial) -> None:
    """Zeros and ids that equal bos_id are ordinary."""
    ids = torch.tensor([[2.0, 0.0, 2.0, 0.0], [0.0, 0.0, 2.0, 5.0]], dtype=torch.float64)
    agrees(trial, ids, 2, help="Shift whatever ids hold: a row may begin with bos_id already.")
    agrees(trial, ids, 0, help="bos_id may be 0.")


@check_of("shift_right", points=0.25)
def shift_takes_a_single_position(trial: Trial) -> None:
    """With T = 1 only bos_id is left."""
    agrees(trial, trial.ids(3, 1, high=9), 9, help="ids[:, :-1] is then empty, and one column of bos_id remains.")


@check_of("shift_right", points=0.5, kind="contract", needs=("shift_depends_on_the_ids",))
def shift_keeps_the_dtype(trial: Trial) -> None:
    """The dtype and the device of ids are kept."""
    for dtype in (torch.int64, torch.int32, torch.float32):
        value = trial.call(trial.ids(2, 3, high=9, dtype=dtype), 4)
        if not isinstance(value, torch.Tensor) or value.dtype != dtype:
            raise Failed(
                f"With {dtype} ids it returned {describe(value)}.",
                "Make the first column with ids.new_full or full_like.",
            )
    stays_on_device(trial, trial.ids(2, 3, high=9, dtype=torch.int64), 4)


@check_of("shift_right", points=0.25, kind="contract", needs=("shift_depends_on_the_ids",))
def shift_leaves_ids_alone(trial: Trial) -> None:
    """ids are unchanged afterwards."""
    untouched(trial, torch.tensor([[3, 5, 2], [6, 1, 4]]), 9)
