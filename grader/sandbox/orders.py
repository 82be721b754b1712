"""Order kernels from a fork server, and hold the line to each one's supervisor."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.sandbox.body import CHANNELS, Order
from grader.sandbox.confinement import Walls
from grader.sandbox.mounts import View
from grader.sandbox.policy import GPU_SHARE, Policy
from grader.sandbox.supervisor import Ending

__all__ = ["Line", "Orders", "SandboxError", "end_server", "packet_of", "start_server"]

_PATIENCE = 10.0  # seconds for a server to go when told; it needs a tenth
_PACKET = 1 << 16  # bytes of what a server or a supervisor says

_PASSED_ON = ("LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")
"""What of the grader's environment the kernels see. All else may hold names, paths and keys."""

_VISIBLE = "CUDA_VISIBLE_DEVICES"

_ENVIRONMENT = {
    "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin", "/bin"]),
    "OPENBLAS_NUM_THREADS": "1",  # else importing numpy starts threads, and the server must have one only
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",  # sets and hashes come out the same in every run
    "PYTHONDONTWRITEBYTECODE": "1",  # the environment is read-only
    "PYTHONNOUSERSITE": "1",
    _VISIBLE: "",  # no GPU, unless the policy has one; the server itself never uses one, since it forks
    "ATTNLAB_NOTEBOOKS": "",  # a lesson is graded with the stand-ins under it, also where notebooks can be reached
}


class SandboxError(Exception):
    """A kernel cannot be had as the policy asks. Says why and what to do."""


@dataclass
class Line:
    """One kernel as the grader sees it.

    folder: holds the Jupyter sockets, named as jupyter_client names them: `address`-1 and so on, in CHANNELS' order
    channel: the judge's end
    """

    process: int
    folder: Path
    key: str
    channel: socket.socket
    _supervisor: socket.socket
    _server: subprocess.Popen[bytes] | None = None  # of this kernel alone, where kernels are not forked
    _ending: Ending | None = None

    @property
    def address(self) -> str:
        return str(self.folder / "k")

    @property
    def descriptor(self) -> int:
        """Readable once the kernel has ended; -1 when that is known."""
        return self._supervisor.fileno()

    def ending(self, wait: float = 0.0) -> Ending | None:
        """How the kernel ended, or None while it runs; waits for it at most so many seconds."""
        if self._ending is None and select.select([self._supervisor], [], [], wait)[0]:
            try:
                packet = self._supervisor.recv(_PACKET)
            except OSError:
                packet = b""
            self._ending = Ending(**json.loads(packet)["ended"]) if packet else Ending(-signal.SIGKILL, "supervisor")
            self._supervisor.close()
        return self._ending

    def signal(self, number: int) -> None:
        """Send a signal to the kernel and its process group."""
        if self._ending is None:
            with contextlib.suppress(OSError):
                self._supervisor.send(json.dumps({"signal": int(number)}).encode())

    def close(self) -> Ending:
        """End the kernel and all that it started."""
        self.signal(signal.SIGKILL)
        ending = self.ending(_PATIENCE)
        if ending is None:
            self._ending = ending = Ending(-signal.SIGKILL, "supervisor")
            self._supervisor.close()
        self.channel.close()
        if self._server is not None:
            end_server(self._server)
        shutil.rmtree(self.folder, ignore_errors=True)
        return ending


@dataclass
class Orders:
    """The line to a fork server. Several processes may hold it; each kernel belongs to the one that ordered it.

    folder: the server's; holds a folder for each kernel
    control: our end of the line; None where no process that has loaded torch can be forked, and each kernel starts as
        a process of its own
    """

    folder: Path
    control: socket.socket | None
    _count: int = 0

    @property
    def root(self) -> Path:
        """An empty folder, where a kernel's root is mounted."""
        return self.folder / "root"

    @property
    def alive(self) -> bool:
        """Whether there still is a server to take orders."""
        if self.control is None:
            return True
        try:
            return bool(self.control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:  # it has nothing to say
            return True
        except OSError:
            return False

    def order(self, policy: Policy, view: View, environment: Mapping[str, str] | None = None) -> Line:
        """Have a kernel. Returns once its sockets are bound. Raises SandboxError where it does not start.

        policy: its mode must be decided
        environment: added to what all kernels have
        """
        if policy.mode is None:
            raise SandboxError("the policy's mode is not decided")
        self._count += 1
        folder = self.folder / f"{os.getpid()}-{self._count}"
        folder.mkdir(mode=0o711)
        key = secrets.token_hex(32)
        walls = Walls(policy.mode, policy, view, str(self.root), str(folder))
        order = Order(walls, key, {**_environment(policy), **(environment or {})})
        ours, supervisors = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        channel, agents = socket.socketpair()
        listeners = [_listener(f"{folder / 'k'}-{i}") for i in range(1, len(CHANNELS) + 1)]
        given = [supervisors, agents, *listeners]
        try:
            server = self._send(order, [end.fileno() for end in given])
        except OSError as error:
            ours.close()
            channel.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise SandboxError(f"the fork server is gone ({error})") from None
        finally:
            for end in given:
                end.close()
        return _await(Line(0, folder, key, channel, ours, server), policy)

    def _send(self, order: Order, descriptors: list[int]) -> subprocess.Popen[bytes] | None:
        packet = [order.to_json().encode()]
        if self.control is not None:
            socket.send_fds(self.control, packet, descriptors)
            return None
        server, control = start_server(self.folder, "once")
        with control:
            socket.send_fds(control, packet, descriptors)
        return server


def _await(line: Line, policy: Policy) -> Line:
    said = packet_of(line._supervisor, policy.start_seconds + 1)  # the supervisor gives up first, with a reason
    if said is not None and "ready" in said:
        return replace(line, process=said["ready"])
    ending = line.close()
    why = said.get("failed") if said else "it ended without a word"
    if ending.code:
        why = f"{why} (it ended with {ending.code})"
    raise SandboxError(f"a kernel could not start: {why}")


def start_server(folder: Path, *extra: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A server's process, and our end of the line to it."""
    ours, servers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-P", "-m", "grader.sandbox.zygote", str(servers.fileno()), str(folder), *extra]
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _ENVIRONMENT
    with servers:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment, cwd="/",
            pass_fds=[servers.fileno()], start_new_session=True,
        )  # fmt: skip
    return process, ours


def end_server(process: subprocess.Popen[bytes]) -> None:
    """Wait for a server that has been told to go; make it go if it does not."""
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def packet_of(line: socket.socket, seconds: float) -> dict[str, Any] | None:
    """One packet of JSON, or None where the line closes or stays silent."""
    if not select.select([line], [], [], seconds)[0]:
        return None
    packet = line.recv(_PACKET)
    return dict(json.loads(packet)) if packet else None


def _environment(policy: Policy) -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    threads = str(max(policy.threads, 1))
    made = passed | _ENVIRONMENT | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    if policy.gpu:
        del made[_VISIBLE]
        if _VISIBLE in os.environ:
            made[_VISIBLE] = os.environ[_VISIBLE]
        made["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # products come out the same in every run
        made[GPU_SHARE] = str(0.9 / max(policy.gpu_kernels, 1))  # the rest for their contexts
    return made


def _listener(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(8)  # the grader connects once, nbclient's client perhaps twice
    return listener
