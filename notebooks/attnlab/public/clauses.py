"""Checks that nearly every exercise has, made for each from its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from attnlab.checking import Check, check_of
from attnlab.placement import stays_on_device
from attnlab.public.probes import Inputs, bumped, same, tensor
from attnlab.trial import Trial
from attnlab.verdict import Failed

__all__ = ["answers_to_every_input", "examples_are_independent", "keeps_dtype", "leaves_inputs_alone"]

Change = Callable[[tuple[Any, ...]], tuple[Any, ...]]
"""Called with a call's arguments; gives others, in which only example 1 of the batch differs."""


def answers_to_every_input(
    exercise: str,
    inputs: Inputs,
    parts: Mapping[str, tuple[int, Any, str]],
    *,
    points: float,
    shape: tuple[int, ...],
) -> Check:
    """A check that the output has `shape`, is the same twice, and moves with each of `parts`.

    parts: what is changed in words, to the argument, the index into it (... for all), and the help if nothing moves
    """

    @check_of(exercise, points=points, kind="metamorphic")
    def answers_to_every_input(trial: Trial) -> None:
        """The output has the right shape, is the same in every call, and depends on every input."""
        args = inputs(trial)
        first = tensor(trial.call(*args), shape)
        if not same(first, tensor(trial.call(*args), shape)):
            raise Failed("Two calls with the same inputs gave different results.", "Is dropout on, or anything random?")
        for words, (which, at, help) in parts.items():
            if same(first, tensor(trial.call(*bumped(trial, args, which, at)), shape)):
                raise Failed(f"Changing {words} changes nothing in the output.", help)

    return answers_to_every_input


def examples_are_independent(
    exercise: str, inputs: Inputs, change: tuple[int, ...] | Change, *, points: float, needs: tuple[str, ...]
) -> Check:
    """A check that changing example 1 leaves the output of example 0 alone.

    change: positions of the arguments that have a batch axis, or what makes other arguments of some
    """

    @check_of(exercise, points=points, kind="metamorphic", needs=needs)
    def examples_are_independent(trial: Trial) -> None:
        """Changing one example of the batch leaves the others as they were."""
        args = changed = inputs(trial)
        if callable(change):
            changed = change(args)
        else:
            for which in change:
                changed = bumped(trial, changed, which, 1)
        if not same(tensor(trial.call(*args))[0], tensor(trial.call(*changed))[0]):
            raise Failed(
                "Changing example 1 changed the output of example 0.",
                "Does a softmax, a norm or a reshape run over the batch axis? Library modules want batch_first=True.",
            )

    return examples_are_independent


def keeps_dtype(
    exercise: str, inputs: Inputs, *, points: float, needs: tuple[str, ...], masked: Inputs | None = None
) -> Check:
    """A check that float32 goes in and finite float32 comes out, on the device of the inputs.

    masked: other arguments, with a mask or without, for which only the device is looked at
    """

    @check_of(exercise, points=points, kind="contract", needs=needs)
    def keeps_dtype(trial: Trial) -> None:
        """float32 in, float32 out, on the device of the inputs."""
        args = tuple(
            a.float() if isinstance(a, torch.Tensor) and a.dtype == torch.float64 else a for a in inputs(trial)
        )
        value = trial.call(*args)
        for part in value if isinstance(value, tuple | list) else (value,):
            if not tensor(part).isfinite().all():
                raise Failed("With float32 inputs some results are not finite numbers.", "Does a number overflow?")
            if part.dtype != torch.float32:
                kind = str(part.dtype).removeprefix("torch.")
                raise Failed(
                    f"With float32 inputs the result is {kind}.",
                    "Make new tensors with the dtype of an input, and cast back what you cast.",
                )
        stays_on_device(trial, *args)
        if masked is not None:
            stays_on_device(trial, *masked(trial))

    return keeps_dtype


def leaves_inputs_alone(exercise: str, inputs: Inputs, *, points: float, needs: tuple[str, ...]) -> Check:
    """A check that the arguments hold after the call what they held before."""

    @check_of(exercise, points=points, kind="contract", needs=needs)
    def leaves_inputs_alone(trial: Trial) -> None:
        """The inputs hold the same numbers after the call as before."""
        changed = trial.outcome(*inputs(trial)).changed
        if changed:
            place = ", ".join(str(i + 1) for i in changed)
            raise Failed(
                f"After the call, input {place} is not what it was.",
                "Methods that end in _ and assignments into x[...] change x itself, through a view too; use a copy.",
            )

    return leaves_inputs_alone
