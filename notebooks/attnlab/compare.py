"""Compare an answer's value with what was expected, and say in words how they differ."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["RELATIVE", "TIGHTEST", "describe", "difference"]

RELATIVE = 1e-4
"""Tolerance as a share of the largest expected entry: honest styles differ by up to 1.1e-5 in float64, real mistakes
on the crafted inputs by far more."""

TIGHTEST = 1e-5
"""The tolerance never falls below this, so that expected zeros do not ask for exactness."""


def difference(actual: Any, expected: Any) -> str | None:
    """Say how `actual` differs from `expected`, or None where they agree.

    Values are compared in float64 on the CPU; dtype and device are not compared. A 0-dim tensor stands for its number,
    a list for a tuple. No value of either side is quoted: positions, shapes and sizes only.
    """
    if isinstance(expected, tuple):
        if not isinstance(actual, tuple | list) or len(actual) != len(expected):
            return f"it returned {describe(actual)}; {len(expected)} values are wanted"
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            if found := difference(a, e):
                return f"value {i + 1} of {len(expected)}: {found}"
        return None
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(actual, expected)
    if isinstance(expected, bool | int | float):
        return _number_difference(actual, expected)
    raise TypeError(f"cannot compare with {type(expected).__name__}")


def describe(value: Any) -> str:
    """Name a value by its kind and shape, without its contents."""
    if value is None:
        return "None"
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)} and {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    article = "an" if type(value).__name__[0] in "aeiou" else "a"
    return f"{article} {type(value).__name__}"


def _tensor_difference(actual: Any, expected: torch.Tensor) -> str | None:
    if not isinstance(actual, torch.Tensor):
        return f"it returned {describe(actual)}; a tensor is wanted"
    if actual.shape != expected.shape:
        return f"its shape is {tuple(actual.shape)}; {tuple(expected.shape)} is wanted"
    if actual.dtype.is_complex:
        return "it holds complex numbers"
    got, want = (t.detach().to("cpu", torch.float64) for t in (actual, expected))
    wrong = _wrong(got, want)
    if not wrong.any():
        return None
    first = tuple(wrong.nonzero()[0].tolist()) if wrong.dim() else ()
    at = f" at {list(first)}" if first else ""
    count = f"{int(wrong.sum())} of {wrong.numel()} entries differ" if wrong.dim() else "it differs"
    if got.isnan().any():
        where = got.isnan()
        spot = f" (first at {where.nonzero()[0].tolist()})" if where.dim() else ""
        return f"{int(where.sum())} of {where.numel()} entries are NaN{spot}"
    gap = (got - want).abs()[wrong].max().item()
    return f"{count}, the first{at}, by up to {gap:.3g}" if wrong.dim() else f"{count} by {gap:.3g}"


def _wrong(got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    """Bool, True where an entry is outside the tolerance. NaN is always wrong; infinities must be equal."""
    finite = want[want.isfinite()].abs()
    largest = finite.max().item() if finite.numel() else 0.0
    near = (got - want).abs() <= max(RELATIVE * largest, TIGHTEST)
    return ~(near | (got == want))


def _number_difference(actual: Any, expected: float) -> str | None:
    if isinstance(actual, torch.Tensor):
        if actual.numel() != 1 or actual.dim() > 1:
            return f"it returned {describe(actual)}; one number is wanted"
        actual = actual.item()
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return f"it returned {describe(actual)}; one number is wanted"
    if isinstance(expected, int) and not isinstance(expected, bool):
        return None if actual == expected else "it is another number"
    gap = abs(actual - expected)
    return None if gap <= max(RELATIVE * abs(expected), TIGHTEST) else f"it is off by {gap:.3g}"
