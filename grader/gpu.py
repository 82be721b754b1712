"""Which device answers run on, what the sandbox needs for a GPU, and how many kernels share one."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from attnlab.device_names import CPU, GPU
from grader.course import CourseError
from grader.sandbox import Policy

__all__ = ["AUTO", "DEVICES", "chosen", "place_on_gpu", "with_device"]

AUTO = "auto"
DEVICES = (AUTO, CPU, GPU)
"""What may be asked for. auto takes the GPU where there is one."""

_DRIVER = Path("/dev/nvidiactl")
_FIRST_CALL = 30.0  # seconds for a call: a kernel's first one makes its CUDA context, which may wait for others'
_NAP = 0.05  # seconds between two looks for a free place


def chosen(device: str) -> str:
    """The device that `device` comes to on this machine. Raises CourseError where a GPU is asked for and not there."""
    if device == CPU or (device == AUTO and sys.platform == "linux" and not _DRIVER.exists()):
        return CPU  # without the driver's file, kernels have no GPU either; and torch need not be loaded to say so
    import torch

    if torch.cuda.is_available():
        return GPU
    if device == GPU:
        raise CourseError("device cuda: torch finds no GPU on this machine; use cpu, which gives the same marks")
    return CPU


def with_device(policy: Policy, device: str) -> Policy:
    """The policy for kernels that use this device: only for a GPU do they see one."""
    if device != GPU:
        return policy
    return replace(policy, gpu=True, call_seconds=max(policy.call_seconds, _FIRST_CALL))


@contextmanager
def place_on_gpu(device: str, policy: Policy, folder: Path | None = None) -> Iterator[None]:
    """Hold one of the GPU's places for a kernel, waiting until one is free. On the CPU nobody waits.

    The places are locked files, so they count for all graders of this user on this machine, and a grader that is killed
    gives its place back. folder: where they lie, unless it is the usual place
    """
    if device != GPU:
        yield
        return
    folder = _own_folder() if folder is None else folder
    while (held := _free_place(folder, policy.gpu_kernels)) is None:
        time.sleep(_NAP)
    try:
        yield
    finally:
        os.close(held)


def _free_place(folder: Path, places: int) -> int | None:
    """The descriptor of a place that is locked now, or None where all are taken."""
    for number in range(max(places, 1)):
        descriptor = os.open(folder / f"kernel-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            os.close(descriptor)
    return None


def _own_folder() -> Path:
    """A folder that only this user can write to. Raises CourseError where somebody else made it first."""
    folder = Path(tempfile.gettempdir(), f"attention-gpu-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise CourseError(f"{folder} belongs to somebody else; remove it, or set TMPDIR to a folder of your own")
    return folder
