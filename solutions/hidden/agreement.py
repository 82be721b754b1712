"""The few forms that hidden checks take: equal to the reference, alive, unchanged inputs, kept dtype, moved or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from attnlab.compare import describe, difference
from attnlab.placement import stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.asking import cast, outcome_of, readable
from solutions.hidden.fingerprints import Fingerprint, first_seen

__all__ = [
    "agrees", "alive", "alive_in_batch", "asked", "equal", "examples_apart", "keeps_dtype", "leaves_inputs", "moves",
    "plain", "replaced", "shaped", "shapes", "stays", "tensors",
]  # fmt: skip

Args = tuple[Any, ...]


def tensors(value: Any) -> tuple[torch.Tensor, ...]:
    """The ordinary tensors in an answer's value: real numbers, dense, with contents."""
    parts = value if isinstance(value, tuple | list) else (value,)
    return tuple(filter(readable, parts))


def replaced(args: Args, **changes: Any) -> Args:
    """The arguments with others at some positions: replaced(args, a1=x) puts x at position 1."""
    new = list(args)
    for key, value in changes.items():
        new[int(key[1:])] = value
    return tuple(new)


def agrees(
    trial: Trial,
    *args: Any,
    look: Sequence[Fingerprint] = (),
    help: str = "",
    part: Callable[[Any], Any] = lambda value: value,
) -> Any:
    """Call answer and reference on these inputs. Raises Failed where they differ, with the first trace that shows.

    part: called with each of both values; what it returns is compared
    returns: the answer's value

    An answer that refuses float64 is asked again in float32: the dtype is another check's clause.
    """
    value = asked(trial, *args)
    got, want = part(value), part(trial.expected(*args))
    parts = got if isinstance(got, tuple | list) else (got,)
    odd = any(isinstance(one, torch.Tensor) and not tensors(one) for one in parts)
    found = f"it returned {describe(got)}, of a kind that cannot be compared" if odd else difference(got, want)
    trial.calls[-1] = replace(trial.calls[-1], agrees=found is None)
    if found is None:
        return value
    # traces are looked for where positions can be compared
    comparable = len(tensors(got)) == 1 and isinstance(want, torch.Tensor) and got.shape == want.shape
    seen = first_seen(plain(got), plain(want), look) if comparable else None
    what = f"On inputs {shapes(args)}: {found}."
    raise Failed(f"{what} {seen.words}." if seen else what, (seen.help if seen else "") or help)


def alive(trial: Trial, args: Args, others: Sequence[Args], shape: tuple[int, ...] | None = None) -> Any:
    """Raise Failed for an answer that does nothing.

    others: other arguments, each of which gives another output
    shape: that of the (first) output; None where the shape is another check's clause
    returns: the answer's value
    """
    value = asked(trial, *args)
    found = tensors(value)
    if not found:
        raise Failed(f"It returned {describe(value)}; a tensor is wanted.", "End with a return of what you computed.")
    first = found[0]
    if shape is not None and tuple(first.shape) != shape:
        raise Failed(f"On inputs {shapes(args)} its shape is {tuple(first.shape)}; {shape} is wanted.")
    if any(equal((out,), (given,)) for out in found for given in args if isinstance(given, torch.Tensor)):
        raise Failed("It returned one of its inputs as it is.")
    if not equal(tensors(asked(trial, *args)), found):
        help = "Is something random in it, such as dropout?"
        raise Failed("Two calls with the same inputs gave different outputs.", help)
    for other in others:
        if equal(tensors(asked(trial, *other)), found):
            raise Failed("Another input gives the same output.", "The output ought to be computed from the input.")
    return value


def alive_in_batch(trial: Trial, args: Args, batched: Sequence[int]) -> None:
    """As `alive`, in one call, for a function that keeps examples apart; the output is shaped like the first input.

    batched: positions of the arguments (1, ...) that have a batch axis
    """
    # examples 0 and 1 are equal, example 2 is drawn anew
    stacked = {f"a{i}": torch.cat([args[i], args[i], trial.normal(*args[i].shape)]) for i in batched}
    args = replaced(args, **stacked)
    out = shaped(trial, args, tuple(args[0].shape))
    if any(equal((out,), (args[i],)) for i in batched):
        raise Failed("It returned one of its inputs as it is.")
    if not equal((out[0],), (out[1],)):
        help = "Is something random in it, such as dropout?"
        raise Failed("Two equal examples of one batch came out different.", help)
    if equal((out[0],), (out[2],)):
        raise Failed("Two different examples came out the same.", "The output ought to be computed from the inputs.")


