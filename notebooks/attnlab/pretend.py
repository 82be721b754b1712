"""A pretend GPU: ordinary tensors of the CPU that answer and mix as tensors on cuda:0 would.

Which device a tensor pretends to be on is a mark on its storage, so views share it. A function mode moves the marks,
answers `.device`, and refuses what CUDA refuses. The numbers stay real: loops that depend on them just run.
Not seen: tensors made on the CPU inside the backward of an autograd.Function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device

from attnlab.device_marks import LEFT, MADE, mark, marked, on_gpu, put_on_gpu, storage_of
from attnlab.device_words import MixedDevicesError, NotOnCpuError, mixed

__all__ = ["CUDA", "PretendGpu"]

CUDA = torch.device("cuda", 0)
"""The device that marked tensors name. `.device` gives this very object, so any other one was made by name."""

_CPU = torch.device("cpu")
_T: Any = torch.Tensor
_copies_shallowly: Any = torch._has_compatible_shallow_copy_type
_FREE = {
    _T.copy_, _T.item, _T.tolist, _T.__bool__, _T.__int__, _T.__float__, _T.__index__, _T.__len__, _T.__iter__,
    _T.__repr__, _T.__format__, _T.backward, torch.autograd.grad, torch.autograd.backward, _T.set_, _T.requires_grad_,
    _T.register_hook, _T.data.__set__, _T.grad.__set__, _copies_shallowly,
    torch.broadcast_tensors, _T.is_set_to, _T.new_tensor,
}  # fmt: skip
"""Take tensors of several devices, or look at one alone."""

_SIZES = {_T.expand_as, _T.view_as, _T.reshape_as}
"""Look only at the second tensor's shape."""

_DATA = {torch.tensor, torch.as_tensor, torch.asarray, torch.from_numpy, torch.scalar_tensor}
"""Make a tensor of data; where the data is a tensor, on its device."""

_SHARING = {torch.as_tensor, torch.asarray}
"""Of these, those that give back the tensor that they are given, where nothing is to change."""

_STRICT = {"cat", "concat", "stack", "embedding", "matmul", "mm", "bmm", "linear", "gather", "scatter", "__matmul__"}
"""Take no numbers of the CPU beside tensors of the GPU; all else takes tensors without axes from there."""

_IN_PLACE = {"__iadd__", "__isub__", "__imul__", "__itruediv__", "__iand__", "__ior__", "__ixor__", "__ipow__"}


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in a value, also in lists and dicts."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return []
    return [tensor for part in value for tensor in _tensors(part)]


