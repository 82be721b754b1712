"""Confined kernels and stock ones: how soon they answer, what the walls cost, what each holds, what many leave."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from jupyter_client.manager import KernelManager

from grader.course import Course
from grader.sandbox import Mode, Policy, Sandbox
from tests.grader.traces import below

__all__ = ["Kernels", "Leak", "kernels", "leak"]

CELL = "import torch; torch.ones(2).sum()"


@dataclass(frozen=True)
class Kernels:
    """Medians, in seconds and bytes. `first` is a whole sandbox's start, its proof that the walls hold included."""

    first: float
    ours: float
    unconfined: float
    stock: float
    private: float


@dataclass(frozen=True)
class Leak:
    """What so many kernels in a row left behind."""

    number: int
    seconds: float
    descriptors: int
    processes: int
    files: int
    memory: int


def kernels(course: Course, number: int, stock: int) -> Kernels:
    """Start to the reply of a first cell that imports torch; our two kinds in turn, then stock ones."""
    ours, unconfined, private = [], [], []
    begun = time.perf_counter()
    with (
        Sandbox(Policy(), course_root=course.root) as walled,
        Sandbox(Policy(mode=Mode.NONE, unsafe=True), course_root=course.root) as open_,
    ):
        _replied(walled)
        first = time.perf_counter() - begun
        _replied(open_)
        for _ in range(number):
            seconds, held = _replied(walled)
            ours.append(seconds)
            private.append(held)
            unconfined.append(_replied(open_)[0])
    median = statistics.median
    return Kernels(first, median(ours), median(unconfined), median(_stock() for _ in range(stock)), median(private))


def leak(course: Course, number: int) -> Leak:
    """So many kernels in a row, each with one cell, and what is there after them that was not before."""
    with Sandbox(Policy(), course_root=course.root) as sandbox:
        for _ in range(20):  # what is made once, and what allocators keep
            _replied(sandbox)
        before = _footprint(sandbox)
        begun = time.perf_counter()
        for _ in range(number):
            _replied(sandbox)
        seconds = time.perf_counter() - begun
        after = _footprint(sandbox)
    return Leak(number, seconds, *(b - a for a, b in zip(before, after, strict=True)))


def _replied(sandbox: Sandbox) -> tuple[float, int]:
    """Seconds to the reply of a fresh kernel's first cell, and the memory that it holds for itself."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    begun = time.perf_counter()
    with sandbox.kernel() as kernel:
        executed = kernel.run(notebook)
        seconds = time.perf_counter() - begun
        if "tensor(2.)" not in str(executed.cells[0].outputs):
            raise SystemExit(f"a kernel did not answer: {executed.cells[0].outputs}")
        return seconds, psutil.Process(kernel._line.process).memory_full_info().uss


def _stock() -> float:
    """The same with the kernel that nbgrader starts by itself."""
    manager = KernelManager(kernel_name="python3")
    begun = time.perf_counter()
    manager.start_kernel(stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        client.execute_interactive(CELL, timeout=60, output_hook=lambda _: None)
        return time.perf_counter() - begun
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _footprint(sandbox: Sandbox) -> tuple[int, int, int, int]:
    """Open descriptors, processes below this one, temporary files, and memory, the fork server's included."""
    time.sleep(1.0)  # the last supervisor may take a moment to go
    family = [os.getpid(), *below(os.getpid())]
    memory = sum(psutil.Process(pid).memory_full_info().uss for pid in family)
    assert sandbox._server is not None
    files = sum(1 for _ in sandbox._server.folder.rglob("*"))
    descriptors = sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in family)
    return descriptors, len(family) - 1, files, memory
