"""What public checks are written with: look at what an answer returned, compare it, move an input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from attnlab.compare import RELATIVE, TIGHTEST, describe, difference
from attnlab.public.examples import EXAMPLES
from attnlab.public.record import right_value
from attnlab.trial import Trial
from attnlab.verdict import Failed

__all__ = ["Hint", "Inputs", "bumped", "changed_rows", "on_record", "same", "tensor", "tensors"]

Inputs = Callable[[Trial], tuple[Any, ...]]
"""Makes the arguments of a call, drawn by the trial."""

Hint = Callable[[Any, Any], str]
"""Called with the answer's value and the right one, when they differ: what to look at, or ""."""

_STEADY = 1e-6  # of the largest entry: far above rounding in float64, far below what a changed input does


def tensor(value: Any, shape: tuple[int, ...] | None = None, what: str = "It") -> torch.Tensor:
    """`value` in float64 on the CPU. Raises Failed where it is not an ordinary tensor, or of another shape."""
    if not isinstance(value, torch.Tensor):
        wanted = f" of shape {shape}" if shape is not None else ""
        raise Failed(f"{what} returned {describe(value)}; a tensor{wanted} is wanted.", "Is there a return line?")
    if value.layout is not torch.strided or value.device.type == "meta" or value.is_quantized or value.dtype.is_complex:
        raise Failed(f"{what} returned a tensor that is not made of ordinary numbers.", "Use plain dense tensors.")
    if shape is not None and tuple(value.shape) != shape:
        raise Failed(f"{what} returned a tensor of shape {tuple(value.shape)}; {shape} is wanted.", "Print the shapes.")
    return value.detach().to("cpu", torch.float64)


def tensors(value: Any, *shapes: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    """As many tensors as there are shapes, each as `tensor` gives it."""
    if not isinstance(value, tuple | list) or len(value) != len(shapes):
        raise Failed(f"It returned {describe(value)}; {len(shapes)} tensors are wanted.", "Look at the return line.")
    return tuple(
        tensor(part, shape, f"Value {i}") for i, (part, shape) in enumerate(zip(value, shapes, strict=True), 1)
    )


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two results are equal but for rounding. NaN equals NaN: it did not move."""
    return a.shape == b.shape and not bool(_apart(a, b).any())


def changed_rows(a: torch.Tensor, b: torch.Tensor) -> list[int]:
    """Positions (the axis before the last) at which two results differ anywhere."""
    apart = _apart(a, b)
    return apart.any(-1).reshape(-1, apart.shape[-2]).any(0).nonzero().flatten().tolist()


def _apart(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    finite = torch.cat([a[a.isfinite()], b[b.isfinite()]]).abs()
    largest = finite.max().item() if finite.numel() else 0.0
    return ~(((a - b).abs() <= _STEADY * largest) | (a == b) | (a.isnan() & b.isnan()))


def bumped(trial: Trial, args: tuple[Any, ...], which: int, at: Any = ...) -> tuple[Any, ...]:
    """The same arguments with other numbers in argument `which`, at the index `at`."""
    changed = args[which].clone()
    changed[at] += trial.normal(*changed[at].shape).to(changed.dtype) + 1.0  # + 1: no draw leaves it where it was
    return (*args[:which], changed, *args[which + 1 :])


def on_record(trial: Trial, example: str, hint: Hint | str = "", *, form: Callable[[Any], Any] | None = None) -> Any:
    """Call the answer on an example whose right value is on record. Raises Failed where it differs.

    form: applied to both values first, to let pass what another check is about
    Returns the answer's value.
    """
    args = EXAMPLES[example].inputs()
    value, right = trial.call(*args), right_value(example)
    if form is not None:
        value, right = form(value), form(right)
    for part in value if isinstance(value, tuple | list) else (value,):
        if isinstance(part, torch.Tensor):
            tensor(part)
    if found := difference(value, right):
        help = hint if isinstance(hint, str) else hint(value, right)
        raise Failed(f"On {_inputs(args)}: {found}{_instance(value, right)}.", help)
    return value


def _inputs(args: tuple[Any, ...]) -> str:
    parts = [f"{tuple(a.shape)}" if isinstance(a, torch.Tensor) else str(a) for a in args if a is not None]
    if len(parts) > 4:  # a line of a report has room for four
        parts = [*parts[:3], "..."]
    return "the example with inputs " + ", ".join(parts)


def _instance(value: Any, right: Any) -> str:
    """The first wrong number and the right one, where a single tensor was returned."""
    if not isinstance(value, torch.Tensor) or not isinstance(right, torch.Tensor) or value.shape != right.shape:
        return f" ({value} where {right} is right)" if _is_number(value) and _is_number(right) else ""
    got, want = tensor(value), right.double()
    largest = want.abs().max().item() if want.numel() else 0.0
    wrong = ~((got - want).abs() <= max(RELATIVE * largest, TIGHTEST))
    if not wrong.any():
        return ""
    return f" ({got[wrong][0].item():.4g} where {want[wrong][0].item():.4g} is right)"


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
