"""Tell whether a faulty reference does what an answer did. Values are compared and never evaluated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from attnlab.trial import Call, duplicate, explain

__all__ = ["Behaviour", "behave", "unlike"]

SLACK = 2e-5
"""How far apart, as a share of the largest entry, two honest styles with the same fault may lie: they differ by up to
1.1e-5 in float64. A fifth of what a check forgives, so that faults stay apart which a check would call equal."""

ROUNDINGS = 1000
"""The same in units of the coarsest dtype on either side: 1.2e-4 for float32. For bfloat16 it says nothing, and only
shape, dtype and the places of NaN and infinity are compared."""

FLOOR = 1e-3
"""Entries are never measured against less than this: what ought to be zero is rounding noise of entries near 1."""

WHOLE = {torch.int32, torch.int64}
"""Dtypes of ids between which styles may choose."""

DEPTH, LENGTH = 3, 4096
"""Containers deeper or longer than this are no value of any exercise, and are unlike everything."""


@dataclass(frozen=True)
class Behaviour:
    """What one call of a function did, in the terms of `attnlab.trial.Call`."""

    value: Any = None
    changed: tuple[int, ...] = ()
    raised: str = ""


def behave(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Behaviour:
    """Call one of our own functions with copies of these inputs and note what it does."""
    sent = tuple(duplicate(a) for a in args)
    try:
        value = function(*sent, **{k: duplicate(v) for k, v in kwargs.items()})
    except Exception as error:
        return Behaviour(raised=explain(error)[0])
    return Behaviour(value, tuple(i for i, (a, b) in enumerate(zip(sent, args, strict=True)) if _changed(a, b)))


def unlike(seen: Call | Behaviour, ours: Behaviour, coarsest: torch.dtype = torch.float64) -> float:
    """How far two behaviours lie apart: 0 for the same, up to 1 for what another style explains, inf beyond.

    coarsest: the coarsest floating dtype among the inputs
    Two exceptions of one kind are 1 apart where their messages differ: another style words its slip differently.
    """
    if seen.raised or ours.raised:
        if seen.raised == ours.raised:
            return 0.0
        return 1.0 if _kind(seen.raised) == _kind(ours.raised) else math.inf
    if seen.changed != ours.changed:
        return math.inf
    return _values_unlike(seen.value, ours.value, coarsest, DEPTH)


def _values_unlike(seen: Any, ours: Any, coarsest: torch.dtype, depth: int) -> float:
    if type(ours) in (tuple, list):
        if type(seen) not in (tuple, list) or len(seen) != len(ours) or len(ours) > LENGTH or not depth:
            return math.inf
        pairs = zip(seen, ours, strict=True)
        return max((_values_unlike(a, b, coarsest, depth - 1) for a, b in pairs), default=0.0)
    if type(ours) in (bool, int, float):
        return _numbers_unlike(seen, ours)
    if isinstance(ours, torch.Tensor):
        if type(seen) in (bool, int, float) and not ours.dim() and not ours.is_meta:
            return _numbers_unlike(seen, ours.item())
        return _tensors_unlike(seen, ours, coarsest) if isinstance(seen, torch.Tensor) else math.inf
    return 0.0 if ours is None and seen is None else math.inf


def _numbers_unlike(seen: Any, ours: float) -> float:
    if isinstance(seen, torch.Tensor) and not seen.dim() and seen.layout == torch.strided and not seen.is_meta:
        seen = seen.item()
    if type(seen) is not type(ours):
        return math.inf
    if type(ours) is not float:
        return 0.0 if seen == ours else math.inf
    return _numbers_apart(seen, ours)


def _numbers_apart(seen: float, ours: float) -> float:
    if not (math.isfinite(seen) and math.isfinite(ours)):
        return 0.0 if seen == ours or (math.isnan(seen) and math.isnan(ours)) else math.inf
    return _within(abs(seen - ours) / max(abs(ours), FLOOR), SLACK)


def _tensors_unlike(seen: torch.Tensor, ours: torch.Tensor, coarsest: torch.dtype) -> float:
    if seen.shape != ours.shape or seen.is_meta != ours.is_meta or seen.layout != ours.layout:
        return math.inf
    if not (ours.is_floating_point() and seen.is_floating_point()):
        if ours.is_floating_point() or seen.is_floating_point() or seen.dtype.is_complex or ours.dtype.is_complex:
            return math.inf
        if seen.dtype != ours.dtype and not {seen.dtype, ours.dtype} <= WHOLE:
            return math.inf
        same = ours.is_meta or torch.equal(seen.detach().cpu().long(), ours.cpu().long())
        return float(seen.dtype != ours.dtype) if same else math.inf
    if seen.dtype != ours.dtype:
        return math.inf
    if ours.is_meta or not ours.numel():
        return 0.0
    a, b = (t.detach().to("cpu", torch.float64) for t in (seen, ours))
    usual = b.isfinite()
    if not torch.equal(a.isfinite(), usual) or not torch.equal(a[~usual].nan_to_num(), b[~usual].nan_to_num()):
        return math.inf
    largest = max(b[usual].abs().max().item(), FLOOR) if usual.any() else FLOOR
    gap = (a[usual] - b[usual]).abs().max().item() / largest if usual.any() else 0.0
    slack = max(SLACK, *(ROUNDINGS * torch.finfo(dtype).eps for dtype in (coarsest, ours.dtype)))
    return _within(gap, slack)


def _within(gap: float, slack: float) -> float:
    return gap / slack if gap <= slack else math.inf


def _kind(raised: str) -> str:
    """The class of an exception that `explain` put into words; its first sentence up to the message."""
    return raised.split(":", 1)[0].rstrip(".")


def _changed(after: Any, before: Any) -> bool:
    if not isinstance(before, torch.Tensor) or before.is_meta:
        return False
    if after.shape != before.shape or after.dtype != before.dtype:
        return True
    if torch.equal(after, before):  # all but inputs that hold NaN end here
        return False
    return not bool(((after == before) | ((after != after) & (before != before))).all())