def leaves_inputs(trial: Trial, *args: Any, names: str) -> None:
    """Raise Failed where the call changed an argument. names: the arguments' names, with commas."""
    changed = outcome_of(trial, *args).changed
    if changed:
        name = names.split(",")[changed[0]].strip()
        help = "masked_fill_ and other names that end in _, += and x[...] = write into the tensor that you were given."
        raise Failed(f"After the call {name} holds other values than before.", help)


def keeps_dtype(trial: Trial, *args: Any) -> None:
    """Raise Failed where the output's dtype is not that of the floating-point inputs, or it is on another device."""
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        value = trial.call(*(cast(a, dtype) for a in args))
        name = str(dtype).removeprefix("torch.")
        for out in tensors(value):
            if out.dtype != dtype:
                got = str(out.dtype).removeprefix("torch.")
                help = "Make new tensors with the dtype of the inputs: dtype=x.dtype, or x.new_zeros(...)."
                raise Failed(f"With {name} inputs the output is {got}.", help)
            if not out.isfinite().all():
                raise Failed(f"With {name} inputs the output holds NaN or infinity.")
    if not tensors(value):
        raise Failed(f"It returned {describe(value)}; a tensor is wanted.")
    stays_on_device(trial, *args)
    if isinstance(args[-1], torch.Tensor) and args[-1].dtype == torch.bool:  # a mask, which may be left out
        stays_on_device(trial, *args[:-1])


def stays(before: torch.Tensor, after: torch.Tensor, rationale: str, help: str = "") -> None:
    """Raise Failed unless both are equal."""
    if not equal((after,), (before,)):
        raise Failed(rationale, help)


def moves(before: torch.Tensor, after: torch.Tensor, rationale: str, help: str = "") -> None:
    """Raise Failed if both are equal, or if either holds NaN."""
    if before.isnan().any() or after.isnan().any():
        raise Failed("The output holds NaN.", help)
    if equal((after,), (before,)):
        raise Failed(rationale, help)


def examples_apart(trial: Trial, args: Args, other: Args, shape: tuple[int, ...]) -> None:
    """Raise Failed where example 0 changes with the other examples.

    other: the same arguments, with other values in examples 1 and up
    shape: the output's
    """
    before, after = (shaped(trial, a, shape) for a in (args, other))
    help = "Every example is worked on alone: over which axes do you normalise, attend or reshape?"
    stays(before[0], after[0], "Example 0 of the output changes when only other examples change.", help)


def shaped(trial: Trial, args: Args, shape: tuple[int, ...]) -> torch.Tensor:
    """The answer's (first) tensor on these inputs. Raises Failed where there is none of this shape."""
    value = asked(trial, *args)
    found = tensors(value)
    if not found or tuple(found[0].shape) != shape:
        raise Failed(f"On inputs {shapes(args)} it returned {describe(value)}; a tensor of shape {shape} is wanted.")
    return plain(found[0])


def asked(trial: Trial, *args: Any) -> Any:
    """The answer's value; one that refuses float64 is asked in float32."""
    return outcome_of(trial, *args).value


def equal(some: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
    """Whether two outputs are the same by the course's tolerance. NaN is equal to nothing."""
    if len(some) != len(others):
        return False
    return all(difference(plain(a), plain(b)) is None for a, b in zip(some, others, strict=True))


def plain(value: torch.Tensor) -> torch.Tensor:
    """As `difference` wants it."""
    return value.detach().to("cpu", torch.float64)


def shapes(args: Args) -> str:
    """The arguments in words: tensor shapes, and plain numbers as they are."""
    return ", ".join(str(tuple(a.shape)) if isinstance(a, torch.Tensor) else str(a) for a in args if a is not None)
