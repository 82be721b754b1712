"""Call a function and note what it did: its value, which inputs it changed, what ran inside it, where it ran."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from attnlab.device_names import CPU, HOME, PRETEND
from attnlab.devices import Placed, default_device_kept, given, no_tf32, places, taken
from attnlab.pretend import PretendGpu

__all__ = ["Outcome", "ran", "record"]


@dataclass(frozen=True)
class Outcome:
    """What one call of an answer did.

    value: what it returned
    changed: positions of the arguments whose contents differ after the call
    operations: number of torch operations that ran
    library: names of torch functions and modules that ran, and of stand-ins as "stand_in:NAME"
    placed: where its tensors were; None where all was on the CPU and nobody asked
    """

    value: Any
    changed: tuple[int, ...] = ()
    operations: int = 0
    library: frozenset[str] = field(default=frozenset())
    placed: Placed | None = None


_names: list[set[str]] = []  # the open recordings, innermost last


def ran(name: str) -> None:
    """Note that `name` ran. Called by the stand-ins, so that a recording sees them too."""
    for names in _names:
        names.add(name)


def record(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, device: str = CPU
) -> Outcome:
    """Call `function(*args, **kwargs)` and note what it did. Whatever it raises passes through.

    device: where the arguments, which are given away, are put first: `attnlab.devices` has the names. The value comes
        back on the CPU whatever the device.
    """
    args = [given(a, device) for a in args]
    kwargs = {name: given(value, device) for name, value in (kwargs or {}).items()}
    before = [_copy(a) for a in args]
    mode = PretendGpu(home=device == HOME) if device in (PRETEND, HOME) else None
    world: AbstractContextManager[Any] = mode or (nullcontext() if device == CPU else no_tf32())
    with default_device_kept(), _recorded() as (names, counter), world:
        value = function(*args, **kwargs)
    changed = tuple(i for i, (a, b) in enumerate(zip(args, before, strict=True)) if not _identical(a, b))
    if device == CPU:
        if torch.cuda.is_initialized():  # the answer may have put its value there by itself
            value = taken(value)
        return Outcome(value, changed, counter.count, frozenset(names))
    placed = Placed(places(value), tuple(mode.trips), mode.named) if mode else Placed(places(value))
    return Outcome(taken(value), changed, counter.count, frozenset(names), placed)


@contextmanager
def _recorded() -> Iterator[tuple[set[str], _Counter]]:
    names: set[str] = set()
    counter = _Counter()
    hook = torch.nn.modules.module.register_module_forward_pre_hook(lambda module, _: ran(type(module).__name__))
    _names.append(names)
    try:
        with _Functions(), counter:
            yield names, counter
    finally:
        _names.remove(names)
        hook.remove()


class _Functions(TorchFunctionMode):
    """Notes the name of every torch function called from Python."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        ran(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class _Counter(TorchDispatchMode):
    """Counts the operations that reach the tensor library, whoever calls them."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else PyTorch loads its compiler with the first call, which takes more than a second and is not used here.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        ran(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _identical(a: Any, b: Any) -> bool:
    """Whether a tensor still holds what it held; other values cannot be changed in place here."""
    if not isinstance(b, torch.Tensor):
        return True
    a = a.detach()
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all())  # the second for what holds NaN
