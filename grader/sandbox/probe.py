"""What this host can do: found out by trying the whole set-up in a throw-away child, never from version numbers.

Run as `python -m grader.sandbox.probe MODE` it is that child's parent: it prints "" or what went wrong.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from grader.sandbox.confinement import Walls
from grader.sandbox.mounts import View
from grader.sandbox.orders import SandboxError
from grader.sandbox.policy import Mode, Policy

__all__ = ["Ability", "ability", "best", "can_fork", "decide", "probe"]

_SECONDS = 30.0  # for a child that needs a tenth; a host that takes longer cannot do it


@dataclass(frozen=True)
class Ability:
    """Whether this host can confine kernels in one mode.

    reason: what went wrong, or ""
    remedy: how to get it, or ""
    """

    mode: Mode
    available: bool
    reason: str = ""
    remedy: str = ""


def probe() -> tuple[Ability, ...]:
    """Try every mode, the strictest first."""
    return tuple(map(ability, Mode))


def best() -> Mode:
    """The strictest mode that this host can do."""
    return next(mode for mode in Mode if ability(mode).available)


def can_fork() -> bool:
    """Whether a process that has loaded torch may be forked here: not on macOS, whose own libraries forbid it."""
    return sys.platform == "linux"


def decide(policy: Policy) -> Policy:
    """The policy with its mode decided. Raises SandboxError where this host cannot confine kernels as it asks."""
    if policy.mode is Mode.NONE:
        return policy
    wanted = policy.mode or best()
    if wanted is Mode.NONE and not policy.unsafe:
        raise SandboxError(f"this host cannot confine other people's code.\n{_missing(tuple(Mode)[:2])}")
    if not ability(wanted).available:
        raise SandboxError(f"this host cannot confine kernels by {wanted}.\n{_missing((wanted,))}")
    return policy.with_mode(wanted)


def _missing(modes: tuple[Mode, ...]) -> str:
    lines = [f"{a.mode}: {a.reason}. {a.remedy}" for a in map(ability, modes)]
    return "\n".join([*lines, "To run notebooks that are your own without walls, say --unsafe."])


@functools.cache
def ability(mode: Mode) -> Ability:
    """Try one mode. The answer is kept: a host does not change while the grader runs."""
    if mode is Mode.NONE:
        return Ability(mode, True)
    if sys.platform != "linux":
        return Ability(mode, False, "this system is not Linux", _OTHER_SYSTEMS)
    command = [sys.executable, "-P", "-m", "grader.sandbox.probe", mode.value]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, cwd="/", check=False)
        reason = done.stdout.strip() or ("" if done.returncode == 0 else f"the attempt ended with {done.returncode}")
    except subprocess.TimeoutExpired:
        reason = f"the attempt took more than {_SECONDS:g} seconds"
    return Ability(mode, not reason, reason, _REMEDIES[mode] if reason else "")


_OTHER_SYSTEMS = "On Windows use WSL2; on macOS a Linux container or virtual machine."
_REMEDIES = {
    Mode.NAMESPACES: (
        "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 and, on Ubuntu, "
        "kernel.apparmor_restrict_unprivileged_userns=0), or run as root; a container needs CAP_SYS_ADMIN and a "
        "seccomp profile that lets mount and unshare through. Linux 5.12 or newer."
    ),
    Mode.LANDLOCK: (
        "Use Linux 5.13 or newer with Landlock among its security modules (boot parameter lsm=landlock,...); a "
        "container's seccomp profile must let the landlock calls through."
    ),
}


def _attempt(mode: Mode) -> str:
    """Put a child behind the walls of a mode. Returns what went wrong, or ""."""
    policy = Policy(mode=mode)
    with tempfile.TemporaryDirectory(prefix="probe-") as folder:
        os.chmod(folder, 0o711)
        root, own = f"{folder}/root", f"{folder}/own"
        os.mkdir(root)
        os.mkdir(own, 0o711)
        walls = Walls(mode, policy, View.of_host(policy, None), root, own)
        try:
            user = walls.before_fork()
        except OSError as error:
            return str(error)
        end, said = os.pipe()
        child = os.fork()
        if child == 0:
            _child(walls, user, said)
        os.close(said)
        with os.fdopen(end) as words:
            reason = words.read()
        os.waitpid(child, 0)
    return reason


def _child(walls: Walls, user: int, said: int) -> None:
    """In the fork: never returns."""
    try:
        walls.close(user)
        if error := _holds(walls):
            os.write(said, error.encode())
    except Exception as error:
        os.write(said, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(0)


def _holds(walls: Walls) -> str:
    """Called behind the walls: "" where they hold against the two simplest attempts."""
    import socket

    try:
        os.listdir(os.path.dirname(walls.folder))
        return "a folder that is not named can still be read"
    except OSError:
        pass
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
        return "a network socket can still be made"
    except OSError:
        return ""


if __name__ == "__main__":
    reason = _attempt(Mode(sys.argv[1]))
    print(reason)
    sys.exit(bool(reason))
