"""Hold an answer to the clause that it works, and leaves its result, on the device of its inputs; no GPU is needed."""

from __future__ import annotations

from typing import Any

from attnlab.device_words import DEVICE_ERRORS
from attnlab.devices import CPU, HOME, PRETEND, Placed
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed, Verdict

__all__ = ["placed_on", "stays_on_device"]

_MIXED = (
    "same device",
    "either on cpu or on the same",
    "cuda:0 device type tensor to numpy",
    "device type for generator",
)
"""Parts of what CUDA says where two devices meet. Other errors on a GPU are not what this clause is about."""

_HELP = "Make every new tensor on the device of an input: device=x.device, or x.new_zeros(...)."


def stays_on_device(trial: Trial, *args: Any) -> None:
    """Raise Failed where the answer mixes devices, answers on another one than its inputs', or sends them round.

    It is called with inputs on the pretend GPU, and on the real one where the trial has it; where it names a GPU by
    itself, also with inputs on the CPU of a machine with a GPU.
    """
    pretend = placed_on(trial, PRETEND, *args)
    _all_on(pretend, "cuda:0", "a GPU")
    if pretend is not None and pretend.trips:
        raise Failed(
            f"With inputs on a GPU, {pretend.trips[0]}.",
            "Each such trip makes the GPU wait. Every operation of the course runs on the inputs' device.",
        )
    if pretend is not None and pretend.named:
        _all_on(placed_on(trial, HOME, *args), CPU, "the CPU of a machine with a GPU")
    if trial.device != CPU:
        _all_on(placed_on(trial, trial.device, *args), "cuda:0", "a GPU")


def placed_on(trial: Trial, device: str, *args: Any, **kwargs: Any) -> Placed | None:
    """Where the answer's tensors were in a call on this device; None where it raised what is no device mistake.

    Raises Failed where it mixed devices.
    """
    try:
        return trial.placed(*args, device=device, **kwargs).placed
    except AnswerError as error:
        if error.verdict is not Verdict.ERRORED:
            raise
        words = error.rationale.removeprefix("It raised ")
        kind, _, message = words.partition(": ")
        if kind not in DEVICE_ERRORS and not (device != HOME and any(part in message for part in _MIXED)):
            return None
        where = "the CPU of a machine with a GPU" if device == HOME else "a GPU"
        text = message if message.endswith(".") else f"{message}."
        raise Failed(f"With inputs on {where}: {text}", " ".join(filter(None, (_HELP, error.help)))) from None


def _all_on(placed: Placed | None, device: str, where: str) -> None:
    """Raises Failed where a result is on another device."""
    for found in placed.devices if placed else ():
        if found != device:
            place = "the CPU" if found == CPU else found
            raise Failed(f"With inputs on {where} the result is on {place}.", _HELP)