class PretendGpu(TorchFunctionMode):
    """While it is entered, marked tensors are on cuda:0, and torch says that there is one GPU.

    home: whether the arguments are on the CPU, so that what is on the GPU is astray
    named: whether the code named a GPU of its own accord, instead of taking the device of a tensor
    trips: tensors that went to the CPU and came back, in words
    Inside, MixedDevicesError and NotOnCpuError are raised where CUDA would raise RuntimeError and TypeError.
    """

    def __init__(self, *, home: bool = False) -> None:
        super().__init__()
        self.home = home
        self.named = False
        self.trips: list[str] = []
        self._to_numpy = False
        self._open: list[Any] = []

    def __enter__(self) -> PretendGpu:
        world = _one_gpu()
        world.__enter__()
        self._open.append(world)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        self._open.pop().__exit__(*error)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        special = _SPECIAL.get(func)
        if special is not None:
            return special(self, func, args, kwargs)
        tensors = _tensors((args, kwargs))
        there = [t for t in tensors if on_gpu(t)]
        here = [t for t in tensors if not on_gpu(t)] if len(there) < len(tensors) else []
        name = getattr(func, "__name__", "").partition(".")[0]  # "add.Tensor", where a dispatch mode calls
        if there and here:
            self._refuse_mixing(func, name, args, here, there)
        if func in _SHARING and args and isinstance(args[0], torch.Tensor):
            return self._move(_T.to, args[:1], {n: v for n, v in kwargs.items() if n in ("dtype", "device")})
        asked = kwargs.get("device")
        if asked is None and func in _device._device_constructors():
            asked = _device.CURRENT_DEVICE  # of torch.set_default_device, whose own mode acts only after this one
        wanted = None if asked is None else self._named(asked)
        if there or (wanted is not None and wanted.type == "cuda"):
            generator = kwargs.get("generator")
            if generator is not None and generator.device.type == "cpu":
                raise MixedDevicesError("The random generator is on the CPU; the numbers are drawn on cuda:0.")
        if wanted is not None:
            kwargs["device"] = _CPU if wanted.type == "cuda" else wanted
        value = func(*args, **kwargs)
        if func is not _T.__setitem__ and name != "__set__":
            self._mark_results(value, func, name, args, wanted, here, there)
        if func in (_T.copy_, _T.__setitem__) and on_gpu(args[0]):
            self._arrived(_tensors(args[-1]))
        return value

    def _refuse_mixing(
        self, func: Any, name: str, args: Any, here: list[torch.Tensor], there: list[torch.Tensor]
    ) -> None:
        """Raise MixedDevicesError where CUDA would refuse these tensors in one call."""
        if func in _FREE or func in _SIZES or func in _DATA:
            return
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if func in (_T.__getitem__, _T.__setitem__):
            indices = _tensors(args[1])
            if first is not None and not on_gpu(first) and any(on_gpu(i) for i in indices):
                raise mixed([first], there, self.home, "indexing")
            if func is _T.__setitem__ and indices:
                values = [v for v in _tensors(args[2]) if v.dim()]
                if first is not None and any(on_gpu(v) != on_gpu(first) for v in values):
                    raise mixed(here, there, self.home, "assigning")
            return
        changes = name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))
        if any(t.dim() for t in here) or name in _STRICT or (changes and first is not None and not on_gpu(first)):
            raise mixed([t for t in here if t.dim()] or here, there, self.home, name)

    def _named(self, asked: Any) -> torch.device:
        """The device that a call asks for."""
        device = torch.device("cuda", asked) if type(asked) is int else torch.device(asked)
        if device.type == "cuda" and asked is not CUDA:
            self.named = True
        return device

    def _stands_for(self, asked: Any) -> tuple[bool, torch.device]:
        """Whether a device is the GPU, and the one that is used in its stead."""
        device = self._named(asked)
        return device.type == "cuda", _CPU if device.type == "cuda" else device

    def _mark_results(
        self, value: Any, func: Any, name: str, args: Any, wanted: torch.device | None, here: Any, there: Any
    ) -> None:
        results = _tensors(value)
        if not results:
            return
        if wanted is not None:
            goes = wanted.type == "cuda"
        elif func in _DATA:
            goes = bool(args) and isinstance(args[0], torch.Tensor) and on_gpu(args[0])
        elif func in _SIZES or func in (_T.__getitem__, _T.copy_):
            goes = on_gpu(args[0])
        else:
            goes = bool(there)
        if goes:
            stay = {storage_of(t) for t in here}
            for result in results:
                if not on_gpu(result) and storage_of(result) not in stay:
                    put_on_gpu(result)
            if func in _DATA and args and not isinstance(args[0], list | tuple | int | float):
                self._arrived(_tensors(args[0]))
                if self._to_numpy and not isinstance(args[0], torch.Tensor) and value.is_floating_point():
                    self._came_back("numpy()")
            return
        left = next((how for t in here if (how := marked(t, LEFT))), None)
        made = next((how for t in here if (how := marked(t, MADE))), None)
        if left is None and self._to_numpy and (name == "lift_fresh" or (func in _DATA and not here)):
            # lift_fresh is all that is seen of from_numpy; whole numbers may be ids that were chosen there
            left = "numpy()" if results[0].is_floating_point() else None
        for result in results:
            if not on_gpu(result):
                mark(result, MADE, made or name)
                if left:
                    mark(result, LEFT, left)

    def _arrived(self, tensors: Iterable[torch.Tensor]) -> None:
        """Numbers came to the GPU: note those that had been there.

        A single one may go by the CPU: every `.item()` takes it there.
        """
        for tensor in tensors:
            if (left := marked(tensor, LEFT)) and tensor.numel() > 1 and not on_gpu(tensor):
                self._came_back(left)

    def _came_back(self, left: str) -> None:
        self.trips.append(f"a tensor left it by .{left} and was sent back")

    # calls of their own -----------------------------------------------------------------------------------------------

    def _move(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Tensor.to, .cpu, .cuda and .type_as."""
        source, rest = args[0], list(args[1:])
        goes = on_gpu(source)
        if func is _T.cpu:
            goes = False
        elif func is _T.cuda:
            goes, self.named, func, rest, kwargs = True, True, _T.to, [_CPU], {}
        else:
            for i, item in enumerate(rest):
                if isinstance(item, str | torch.device) or type(item) is int:
                    goes, rest[i] = self._stands_for(item)
                elif isinstance(item, torch.Tensor):
                    goes = on_gpu(item)
            if isinstance(kwargs.get("other"), torch.Tensor):
                goes = on_gpu(kwargs["other"])
            if kwargs.get("device") is not None:
                goes, kwargs["device"] = self._stands_for(kwargs["device"])
        value = func(source, *rest, **kwargs)
        was = on_gpu(source)
        if was != goes and storage_of(value) == storage_of(source):
            value = value.clone()
        if goes:
            put_on_gpu(value)
            self._arrived([source])
        elif value is not source:
            mark(value, MADE, marked(source, MADE) or "to")
            if left := ("cpu()" if was and source.dim() else marked(source, LEFT)):
                mark(value, LEFT, left)
        return value

    def _numpy(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        if on_gpu(args[0]):
            raise NotOnCpuError(
                "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                "first."
            )
        self._to_numpy = self._to_numpy or marked(args[0], LEFT) is not None
        return func(*args, **kwargs)


_SPECIAL: Mapping[Any, Callable[[PretendGpu, Any, Any, dict[str, Any]], Any]] = {
    _T.device.__get__: lambda mode, func, args, kwargs: CUDA if on_gpu(args[0]) else func(*args, **kwargs),  # noqa: ARG005
    _T.is_cuda.__get__: lambda mode, func, args, kwargs: on_gpu(args[0]),  # noqa: ARG005
    _T.is_cpu.__get__: lambda mode, func, args, kwargs: not on_gpu(args[0]),  # noqa: ARG005
    _T.get_device: lambda mode, func, args, kwargs: 0 if on_gpu(args[0]) else -1,  # noqa: ARG005
    _T.to: PretendGpu._move,
    _T.cpu: PretendGpu._move,
    _T.cuda: PretendGpu._move,
    _T.type_as: PretendGpu._move,
    _T.numpy: PretendGpu._numpy,
    _T.__array__: PretendGpu._numpy,
}


_SAYS: Mapping[str, Callable[..., Any]] = {
    "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
    "synchronize": lambda *_: None, "empty_cache": lambda: None, "manual_seed": lambda _: None,
    "manual_seed_all": lambda _: None, "is_bf16_supported": lambda *_, **__: True,
}  # fmt: skip
"""What torch.cuda says of the one GPU, so that code which asks for it takes it."""


@contextmanager
def _one_gpu() -> Iterator[None]:
    own = {name: getattr(torch.cuda, name) for name in _SAYS}
    for name, says in _SAYS.items():
        setattr(torch.cuda, name, says)
    try:
        yield
    finally:
        for name, function in own.items():
            setattr(torch.cuda, name, function)
