"""Call a function of the learner for a picture: what it gave, or in words why there is nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attnlab.deadline import TooLongError, deadline
from attnlab.trial import duplicate

__all__ = ["Attempt", "attempt", "failure", "name_of", "together"]

_NOT_WRITTEN = " is not written yet. Write it, run its cell, then this one again."
SECONDS = 3.0  # a picture's call takes milliseconds; an endless loop must not block the notebook


@dataclass(frozen=True)
class Attempt:
    """What one call gave.

    value: what came back; None where nothing did
    problem: why nothing did, in a sentence; "" where it returned
    """

    value: Any = None
    problem: str = ""


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Attempt:
    """Call `function` with copies of these arguments. Raises nothing but the learner's own interrupt."""
    try:
        with deadline(SECONDS), torch.no_grad():
            return Attempt(function(*map(duplicate, args), **{k: duplicate(v) for k, v in kwargs.items()}))
    except TooLongError:
        return Attempt(problem=f"{name_of(function)} ran for more than {SECONDS:g} seconds and was stopped.")
    except Exception as error:
        return Attempt(problem=failure(error, name_of(function), args))


def failure(error: BaseException, name: str, args: tuple[Any, ...] = ()) -> str:
    """An exception in one sentence: whose, type, message, and the shapes that went in."""
    if isinstance(error, NotImplementedError):
        return f"{_unwritten(error, name)}{_NOT_WRITTEN}"
    message = " ".join(str(error).split())[:300]  # some list every element of a tensor
    shapes = [str(tuple(a.shape)) for a in args if isinstance(a, torch.Tensor)]
    given = f" It was given tensors of shape {', '.join(shapes)}." if shapes else ""
    return f"{name} raised {type(error).__name__}{': ' if message else ''}{message.removesuffix('.')}.{given}"


def together(problems: Sequence[str]) -> str:
    """Several problems, each once; functions that are not written yet share a sentence."""
    names = [p.removesuffix(_NOT_WRITTEN) for p in dict.fromkeys(problems) if p.endswith(_NOT_WRITTEN)]
    others = [p for p in dict.fromkeys(problems) if not p.endswith(_NOT_WRITTEN)]
    if len(names) < 2:
        return " ".join(dict.fromkeys(problems))
    told = f"{names[0]} is not written yet, nor {'is' if len(names) == 2 else 'are'} {' and '.join(names[1:])}."
    return " ".join([*others, f"{told} Write them, run their cells, then this one again."])


def name_of(function: Any) -> str:
    """What the learner calls the function."""
    name = getattr(function, "__name__", type(function).__name__)
    return "Your function" if name == "<lambda>" else str(name)


def _unwritten(error: BaseException, name: str) -> str:
    """The function whose stub raised: the innermost one on the way down."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    inner = trace.tb_frame.f_code.co_name if trace is not None else name
    return name if inner.startswith("<") else inner
