"""The judge's end of the channel: calls a function in the learner's kernel and checks every word of the reply."""

from __future__ import annotations

import contextlib
import errno
import math
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnlab.device_names import CPU
from attnlab.devices import Placed
from attnlab.recording import Outcome
from attnlab.trial import explain
from attnlab.verdict import AnswerError, Verdict
from grader.sandbox import wire

__all__ = ["Channel", "RemoteAnswer", "clean"]

MAX_OPERATIONS = 1 << 40  # a count that no call within its time can reach
MAX_NAMES = 4000  # library names in a reply; a whole forward pass has about 60
MAX_MESSAGE = 2000  # characters of an exception's message
MAX_NAME = 100  # characters of a library name
_UNASKED = 1 << 20  # bytes that are dropped at once; a socket holds about a fifth of it
_SHORTEST = 0.001  # seconds; 0 would mean not to wait at all

_REFUSED = {errno.EPERM, errno.EACCES, errno.EROFS, errno.EAFNOSUPPORT, errno.ENETUNREACH, errno.EPROTONOSUPPORT}
"""What the system answers where the sandbox says no."""

_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Cannot allocate memory")
"""What torch and the system say where the memory limit is reached."""


class Channel:
    """Sends calls and receives replies, one at a time.

    seconds: for one call with its reply
    total: seconds for all calls of one name
    ended: called once when the other end is silent, closed or talks nonsense, with the verdict that this alone would
        give; ends the kernel and returns the verdict and the words for the learner
    """

    def __init__(
        self,
        end: socket.socket,
        *,
        limits: wire.WireLimits,
        seconds: float,
        total: float = math.inf,
        ended: Callable[[Verdict, str], tuple[Verdict, str]],
    ) -> None:
        self._socket = end
        self._limits = limits
        self._seconds = seconds
        self._total = total
        self._spent: dict[str, float] = {}
        self._ended = ended
        self._number = 0
        self._over: tuple[Verdict, str] | None = None

    def close(self) -> None:
        self._socket.close()
        self._over = self._over or (Verdict.ERRORED, "The notebook is no longer running.")

    def call(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str = CPU) -> Outcome:
        """Call the function `name` of the notebook once, on a device. Raises AnswerError where no value comes back.

        A call that hangs, dies or answers nonsense ends the kernel: what it would say later is worth nothing.
        """
        if self._over is not None:
            raise AnswerError(*self._over)
        self._number += 1
        request = {"call": self._number, "name": name, "args": tuple(args), "kwargs": dict(kwargs), "device": device}
        message = wire.encode(request, strides=True)
        started, spent = time.monotonic(), self._spent.get(name, 0.0)
        left = self._total - spent
        try:
            reply = self._exchange(message.to_bytes(), min(self._seconds, left))
        except TimeoutError:
            words = f"It had not finished after {self._seconds:g} seconds."
            if left < self._seconds:
                words = f"Its calls together took more than {self._total:g} seconds."
            raise self._end(Verdict.TIMED_OUT, words) from None
        except (EOFError, OSError):
            raise self._end(Verdict.ERRORED, "It ended the whole Python process.") from None
        except wire.WireError as error:
            raise self._end(Verdict.ERRORED, f"Its value could not be taken: {clean(str(error))}.") from None
        self._spent[name] = spent + time.monotonic() - started
        match reply:
            case (int(number), "value", value, changed, operations, names) if number == self._number and device == CPU:
                return self._outcome(value, changed, operations, names, len(args))
            case (int(number), "placed", value, changed, operations, names, placed) if number == self._number:
                if device != CPU and _is_placed(placed):
                    outcome = self._outcome(value, changed, operations, names, len(args))
                    return replace(outcome, placed=Placed(placed[0], tuple(map(clean, placed[1])), placed[2]))
            case (int(number), "error", str(kind), str(text), code, place) if number == self._number:
                raise _error(name, kind, text, code, place)
        raise self._end(Verdict.ERRORED, "What came back is no reply to the call.")

    def _exchange(self, request: bytes, seconds: float) -> Any:
        if seconds <= 0:
            raise TimeoutError
        deadline = time.monotonic() + seconds
        self._discard(deadline)
        self._socket.settimeout(max(deadline - time.monotonic(), _SHORTEST))
        self._socket.sendall(request)
        tree, blob = wire.lengths(self._exactly(wire.HEADER.size, deadline), self._limits)
        return wire.decode(self._exactly(tree, deadline), self._exactly(blob, deadline), limits=self._limits)

    def _discard(self, deadline: float) -> None:
        """Drop what came before it was asked for, so that one exercise cannot spoil the reply of another."""
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self._socket.recv(_UNASKED):
                if time.monotonic() > deadline:
                    raise TimeoutError

    def _exactly(self, size: int, deadline: float) -> bytes:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            got = self._socket.recv_into(view)
            if not got:
                raise EOFError
            view = view[got:]
        return bytes(buffer)

    def _outcome(self, value: Any, changed: Any, operations: Any, names: Any, count: int) -> Outcome:
        sound = (
            isinstance(changed, tuple)
            and len(changed) <= count
            and all(type(i) is int and 0 <= i < count for i in changed)
            and type(operations) is int
            and 0 <= operations <= MAX_OPERATIONS
            and isinstance(names, list)
            and len(names) <= MAX_NAMES
            and all(isinstance(n, str) and len(n) <= MAX_NAME for n in names)
        )
        if not sound:
            raise self._end(Verdict.ERRORED, "What came back is no reply to the call.")
        return Outcome(value, changed, operations, frozenset(names))

    def _end(self, verdict: Verdict, words: str) -> AnswerError:
        self._socket.close()
        self._over = self._ended(verdict, words)
        return AnswerError(*self._over)


