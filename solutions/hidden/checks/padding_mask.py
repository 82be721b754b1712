"""Hidden checks of `padding_mask`."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.placement import stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    agrees,
    alive,
    leaves_inputs,
    tensors,
)
from solutions.hidden.inputs import strided, word_ids
from solutions.hidden.masks import is_bool, only_tensor


def _words(trial: Trial, N: int, S: int, pad: int, dtype: torch.dtype = torch.long) -> torch.Tensor:
    """Ids (N, S) of 1 ... 9 but pad, with pad at the end of every row but the first, ever more of it."""
    ids = word_ids(trial, N, S, 9) + 1
    ids[ids == pad] = 10
    for n in range(1, N):
        ids[n, S - 1 - n % (S - 1) :] = pad
    return ids.to(dtype)


def _squeezed(value: Any) -> Any:
    """A mask without its axes of length 1: where those stand is another check's clause."""
    return value.squeeze() if len(tensors(value)) == 1 else value


_HELP_PAD = "True where the id is not pad_id, and nowhere else."


@check_of("padding_mask", points=0.5, kind="contract")
def padding_depends_on_ids(trial: Trial) -> None:
    """The mask is a tensor and depends on the ids."""
    ids = _words(trial, 3, 5, 0)
    alive(trial, (ids, 0), [(ids.roll(1, dims=0), 0)])


@check_of("padding_mask", points=1.0)
def padding_marks_words(trial: Trial) -> None:
    """True where there is a word, False where there is padding."""
    inside = _words(trial, 4, 4, 0)
    inside[0, 1] = 0  # padding need not stand at the end
    for ids in (_words(trial, 3, 5, 0), strided(inside)):
        agrees(trial, ids, 0, look=(trace.mask_values, trace.turned_round), help=_HELP_PAD, part=_squeezed)


@check_of("padding_mask", points=0.5)
def padding_heeds_pad_id(trial: Trial) -> None:
    """The id that stands for padding is the one the caller names; id 0 may be an ordinary word."""
    ids = _words(trial, 3, 6, 4)
    ids[:, 0] = 0
    help = "Compare with pad_id; neither 0 nor any other id is padding by itself."
    agrees(trial, ids, 4, look=(trace.turned_round,), help=help, part=_squeezed)


@check_of("padding_mask", points=0.5)
def padding_of_float_ids(trial: Trial) -> None:
    """Ids may be whole numbers held as floats."""
    for dtype in (torch.float64, torch.float32):
        agrees(trial, _words(trial, 3, 5, 0, dtype), 0, look=(trace.turned_round,), help=_HELP_PAD, part=_squeezed)


@check_of("padding_mask", points=0.5, kind="contract", needs=("padding_depends_on_ids",))
def padding_has_query_axis(trial: Trial) -> None:
    """The shape is (N, 1, S), so that the mask serves every query; also for one example and one position."""
    for N, S in ((3, 5), (1, 4), (2, 1)):
        ids = torch.ones(N, S, dtype=torch.long)
        shape = tuple(only_tensor(trial.call(ids, 0)).shape)
        if shape != (N, 1, S):
            raise Failed(f"For ids {(N, S)} its shape is {shape}; {(N, 1, S)} is wanted.", "Index with [:, None, :].")


@check_of("padding_mask", points=0.5, kind="contract", needs=("padding_depends_on_ids",))
def padding_is_bool(trial: Trial) -> None:
    """The mask holds True and False, dtype bool, on the device of the ids."""
    is_bool(only_tensor(trial.call(_words(trial, 3, 5, 0), 0)))
    stays_on_device(trial, _words(trial, 3, 5, 0), 0)


@check_of("padding_mask", points=0.5, kind="contract", needs=("padding_depends_on_ids",))
def padding_leaves_ids(trial: Trial) -> None:
    """The ids are left as they were."""
    for pad in (0, 3):
        leaves_inputs(trial, _words(trial, 3, 5, pad, torch.float64), pad, names="ids,pad_id")
