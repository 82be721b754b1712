"""What checks of masks ask of a value."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.compare import describe
from attnlab.verdict import Failed
from solutions.hidden.agreement import tensors

__all__ = ["is_bool", "only_tensor"]


def only_tensor(value: Any) -> torch.Tensor:
    """The value, which must be a tensor that holds something. Raises Failed."""
    found = tensors(value)
    if not isinstance(value, torch.Tensor) or not found or not value.numel():
        raise Failed(f"It returned {describe(value)}; a tensor is wanted.", "End with a return of what you computed.")
    return found[0]


def is_bool(table: torch.Tensor) -> None:
    """Raise Failed where the mask holds numbers."""
    if table.dtype != torch.bool:
        got = str(table.dtype).removeprefix("torch.")
        raise Failed(f"Its dtype is {got}; bool is wanted.", "A comparison such as a >= b gives bool by itself.")
