"""What a learner is told where tensors of two devices meet: which tensor is where, by the learner's own name for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from attnlab.device_marks import MADE, marked, on_gpu, storage_of

__all__ = ["DEVICE_ERRORS", "MixedDevicesError", "NotOnCpuError", "mixed"]


class MixedDevicesError(RuntimeError):
    """Tensors of two devices in one operation, on the pretend GPU. CUDA raises a RuntimeError there."""


class NotOnCpuError(TypeError):
    """A tensor of the pretend GPU given to numpy. CUDA raises a TypeError there."""


DEVICE_ERRORS = (MixedDevicesError.__name__, NotOnCpuError.__name__)
"""Names of what the pretend GPU raises, by which a judge in another process knows them."""

_LIBRARIES = (str(Path(__file__).parent), str(Path(torch.__file__).parent))
_CALLER = str(Path(__file__).with_name("recording.py"))

_FRAMES = 40  # looked at, from the operation outwards: a forward pass of a learner's own has about 10


def mixed(on_cpu: Sequence[torch.Tensor], on_gpu: Sequence[torch.Tensor], home: bool, name: str) -> MixedDevicesError:
    """The error for tensors of the CPU and of cuda:0 that met in the operation `name`.

    home: whether the answer's arguments are on the CPU, so that the tensor of the GPU is the one to be made elsewhere
    """
    strays, others, here, there = on_cpu, on_gpu, "the CPU", "cuda:0"
    if home:
        strays, others, here, there = others, strays, there, here
    with torch._C.DisableTorchFunction():
        known = [frame.f_locals for frame in _frames()]
        stray, stray_name = _best(strays, known)
        _, other = _best(others, known)
        other = other or _any_name(known, on_the_gpu=not home)
        noun = _noun(stray)
        be, it = ("are", "them") if noun.endswith("s") else ("is", "it")
        words = f"{_subject(noun, stray_name)} {be} on {here}, {other or 'another tensor'} is on {there}"
        words += f"; make {it} with device={other}.device" if other else f"; make {it} on the device of an input"
    return MixedDevicesError(f"{words} (in {name}).")


def _subject(noun: str, name: str) -> str:
    if not name:
        return f"Your {noun}"
    return f"Your {noun}" if name == noun else f"Your {noun} {name}"


def _best(tensors: Sequence[torch.Tensor], known: Sequence[Mapping[str, Any]]) -> tuple[torch.Tensor, str]:
    """The first tensor that has a name in the learner's frames, and the name; else the first and ""."""
    for tensor in tensors:
        for names in known:
            for name, value in names.items():
                if value is tensor and name.isidentifier():
                    return tensor, name
    for tensor in tensors:  # a view of what has a name
        for names in known:
            for name, value in names.items():
                if isinstance(value, torch.Tensor) and name.isidentifier() and storage_of(value) == storage_of(tensor):
                    return tensor, name
    return tensors[0], ""


def _any_name(known: Sequence[Mapping[str, Any]], *, on_the_gpu: bool) -> str:
    """The first of the learner's names for a tensor of one device; an argument where there is one. "" for none."""
    for names in known:
        for name, value in names.items():
            if isinstance(value, torch.Tensor) and name.isidentifier() and on_gpu(value) == on_the_gpu:
                return name
    return ""


def _noun(tensor: torch.Tensor) -> str:
    """What a tensor of the CPU most likely is, in the words of the course."""
    try:
        made = marked(tensor, MADE) or ""
        if tensor.dtype == torch.bool:
            return "mask"
        if not tensor.is_floating_point():
            return "positions" if made == "arange" else "token ids"
        zeros, ones = tensor == 0, tensor == 1
        if bool(tensor.isneginf().any()) or bool(zeros.any() and ones.any() and (zeros | ones).all()):
            return "mask"
    except (NotImplementedError, RuntimeError):
        return "tensor"
    if made in ("arange", "linspace"):
        return "positions"
    return "constant" if made else "tensor"


def _frames() -> Iterator[FrameType]:
    """The learner's frames, innermost first: those of neither torch nor this library, up to who called the answer."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None or frame.f_code.co_filename == _CALLER:
            return
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            yield frame
        frame = frame.f_back
