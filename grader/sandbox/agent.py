"""Answers the judge's calls from inside the learner's kernel. Nothing that it says is trusted.

A call is a dict {"call": number, "name": str, "args": tuple, "kwargs": dict, "device": str}; the reply is one of
(number, "value", value, changed, operations, library), the same with "placed" and (devices, trips, named) at its end
where the device is not the CPU, and (number, "error", type, message, errno, place).
"""

from __future__ import annotations

import contextlib
import functools
import io
import linecache
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

from attnlab.device_names import GPU
from attnlab.recording import record
from grader.sandbox import wire
from grader.sandbox.policy import GPU_SHARE

__all__ = ["Agent"]

MAX_TEXT = 2000  # characters of an exception's message; the judge shows 300
MAX_TRIPS = 3  # of a call, told to the judge; one says enough
MAX_NAMES = 4000  # library names in a reply; a whole forward pass has about 60


class Agent:
    """Serves calls that arrive on an inherited socket.

    namespace: called at each call; gives the notebook's names
    """

    def __init__(self, channel: socket.socket, namespace: Callable[[], Mapping[str, Any]]) -> None:
        self._channel = channel
        self._namespace = namespace

    def serve_one(self) -> bool:
        """Take one call, answer it. False where the judge has gone."""
        try:
            call = self._receive()
        except (EOFError, OSError):
            return False
        reply = self._answer(call)
        try:
            message = wire.encode(reply)
        except Exception as error:
            message = wire.encode((call["call"], "error", type(error).__name__, _words(error), None, None))
        try:
            self._channel.sendall(message.to_bytes())
        except OSError:
            return False
        return True

    def _receive(self) -> Any:
        # the judge is trusted, so only what the format itself allows bounds its messages
        limits = wire.WireLimits(tree=1 << 30, blob=1 << 40)
        tree, blob = wire.lengths(self._exactly(wire.HEADER.size), limits)
        return wire.decode(self._exactly(tree), self._exactly(blob), strides=True, limits=limits)

    def _exactly(self, size: int) -> bytes:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            got = self._channel.recv_into(view)
            if not got:
                raise EOFError
            view = view[got:]
        return bytes(buffer)

    def _answer(self, call: Any) -> tuple[Any, ...]:
        number, namespace = call["call"], self._namespace()
        try:
            if call["name"] not in namespace:
                raise NameError(f"{call['name']} is not defined")
            if call["device"] == GPU:
                _take_share()
            with _quiet():
                outcome = record(namespace[call["name"]], call["args"], call["kwargs"], call["device"])
        except BaseException as error:  # also SystemExit and an interrupt: the call is over, the kernel is not
            return (
                number, "error", type(error).__name__, _words(error),
                error.errno if isinstance(error, OSError) else None, _place(error.__traceback__, namespace),
            )  # fmt: skip
        library = sorted(outcome.library)[:MAX_NAMES]
        value = outcome.value, outcome.changed, outcome.operations, library
        if outcome.placed is None:
            return number, "value", *value
        placed = outcome.placed
        return number, "placed", *value, (placed.devices, placed.trips[:MAX_TRIPS], placed.named)


@functools.cache
def _take_share() -> None:
    """Once, before the first call on a GPU: see to it that kernels which share it leave each other memory."""
    import torch  # CUDA is initialised here, in the kernel: it does not survive a fork

    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(float(os.environ.get(GPU_SHARE, "1")))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Drop what the answer prints: nobody reads it, and it would fill the kernel's output queue."""
    with contextlib.redirect_stdout(_Sink()), contextlib.redirect_stderr(_Sink()):
        yield


def _words(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except Exception:  # its own __str__ raised
        return ""


class _Sink(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def _place(traceback: TracebackType | None, namespace: Mapping[str, Any]) -> tuple[int, str, str] | None:
    """Line, function and text of the innermost frame that the notebook itself wrote."""
    found = None
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_globals is namespace:
            text = linecache.getline(frame.f_code.co_filename, traceback.tb_lineno)
            found = (traceback.tb_lineno, frame.f_code.co_name[:100], text.strip()[:200])
        traceback = traceback.tb_next
    return found
