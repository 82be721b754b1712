"""Marks on the memory of tensors: which are on the pretend GPU, and where those of the CPU come from.

A mark is an attribute of the storage, so that views share it and no tensor has to be of another class.
"""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["LEFT", "MADE", "mark", "marked", "on_gpu", "put_on_gpu", "storage_of"]

ON_GPU, MADE, LEFT = "_pretend_gpu", "_pretend_made", "_pretend_left"
"""It is on the GPU; the function that made it on the CPU; how its numbers came from the GPU to the CPU."""


def _storage(tensor: torch.Tensor) -> Any:
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # sparse and quantised tensors have none: on the CPU, as far as we know
        return None


def mark(tensor: torch.Tensor, name: str, value: Any) -> None:
    """Set a mark. What has no storage cannot have one."""
    with torch._C.DisableTorchFunction():
        storage = _storage(tensor)
    if storage is not None:
        setattr(storage, name, value)


def marked(tensor: torch.Tensor, name: str) -> Any:
    """The value of a mark, or None."""
    with torch._C.DisableTorchFunction():
        return getattr(_storage(tensor), name, None)


def put_on_gpu(tensor: torch.Tensor) -> torch.Tensor:
    """Mark a tensor, and all that share its memory, as on the pretend GPU. Returns the same tensor."""
    mark(tensor, ON_GPU, True)
    return tensor


def on_gpu(tensor: torch.Tensor) -> bool:
    """Whether a tensor is marked as on the pretend GPU."""
    return bool(marked(tensor, ON_GPU))


def storage_of(tensor: torch.Tensor) -> int:
    """A number by which the memory of a tensor is known while it lives."""
    with torch._C.DisableTorchFunction():
        storage = _storage(tensor)
    return id(tensor) if storage is None else int(storage._cdata)