@dataclass(frozen=True)
class RemoteAnswer:
    """A function of the learner's notebook, called in its kernel. Implements `attnlab.trial.Answer`.

    channel: called at each call; gives the channel of the kernel that runs at that time
    """

    channel: Callable[[], Channel]
    name: str

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str = CPU) -> Outcome:
        return self.channel().call(self.name, args, kwargs, device)


def clean(text: str, most: int = 300) -> str:
    """Text of the learner's process on one line, without control characters, at most `most` characters."""
    plain = "".join(c if c.isprintable() else " " for c in text[: 4 * most])
    return " ".join(plain.split())[:most]


def _error(name: str, kind: str, text: str, code: Any, place: Any) -> AnswerError:
    """The exception that the learner's function raised, in words."""
    kind, text = clean(kind, MAX_NAME), clean(text, MAX_MESSAGE)
    if kind == "MemoryError" or any(words in text for words in _NO_MEMORY):
        return AnswerError(Verdict.OUT_OF_MEMORY, "It asked for more memory than it may have.", _where(place))
    if kind == "PermissionError" or code in _REFUSED:
        return AnswerError(Verdict.BLOCKED, f"The sandbox refused what it tried: {text[:300]}.", _where(place))
    if kind == "NameError" and text == f"{name} is not defined":
        words = f"There is no function {name} in the notebook once all its cells have run."
        return AnswerError(Verdict.ERRORED, words, "Check that its cell runs without an error.")
    base = NotImplementedError if kind == "NotImplementedError" else Exception
    rationale, help = explain(type(kind if kind.isidentifier() else "Exception", (base,), {})(text))
    return AnswerError(Verdict.ERRORED, rationale, help or _where(place))


def _where(place: Any) -> str:
    match place:
        case (int(line), str(function), str(text)):
            return f"It happened in line {line} of {clean(function, MAX_NAME)}'s cell: {clean(text, 200)}"
    return ""


def _is_placed(placed: Any) -> bool:
    """Whether it says where tensors were: names of devices, trips in words, and yes or no."""
    match placed:
        case (tuple() as devices, tuple() as trips, bool()):
            words = (*devices, *trips)
            return len(words) <= MAX_NAMES and all(isinstance(w, str) and len(w) <= MAX_NAME for w in words)
    return False
