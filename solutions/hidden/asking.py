"""Ask an answer and look at what comes back, so that one fault costs its own check and nothing odd breaks a check."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.compare import describe
from attnlab.placement import stays_on_device
from attnlab.recording import Outcome
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed, Verdict

__all__ = ["cast", "keeps_dtype", "moved", "outcome_of", "readable", "same", "tensor_of", "untouched"]

_REFUSED = ("dtype", "datatype", "scalar type", "input type", "used as indices")
"""Words of torch's messages where two dtypes meet in one operation, or where floats are used as indices."""

STILL, MOVED = 1e-6, 1e-4
"""Shares of the largest entry. Rounding moves an output by less than STILL, a changed input by more than MOVED."""


def outcome_of(trial: Trial, *args: Any, float_ids: bool = False) -> Outcome:
    """Call the answer; where it refuses float ids, or float64 beside a dtype of its own, call it with what it takes.

    So ids that are not cast, or a hard-coded dtype, cost the checks that ask about them and not every value.
    float_ids: insist on float ids
    """
    try:
        return trial.outcome(*args)
    except AnswerError as error:
        if error.verdict is not Verdict.ERRORED or not any(word in error.rationale.lower() for word in _REFUSED):
            raise
        for other in (_single(args),) if float_ids else (_whole(args), _single(args), _single(_whole(args))):
            try:
                return trial.outcome(*other)
            except AnswerError as again:
                if again.verdict is not Verdict.ERRORED:
                    raise
        raise


def readable(value: Any) -> bool:
    """Whether it is an ordinary tensor: real numbers, dense, with contents."""
    return (
        isinstance(value, torch.Tensor)
        and value.layout is torch.strided
        and not value.is_complex()
        and not value.is_meta
    )


def tensor_of(value: Any, *shape: int) -> torch.Tensor:
    """The value as float64 on the CPU. Raises Failed where it is no ordinary tensor of this shape."""
    if not readable(value) or value.shape != shape:
        wanted = f"a tensor of shape {shape}" if shape else "a 0-dim tensor"
        raise Failed(f"It returned {describe(value)}; {wanted} is wanted.")
    plain: torch.Tensor = value.detach().to("cpu", torch.float64)
    return plain


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two outputs are equal up to rounding. NaN equals nothing."""
    return _gap(a, b) <= STILL


def moved(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two outputs differ by more than any rounding. NaN counts as not having moved."""
    return _gap(a, b) > MOVED


def untouched(trial: Trial, *args: Any) -> None:
    """Raises Failed where the answer changes one of its inputs."""
    changed = outcome_of(trial, *args).changed
    if changed:
        raise Failed(
            f"After the call argument {changed[0] + 1} holds other numbers than before.",
            "Operations that end in _ and += on a tensor, or on a slice of one, write into it. Make a new tensor "
            "instead.",
        )


def keeps_dtype(
    trial: Trial, *args: Any, dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.bfloat16, torch.float64)
) -> None:
    """Raises Failed where the output has another dtype or device than the parameters, or is not finite.

    The device is looked at where float32 is among the dtypes.
    """
    for dtype in dtypes:
        name = str(dtype).removeprefix("torch.")
        value = trial.outcome(*_whole(tuple(cast(a, dtype) for a in args))).value  # float ids have their own check
        if not readable(value) or value.dtype != dtype:
            raise Failed(
                f"With {name} parameters it returned {describe(value)}; {name} is wanted.",
                "Make no tensor of a fixed dtype: take dtype and device from an input, as in x.new_zeros(...).",
            )
        if not bool(value.isfinite().all()):
            raise Failed(
                f"With {name} parameters some entries are not finite.", "Which step overflows in a short dtype?"
            )
    if torch.float32 in dtypes:
        stays_on_device(trial, *_whole(tuple(cast(a, torch.float32) for a in args)))


def cast(value: Any, dtype: torch.dtype) -> Any:
    """Floating-point tensors in another dtype; all else as it is."""
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _single(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(cast(a, torch.float32) for a in args)


def _whole(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Float ids, which come first or second in every exercise, as integers."""
    ids = [isinstance(a, torch.Tensor) and a.dim() <= 2 and bool((a == a.round()).all()) for a in args[:2]]
    return tuple(a.long() if i < 2 and ids[i] else a for i, a in enumerate(args))


def _gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """Largest difference as a share of the largest entry."""
    size = max(a.abs().max().item(), b.abs().max().item(), 1e-9)  # 1e-9: two outputs of zeros are equal
    return float((a - b).abs().max()) / size
