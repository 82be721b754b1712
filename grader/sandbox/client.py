"""A thin Jupyter client: runs one cell at a time, watches the clock and the supervisor, trusts no message."""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import zmq
from jupyter_client.session import Session

from grader.sandbox.body import CHANNELS
from grader.sandbox.orders import Line
from grader.sandbox.outputs import CellOutputs

__all__ = ["CellEnd", "CellRun", "Client"]

_WAITING = 8  # messages that may wait unread on our side of each socket
_LAST_WORDS = 2.0  # seconds that "idle" may come after the reply; it does not come where a message was too large
_TICK = 0.25  # seconds between two looks at the clock while nothing comes
_BATCH = 200  # messages between two looks at the clock while many come
_LARGEST_COUNT = 1 << 31  # an execution count that no kernel reaches
_RECONNECT = 1.0  # seconds for a new connection to a kernel that runs; it needs a hundredth
_WELCOME = 0.2  # seconds before we ask again whether the outputs reach us


class CellEnd(Enum):
    """How the run of one cell ended."""

    DONE = auto()  # with or without an exception
    TIMED_OUT = auto()  # interrupted in time, and the kernel goes on
    KILLED = auto()  # it did not heed the interrupt
    DIED = auto()  # the kernel ended, or its supervisor ended it


@dataclass(frozen=True)
class CellRun:
    """What is known of one cell's run besides its outputs.

    count: the execution count that the kernel says, or None
    raised: whether it says that the cell raised
    """

    end: CellEnd
    count: int | None = None
    raised: bool = False


class Client:
    """Talks to one kernel over its shell and output sockets."""

    def __init__(self, context: zmq.Context[Any], line: Line, *, message_bytes: int) -> None:
        self._line = line
        self._context = context
        self._message_bytes = message_bytes
        self._mute = False  # whether the kernel's outputs no longer reach us
        self._session = Session(key=line.key.encode())
        self._shell = self._socket(zmq.DEALER, "shell")
        self._iopub = self._outputs()
        self._poller = zmq.Poller()
        for end in (self._shell, self._iopub, line.descriptor):
            self._poller.register(end, zmq.POLLIN)

    def _socket(self, kind: int, name: str) -> zmq.Socket[Any]:
        end = self._context.socket(kind)
        end.linger = 0
        end.rcvhwm = _WAITING
        end.maxmsgsize = self._message_bytes
        end.connect(f"ipc://{self._line.address}-{CHANNELS.index(name) + 1}")
        return end

    def _outputs(self) -> zmq.Socket[Any]:
        end = self._socket(zmq.SUB, "iopub")
        end.subscribe(b"")
        return end

    def _listen_anew(self) -> None:
        """Connect to the outputs again: zmq gives a connection up for good after a message that is too large."""
        self._poller.unregister(self._iopub)
        self._iopub.close()
        self._iopub = self._outputs()
        self._poller.register(self._iopub, zmq.POLLIN)
        self._mute = not self.connect(_RECONNECT)

    def close(self) -> None:
        self._shell.close()
        self._iopub.close()

    def connect(self, seconds: float) -> bool:
        """Wait until the kernel's outputs reach us. False where they do not, or it died."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            # the welcome of a new subscriber, or else any status that our question causes
            if self._iopub.poll(int(1000 * _WELCOME)):
                return True
            if self._line.ending() is not None:
                return False
            self._session.send(self._shell, "kernel_info_request", {})
        return False

    def run(self, source: str, outputs: CellOutputs, *, seconds: float, grace: float) -> CellRun:
        """Run one cell. After `seconds` it is interrupted; if it has not heeded `grace` later, the kernel is killed."""
        content = {
            "code": source, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
            "stop_on_error": False,
        }  # fmt: skip
        request: Any = self._session.send(self._shell, "execute_request", content)
        cell = _Cell(request["header"]["msg_id"], time.monotonic() + seconds)
        interrupted = False
        while not cell.over and not (cell.replied and self._mute):
            self._listen(cell, outputs)
            if self._line.ending() is not None:
                return CellRun(CellEnd.DIED)
            if time.monotonic() < cell.deadline:
                continue
            if cell.replied:  # only "idle" is missing, and it had its time
                outputs.left_out()
                self._listen_anew()
                break
            if interrupted:
                self._line.close()
                return CellRun(CellEnd.KILLED)
            self._line.signal(signal.SIGINT)
            interrupted = True
            cell.deadline = time.monotonic() + grace
        return CellRun(CellEnd.TIMED_OUT if interrupted else CellEnd.DONE, cell.count, cell.raised)

    def _listen(self, cell: _Cell, outputs: CellOutputs) -> None:
        """Take what has come, or wait for it a moment."""
        left = min(max(cell.deadline - time.monotonic(), 0.0), _TICK)
        arrived = dict(self._poller.poll(math.ceil(1000 * left)))
        for end in (self._iopub, self._shell):
            for message in self._messages(end) if end in arrived else ():
                if message["parent_header"].get("msg_id") != cell.request:
                    continue  # of an earlier cell's thread, or invented
                kind, said = message["header"].get("msg_type"), message["content"]
                if end is self._shell and kind == "execute_reply":
                    cell.reply(said)
                elif end is self._iopub and kind == "status":
                    cell.idle |= said.get("execution_state") == "idle"
                elif end is self._iopub:
                    outputs.take(kind, said)

    def _messages(self, end: zmq.Socket[Any]) -> Iterator[dict[str, Any]]:
        """What waits at a socket, up to so much that the clock is looked at in between."""
        for _ in range(_BATCH):
            try:
                frames = end.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            with contextlib.suppress(Exception):  # whatever a message can be made to do to the parser, it is no message
                _, parts = self._session.feed_identities(frames)
                message = self._session.deserialize(parts)
                if all(isinstance(message[part], dict) for part in ("header", "parent_header", "content")):
                    yield message


@dataclass
class _Cell:
    """A cell that runs."""

    request: str
    deadline: float
    replied: bool = False
    idle: bool = False
    count: int | None = None
    raised: bool = False

    @property
    def over(self) -> bool:
        return self.replied and self.idle

    def reply(self, content: dict[str, Any]) -> None:
        count = content.get("execution_count")
        self.count = count if type(count) is int and 0 <= count < _LARGEST_COUNT else None
        self.raised = content.get("status") != "ok"
        self.replied = True
        self.deadline = min(self.deadline, time.monotonic() + _LAST_WORDS)
