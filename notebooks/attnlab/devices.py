"""Where an answer is run: how arguments get to a device, and where what comes back was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from attnlab.device_marks import on_gpu, put_on_gpu
from attnlab.device_names import CPU, HOME, PRETEND
from attnlab.pretend import CUDA

__all__ = ["Placed", "default_device_kept", "given", "no_tf32", "places", "taken"]


@dataclass(frozen=True)
class Placed:
    """Where the tensors of a call were.

    devices: of each tensor of the value, in order, such as "cuda:0"
    trips: tensors that went to the CPU and came back, in words; only the pretend GPU knows
    named: whether the code named a GPU by itself; only the pretend GPU knows
    """

    devices: tuple[str, ...]
    trips: tuple[str, ...] = ()
    named: bool = False


def given(value: Any, device: str) -> Any:
    """An argument on a device. A tensor for the pretend GPU is marked as it is, without a copy."""
    if not isinstance(value, torch.Tensor) or device in (CPU, HOME):
        return value
    return put_on_gpu(value) if device == PRETEND else value.to(device)


def taken(value: Any) -> Any:
    """A value with its tensors on the CPU. The pretend GPU's are there."""
    if type(value) in (tuple, list):
        return type(value)(map(taken, value))
    return value.cpu() if type(value) is torch.Tensor and value.device.type == "cuda" else value


def places(value: Any) -> tuple[str, ...]:
    """Where the tensors of a value are."""
    if type(value) in (tuple, list):
        return tuple(place for part in value for place in places(part))
    if not isinstance(value, torch.Tensor):
        return ()
    return (str(CUDA) if on_gpu(value) else str(value.device),)


@contextmanager
def default_device_kept() -> Iterator[None]:
    """Put torch's default device back to what it was: an answer may set it, and its notebook goes on after the call."""
    before = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    try:
        yield
    finally:
        if getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None) is not before:
            torch.set_default_device(None if before is None else before.device)


@contextmanager
def no_tf32() -> Iterator[None]:
    """Multiply float32 on the GPU in float32.

    TF32 keeps 10 bits of each factor: results are off by 1e-3, ten times the tolerance of a comparison, so an answer
    that works in float32 would pass on the CPU and fail on some GPUs.
    """
    matmul: Any = torch.backends.cuda.matmul
    cudnn: Any = torch.backends.cudnn
    # torch has an old and a new way to say it: to read the old way raises where somebody has set the new one
    before = matmul.fp32_precision == "tf32", cudnn.conv.fp32_precision == "tf32"
    matmul.allow_tf32 = cudnn.allow_tf32 = False
    try:
        yield
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = before
