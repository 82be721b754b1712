"""One answer under trial: inputs for it, calls of it, comparisons with what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from attnlab.compare import difference
from attnlab.device_names import CPU, PRETEND
from attnlab.recording import Outcome, record
from attnlab.verdict import AnswerError, Failed, Verdict

__all__ = ["Answer", "Call", "LocalAnswer", "Trial", "duplicate", "explain"]

_NO_GPU = ("not compiled with CUDA", "No CUDA GPUs are available", "Found no NVIDIA driver")
"""Parts of what torch says where there is no GPU."""


class Answer(Protocol):
    """The learner's function, wherever it lives."""

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str = CPU) -> Outcome:
        """Call it once, with these arguments on a device. Raises AnswerError where no value comes back.

        device: a name of `attnlab.devices`; given only where it is not the CPU
        """
        ...


@dataclass(frozen=True)
class LocalAnswer:
    """A function of this process, called here and now."""

    function: Callable[..., Any]

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str = CPU) -> Outcome:
        try:
            return record(self.function, args, kwargs, device)
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
        device: str = CPU,
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
        """Call the answer with copies of these inputs on the trial's device.

        A device mistake does not count here: it has its own check, and costs no other. So where the answer raises on a
        GPU it is called on the CPU, and where it asks for a GPU on a machine that has none, on the pretend one.
        """
        call = Call(tuple(duplicate(a) for a in args), {k: duplicate(v) for k, v in kwargs.items()}, None)
        try:
            try:
                result = self._sent(args, kwargs, self.device)
            except AnswerError as error:
                other = self._other_device(error)
                if other is None:
                    raise
                result = self._other_try(args, kwargs, other, error)
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

    def placed(self, *args: Any, on: str, **kwargs: Any) -> Outcome:
        """Call the answer with copies of these inputs on a device, to see where its tensors are.

        The diagnosis does not see this call. Raises AnswerError where the answer raises.
        """
        result = self._sent(args, kwargs, on)
        self.library |= result.library
        return result

    def _sent(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str) -> Outcome:
        copies = tuple(map(duplicate, args)), {name: duplicate(value) for name, value in kwargs.items()}
        return self._answer(*copies) if device == CPU else self._answer(*copies, device)

    def _other_device(self, error: AnswerError) -> str | None:
        if error.verdict is not Verdict.ERRORED:
            return None
        if self.device != CPU:
            return CPU
        return PRETEND if any(words in error.rationale for words in _NO_GPU) else None

    def _other_try(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str, first: AnswerError) -> Outcome:
        try:
            return self._sent(args, kwargs, device)
        except AnswerError as error:
            if device == PRETEND and error.verdict is Verdict.ERRORED:
                raise first from None  # the learner is told what happens on a machine such as this
            raise


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
