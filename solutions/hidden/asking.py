"""Ask an answer and look at what comes back, so that one fault costs its own check and nothing odd breaks a check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from attnlab.compare import describe, difference
from attnlab.recording import Outcome
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed, Verdict

__all__ = ["agree", "keeps_dtype", "moved", "outcome_of", "same", "tensor_of", "untouched"]

_MIXED = ("dtype", "datatype", "scalar type", "input type")
"""Words of torch's messages about tensors of two dtypes meeting in one operation."""

STILL, MOVED = 1e-6, 1e-4
"""Shares of the largest entry. Rounding moves an output by less than STILL, a changed input by more than MOVED."""


def outcome_of(trial: Trial, *args: Any) -> Outcome:
    """Call the answer; where it refuses float64 beside a dtype of its own, call it again with float32.

    So a hard-coded dtype costs the check of dtypes and not every value.
    """
    try:
        return trial.outcome(*args)
    except AnswerError as error:
        if error.verdict is not Verdict.ERRORED or not any(word in error.rationale.lower() for word in _MIXED):
            raise
        return trial.outcome(*(_to(a, torch.float32) for a in args))


def agree(trial: Trial, *args: Any, help: str = "") -> None:
    """As trial.matches, with the second chance of `outcome_of`. Raises Failed where answer and reference differ."""
    value = outcome_of(trial, *args).value
    try:
        found = difference(value, trial.expected(*args))
    except (RuntimeError, TypeError, ValueError, NotImplementedError):  # a sparse tensor, say
        found = f"it returned {describe(value)}, which cannot be compared"
    trial.calls[-1] = replace(trial.calls[-1], agrees=found is None)
    if found:
        raise Failed(f"On {_shapes(args)}: {found}.", help)


def tensor_of(value: Any, *shape: int) -> torch.Tensor:
    """The value as float64 on the CPU. Raises Failed where it is no real tensor of this shape."""
    wanted = f"a tensor of shape {shape}" if shape else "a 0-dim tensor"
    if not isinstance(value, torch.Tensor) or value.shape != shape or value.dtype.is_complex:
        raise Failed(f"It returned {describe(value)}; {wanted} is wanted.")
    try:
        return value.detach().to("cpu", torch.float64)
    except (RuntimeError, NotImplementedError):
        raise Failed(f"It returned {describe(value)} that holds no readable values.") from None


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
            "Operations that end in _ and += on a tensor, or on a slice of one, write into it. Make a new tensor instead.",
        )


def keeps_dtype(trial: Trial, *args: Any, dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.bfloat16)) -> None:
    """Raises Failed where the output has another dtype than the parameters, or is not finite."""
    for dtype in dtypes:
        name = str(dtype).removeprefix("torch.")
        value = trial.outcome(*(_to(a, dtype) for a in args)).value
        if not isinstance(value, torch.Tensor) or value.dtype != dtype:
            raise Failed(
                f"With {name} parameters it returned {describe(value)}; {name} is wanted.",
                "Make no tensor of a fixed dtype: take dtype and device from an input, as in x.new_zeros(...).",
            )
        if not bool(value.isfinite().all()):
            raise Failed(f"With {name} parameters some entries are not finite.", "Which step overflows in a short dtype?")


def _to(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """Largest difference as a share of the largest entry."""
    size = max(a.abs().max().item(), b.abs().max().item(), 1e-9)  # 1e-9: two outputs of zeros are equal
    return float((a - b).abs().max()) / size


def _shapes(args: tuple[Any, ...]) -> str:
    shown = [str(tuple(a.shape)) if isinstance(a, torch.Tensor) else str(a) for a in args if a is not None]
    return f"inputs {', '.join(shown)}"
