"""Hold an answer to the clause that it works, and leaves its result, on the device of its inputs; no GPU is needed."""

from __future__ import annotations

from typing import Any

from attnlab.device_names import CPU, HOME, PRETEND
from attnlab.device_words import DEVICE_ERRORS
from attnlab.devices import Placed
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed, Verdict

__all__ = ["heeds_device", "stays_at_home", "stays_on_device"]

_MIXED = (
    "same device",
    "either on cpu or on the same",
    "cuda:0 device type tensor to numpy",
    "device type for generator",
)
"""Parts of what CUDA says where two devices meet. Other errors on a GPU are not what this clause is about."""

_HELP = "Make every new tensor on the device of an input: device=x.device, or x.new_zeros(...)."

_GPU, _HOME = "a GPU", "the CPU of a machine with a GPU"


def stays_on_device(trial: Trial, *args: Any) -> None:
    """Raise Failed where the answer mixes devices, answers on another one than its inputs', or sends them round.

    It is called with inputs on the pretend GPU, and on the real one where the trial has it; where it names a GPU by
    itself, also with inputs on the CPU of a machine with a GPU. What it raises otherwise is another clause's matter.
    """
    if (pretend := _placed(trial, PRETEND, args)) is not None:
        if pretend.trips:
            raise Failed(
                f"With inputs on {_GPU}, {pretend.trips[0]}.",
                "Each such trip makes the GPU wait. Every operation of the course runs on the inputs' device.",
            )
        _all_on(pretend, "cuda:0", _GPU)
        if pretend.named:
            stays_at_home(trial, *args)
    if trial.device != CPU and (real := _placed(trial, trial.device, args)) is not None:
        _all_on(real, "cuda:0", _GPU)


def stays_at_home(trial: Trial, *args: Any) -> None:
    """Raise Failed where the answer, with inputs on the CPU or none, uses a GPU because there is one."""
    if (placed := _placed(trial, HOME, args)) is not None:
        _all_on(placed, CPU, _HOME)


def heeds_device(trial: Trial, *args: Any) -> None:
    """Raise Failed where a function that is told `device` makes its result elsewhere, or elsewhere when told nothing.

    Raises AnswerError where it cannot be told.
    """
    for on in (PRETEND,) if trial.device == CPU else (PRETEND, trial.device):
        try:
            placed = trial.placed(*args, on=on, device="cuda:0").placed
        except AnswerError as error:
            _raise_if_mixed(error, on)
            raise
        if placed is None or not placed.devices or any(found != "cuda:0" for found in placed.devices):
            words = "With another device asked for, the result is still on its usual one."
            raise Failed(words, "Pass device=device on to what makes the first tensor.")
    stays_at_home(trial, *args)


def _placed(trial: Trial, on: str, args: tuple[Any, ...]) -> Placed | None:
    """Where the answer's tensors were in a call; None where it raised what is no device mistake.

    Raises Failed where it mixed devices.
    """
    try:
        return trial.placed(*args, on=on).placed
    except AnswerError as error:
        if error.verdict is not Verdict.ERRORED:
            raise
        _raise_if_mixed(error, on)
        return None


def _raise_if_mixed(error: AnswerError, on: str) -> None:
    kind, _, message = error.rationale.removeprefix("It raised ").partition(": ")
    real = on not in (PRETEND, HOME) and any(part in message for part in _MIXED)
    if kind in DEVICE_ERRORS or real:
        text = message if message.endswith(".") else f"{message}."
        where = _HOME if on == HOME else _GPU
        raise Failed(f"With inputs on {where}: {text}", f"{_HELP} {error.help}".strip()) from None


def _all_on(placed: Placed, device: str, where: str) -> None:
    """Raises Failed where a result is on another device."""
    for found in placed.devices:
        if found != device:
            place = "the CPU" if found == CPU else found
            raise Failed(f"With inputs on {where} the result is on {place}.", _HELP)
