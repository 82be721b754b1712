"""What becomes the learner's kernel: closes its walls, then runs IPython on sockets that were bound for it."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.sandbox.confinement import Places, Walls
from grader.sandbox.mounts import Mount, View
from grader.sandbox.policy import Policy
from grader.sandbox.preload import preload

__all__ = ["CHANNELS", "Order", "become_kernel"]

CHANNELS = ("shell", "iopub", "stdin", "control")
"""The Jupyter sockets of a kernel, in the order in which they are handed down. There is no heartbeat: the supervisor
knows better whether the kernel lives."""

_FIRST = 3  # descriptors: 0 to 2 are the standard ones, then the judge's channel, the sockets, the report


@dataclass(frozen=True)
class Order:
    """What the grader asks a fork server for: one kernel."""

    walls: Walls
    key: str  # signs the kernel's messages
    environment: Mapping[str, str]

    def to_json(self) -> str:
        walls = self.walls
        return json.dumps(
            {
                "policy": walls.policy.to_json(),
                "mounts": [[m.source, m.target] for m in walls.view.mounts],
                "hidden": walls.view.hidden,
                "root": walls.root,
                "folder": walls.folder,
                "key": self.key,
                "environment": dict(self.environment),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Order:
        data = json.loads(text)
        policy = Policy.from_json(data["policy"])
        if policy.mode is None:
            raise ValueError("an order names its mode")
        view = View(tuple(Mount(*pair) for pair in data["mounts"]), tuple(data["hidden"]))
        walls = Walls(policy.mode, policy, view, data["root"], data["folder"])
        return cls(walls, data["key"], data["environment"])


def become_kernel(order: Order, user: int, descriptors: Sequence[int], report: int) -> None:
    """Turn this process into the kernel. Returns when the kernel has ended.

    user: the id that it runs under
    descriptors: the judge's channel, then the listening sockets of CHANNELS
    report: gets one JSON object, {} once the sockets are bound
    """
    channel, *listeners, report = _only_these([*descriptors, report])
    if "grader.sandbox.app" not in sys.modules:  # no fork server did it, and behind the walls nobody can
        preload()
    places = order.walls.close(user)
    _set_environment(order, places)
    _set_seeds(order.walls.policy)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from grader.sandbox.app import start  # not above: the supervisor that is not forked from a server must stay small

    def ready() -> None:
        os.write(report, b"{}")
        os.close(report)

    start(order.key, dict(zip(CHANNELS, listeners, strict=True)), socket.socket(fileno=channel), ready)


def _only_these(wanted: Sequence[int]) -> list[int]:
    """Give these descriptors the numbers from 3 on, /dev/null the standard three, and close all others."""
    above = _FIRST + len(wanted)
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, above) for fd in wanted]
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(_FIRST):
        os.dup2(null, standard)
    numbers = [os.dup2(fd, _FIRST + i, inheritable=False) for i, fd in enumerate(moved)]
    os.closerange(above, os.sysconf("SC_OPEN_MAX"))
    return numbers


def _set_environment(order: Order, places: Places) -> None:
    os.environ.clear()
    os.environ.update(order.environment)
    own = {
        "HOME": places.home, "TMPDIR": places.temporary, "IPYTHONDIR": f"{places.home}/.ipython",
        "JUPYTER_RUNTIME_DIR": places.temporary, "MPLCONFIGDIR": places.temporary, "USER": "learner",
    }  # fmt: skip
    os.environ.update(own)
    tempfile.tempdir = None
    os.chdir(places.work)


def _set_seeds(policy: Policy) -> None:
    """Give the kernel random numbers of its own: all forks begin with the same state."""
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if torch := sys.modules.get("torch"):
        # not torch.seed: it asks every kind of GPU too, which takes milliseconds and finds none initialised
        torch.default_generator.seed()
        torch.set_num_threads(max(policy.threads, 1))
