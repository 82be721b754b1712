"""One answer under trial: inputs for it, calls of it, comparisons with what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from attnlab.compare import difference
from attnlab.recording import Outcome, record
from attnlab.verdict import AnswerError, Failed, Verdict

__all__ = ["Answer", "Call", "LocalAnswer", "Trial", "duplicate", "explain"]


class Answer(Protocol):
    """The learner's function, wherever it lives."""

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Outcome:
        """Call it once. Raises AnswerError where no value comes back."""
        ...


@dataclass(frozen=True)
class LocalAnswer:
    """A function of this process, called here and now."""

    function: Callable[..., Any]

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Outcome:
        try:
            return record(self.function, args, kwargs)
        except Exception as error:
            raise AnswerError(Verdict.ERRORED, *explain(error)) from error


@dataclass(frozen=True)
class Call:
    """One call of the answer, kept for the diagnosis.

    args, kwargs: what it was called with, before it ran
    value: what came back; None where it raised
    agrees: whether the value is the reference's; None where nobody compared
    changed: positions of the arguments that it changed
    operations: number of torch operations that it ran
    raised: what it raised, as `explain` says it; "" where it returned
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    value: Any
    agrees: bool | None = None
    changed: tuple[int, ...] = ()
    operations: int = 0
    raised: str = ""


class Trial:
    """What a check is given.

    Inputs are drawn from a generator of the trial's own, so a check sees the same inputs for the same seed whatever
    ran before it. `reference` computes expected values in float64 on the CPU; public checks have none.
    """

    def __init__(
        self,
        answer: Answer,
        *,
        seed: int,
        reference: Callable[..., Any] | None = None,
        device: str = "cpu",
    ) -> None:
        self._answer = answer
        self._reference = reference
        self.device = device
        self.random = torch.Generator().manual_seed(seed)
        self.calls: list[Call] = []
        self.library: set[str] = set()

    # inputs -----------------------------------------------------------------------------------------------------------

    def normal(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """Normal draws of standard deviation `scale`."""
        return (torch.randn(*shape, generator=self.random, dtype=torch.float64) * scale).to(dtype)

    def ids(self, *shape: int, high: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """Integers 0 ... high - 1, held as floats unless another dtype is asked for."""
        return torch.randint(high, shape, generator=self.random).to(dtype)

    def chance(self, *shape: int, p: float = 0.5) -> torch.Tensor:
        """Bool, True with probability p."""
        return torch.rand(*shape, generator=self.random) < p

    # calls ------------------------------------------------------------------------------------------------------------

    def outcome(self, *args: Any, **kwargs: Any) -> Outcome:
        """Call the answer with copies of these inputs on the trial's device."""
        sent = tuple(self._sent(a) for a in args)
        call = Call(tuple(duplicate(a) for a in args), {k: duplicate(v) for k, v in kwargs.items()}, None)
        try:
            result = self._answer(sent, {k: self._sent(v) for k, v in kwargs.items()})
        except AnswerError as error:
            if error.verdict is Verdict.ERRORED:
                self.calls.append(replace(call, raised=error.rationale))
            raise
        self.calls.append(replace(call, value=result.value, changed=result.changed, operations=result.operations))
        self.library |= result.library
        return result

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The answer's value on these inputs."""
        return self.outcome(*args, **kwargs).value

    def expected(self, *args: Any, **kwargs: Any) -> Any:
        """The reference's value on copies of these inputs."""
        if self._reference is None:
            raise TypeError("a public check has no reference")
        return self._reference(*(_copy(a) for a in args), **{k: _copy(v) for k, v in kwargs.items()})

    def matches(self, *args: Any, help: str = "", **kwargs: Any) -> Any:
        """Call answer and reference on the same inputs; raise Failed where they differ. Returns the answer's value."""
        value = self.call(*args, **kwargs)
        found = difference(value, self.expected(*args, **kwargs))
        self.calls[-1] = replace(self.calls[-1], agrees=found is None)
        if found:
            raise Failed(f"On {_shapes(args)}: {found}.", help)
        return value

    def _sent(self, value: Any) -> Any:
        copy = duplicate(value)
        return copy.to(self.device) if isinstance(copy, torch.Tensor) else copy


def duplicate(value: Any) -> Any:
    """A copy of a tensor that lies in memory as the tensor does; any other value as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    if not _dense(value):
        return value.detach().clone()
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(value.detach())


def explain(error: BaseException) -> tuple[str, str]:
    """An exception of the answer as rationale and help."""
    kind, message = type(error).__name__, " ".join(str(error).split())[:300]
    if isinstance(error, NotImplementedError) and not message:  # with a message it is PyTorch's, of a missing kernel
        return "It is not written yet.", "Replace the line 'raise NotImplementedError' by your code."
    return f"It raised {kind}: {message}" if message else f"It raised {kind}.", ""


def _dense(value: torch.Tensor) -> bool:
    """Whether strides can be kept in a copy: no expanded axes."""
    return all(stride > 0 for stride, size in zip(value.stride(), value.shape, strict=True) if size > 1)


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _shapes(args: tuple[Any, ...]) -> str:
    """The inputs in words: tensor shapes, and plain numbers as they are."""
    parts = [str(tuple(a.shape)) if isinstance(a, torch.Tensor) else str(a) for a in args if a is not None]
    return "inputs " + ", ".join(parts) if parts else "no inputs"
