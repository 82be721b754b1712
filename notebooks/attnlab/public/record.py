"""The right values of the recorded examples, as the reference gave them when the course was built."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import torch

__all__ = ["decode", "encode", "right_value"]


def right_value(example: str) -> Any:
    """The value on record for an example of `attnlab.public.examples`. Raises KeyError where there is none."""
    return decode(_record()[example])


def encode(value: Any) -> Any:
    """A value as plain data, numbers rounded to 10 significant digits: far finer than any tolerance, and the same
    text whichever way a machine sums."""
    if isinstance(value, tuple):
        return [encode(part) for part in value]
    if isinstance(value, torch.Tensor):
        flat = value.reshape(-1).tolist()
        kind = str(value.dtype).removeprefix("torch.")
        return {"dtype": kind, "shape": list(value.shape), "values": [_rounded(x) for x in flat]}
    return _rounded(value)


def decode(data: Any) -> Any:
    """The inverse of `encode`."""
    if isinstance(data, list):
        return tuple(decode(part) for part in data)
    if isinstance(data, dict):
        return torch.tensor(data["values"], dtype=getattr(torch, data["dtype"])).reshape(data["shape"])
    return data


def _rounded(number: float) -> float:
    return float(f"{number:.10g}") if isinstance(number, float) else number


@cache
def _record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("recorded.json").read_text(encoding="utf-8"))
    return found
