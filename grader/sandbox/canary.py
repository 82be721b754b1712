"""Prove that the walls hold: a kernel tries what it must not be able to do, and everything must be refused."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat.v4 import new_code_cell, new_notebook

from attnlab.verdict import AnswerError
from grader.sandbox.caller import clean
from grader.sandbox.orders import SandboxError

if TYPE_CHECKING:
    from grader.sandbox.kernel import Kernel

__all__ = ["Attempt", "prove", "prove_gpu", "try_walls"]

_TRIES = """
import ctypes, os, pathlib, socket

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "done"

def connect(family, kind, address):
    with socket.socket(family, kind) as end:
        end.settimeout(1)
        end.connect(address)

def new_namespace():
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        raise PermissionError(ctypes.get_errno(), "unshare")

def canary(files, port, path, folder, grader):
    tries = {f"read {name}": lambda name=name: pathlib.Path(name).read_bytes() for name in files}
    tries |= {
        "reach a port of this host": lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port)),
        "reach a socket of the grader": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, path),
        "make a socket to the hypervisor": lambda: socket.socket(40, socket.SOCK_STREAM),
        "write beside the interpreter": lambda: pathlib.Path(folder, "canary").write_text(""),
        "see the grader's environment": lambda: pathlib.Path(f"/proc/{grader}/environ").read_bytes()[0],
        "enter a user namespace": new_namespace,
    }
    return {what: outcome(attempt) for what, attempt in tries.items()}
"""


@dataclass(frozen=True)
class Attempt:
    """One thing that a kernel tried.

    words: the error it met, or "done"
    """

    what: str
    words: str

    @property
    def refused(self) -> bool:
        return self.words != "done"


def prove(kernel: Kernel, course_root: Path | None) -> tuple[Attempt, ...]:
    """Have a fresh kernel try everything. Raises SandboxError where something was not refused, or not even tried."""
    attempts = try_walls(kernel, course_root)
    if held := [attempt.what for attempt in attempts if not attempt.refused]:
        raise SandboxError(f"the sandbox does not hold on this host: a kernel could {', '.join(held)}")
    return attempts


def prove_gpu(kernel: Kernel) -> None:
    """Raises SandboxError where a fresh kernel that may use the GPU does not find it: answers would run on the CPU."""
    kernel.run(new_notebook(cells=[new_code_cell(_FINDS_GPU)]))
    try:
        found = kernel.answer("finds_gpu")((), {}).value
    except AnswerError as error:
        found = error.rationale
    if found != "":
        raise SandboxError(
            f"kernels cannot use the GPU behind their walls ({clean(str(found))}); grade on the CPU, which gives the "
            "same marks"
        )


_FINDS_GPU = """
def finds_gpu():
    import torch
    try:
        torch.zeros(1, device="cuda")
    except Exception as error:
        return str(error)
    return ""
"""


def try_walls(kernel: Kernel, course_root: Path | None) -> tuple[Attempt, ...]:
    """What a fresh kernel met when it tried. Raises SandboxError where it could not be asked."""
    kernel.run(new_notebook(cells=[new_code_cell(_TRIES)]))
    with _bait(course_root) as (files, port, path):
        arguments = (files, port, path, sys.prefix, os.getpid())
        try:
            value = kernel.answer("canary")(arguments, {}).value
        except AnswerError as error:
            raise SandboxError(f"a kernel could not try its walls: {error.rationale}") from None
    if not isinstance(value, dict) or not value or not all(isinstance(words, str) for words in value.values()):
        raise SandboxError("a kernel did not say what it met at its walls")
    return tuple(Attempt(what, words) for what, words in value.items())


@contextlib.contextmanager
def _bait(course_root: Path | None) -> Iterator[tuple[list[str], int, str]]:
    """Files, a port and a socket that the grader itself can reach at this moment."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="canary-"))
        os.chmod(folder, 0o755)
        files = [Path(folder) / "canary.txt"]
        files[0].write_text("canary")
        if course_root is not None:
            files += sorted((course_root / "solutions").glob("*.py"))[:1]
            files += [p for p in (course_root / ".grading").glob("*") if p.is_file()][:1]
        port = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        port.bind(("127.0.0.1", 0))
        port.listen()
        local = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        local.bind(f"{folder}/canary")
        os.chmod(f"{folder}/canary", 0o666)
        local.listen()
        yield [str(file) for file in files], port.getsockname()[1], f"{folder}/canary"
