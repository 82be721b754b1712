"""The policy: every limit on a kernel that runs other people's code, each with its reason."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

__all__ = ["GPU_SHARE", "Mode", "Policy", "PolicyError"]

GPU_SHARE = "ATTENTION_GPU_SHARE"
"""The variable in a kernel's environment that says which share of a GPU's memory it may take."""

MIB = 1 << 20
GIB = 1 << 30


class PolicyError(ValueError):
    """A policy that cannot be meant: an unknown field, a limit that is no positive number, an unsafe mode unsaid."""


class Mode(StrEnum):
    """How a kernel is confined."""

    NAMESPACES = "namespaces"  # its own root, processes and network; Landlock and seccomp on top
    LANDLOCK = "landlock"  # the host's root behind Landlock; seccomp; for hosts that refuse namespaces
    NONE = "none"  # not at all; only for notebooks that one has written oneself


@dataclass(frozen=True)
class Policy:
    """What one kernel may do and use. Times are seconds, sizes are bytes.

    mode: None takes the best that this host can do
    unsafe: must be said for Mode.NONE, which confines nothing
    """

    mode: Mode | None = None
    unsafe: bool = False

    # time -------------------------------------------------------------------------------------------------------------
    start_seconds: float = 60.0  # a fork takes 0.1; this covers a first import of torch from a cold disk
    cell_seconds: float = 20.0  # the slowest cell of the course takes 2; a whole class must not wait for one loop
    repeat_seconds: float = 5.0  # a cell that hung once is given less when the notebook is run again
    notebook_seconds: float = 600.0  # all cells of a notebook, re-runs after a crash included
    grace_seconds: float = 2.0  # between an interrupt and the kill
    call_seconds: float = 10.0  # one call of an answer; the slowest honest one, a greedy decode, takes 0.1
    answer_seconds: float = 120.0  # all calls of one answer; the slowest honest one's together take 10
    life_seconds: float = 1800.0  # a kernel with all its cells and calls, whoever forgot it
    cpu_seconds: int = 1200  # processor time of one process; twice the notebook's, for threads

    # memory and processes ---------------------------------------------------------------------------------------------
    address_bytes: int = 4 * GIB  # of one process, beyond what it is born with; the course needs 0.3
    resident_bytes: int = 4 * GIB  # of all processes of a kernel together, beyond what they share with the fork server
    processes: int = 128  # threads count as well; a kernel has 6, a data loader with 8 workers about 40
    open_files: int = 512  # a kernel has about 60
    threads: int = 1  # of torch; with many kernels at once more threads only get in each other's way

    # GPU --------------------------------------------------------------------------------------------------------------
    gpu: bool = False  # whether kernels see the GPUs at all; nothing else needs the driver's large surface
    gpu_kernels: int = 4  # kernels that use the GPU at once; each one's context alone takes about 0.5 GB there

    # disk -------------------------------------------------------------------------------------------------------------
    file_bytes: int = 64 * MIB  # one file; a checkpoint of the course's model has 2
    disk_bytes: int = 256 * MIB  # all files together
    inodes: int = 20_000  # number of files; IPython makes about 20

    # messages ---------------------------------------------------------------------------------------------------------
    output_bytes: int = 8 * MIB  # all outputs of a notebook, as stored; an interactive figure has 0.1 to 1
    message_bytes: int = 32 * MIB  # one message of the kernel; some may wait, so the grader may need 10 times this
    call_bytes: int = 64 * MIB  # tensors of one call or reply; the course's largest has 1
    tree_bytes: int = MIB  # what is not tensors in a call or reply; the largest honest one has 20 kB

    # recovery ---------------------------------------------------------------------------------------------------------
    revivals: int = 3  # fresh kernels for the cells after one that kills the kernel; more is no accident

    mounts: tuple[str, ...] = ()
    """Folders and files that a kernel may read besides the interpreter, the environment and the student library."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", Mode(self.mode) if self.mode is not None else None)
        object.__setattr__(self, "mounts", tuple(self.mounts))
        for name, value in asdict(self).items():
            if name in ("mode", "unsafe", "gpu", "mounts"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value:
                raise PolicyError(f"{name}={value!r} is no limit; give a number that is not negative")
        if self.mode is Mode.NONE and not self.unsafe:
            raise PolicyError("mode 'none' confines nothing; say unsafe=True if these notebooks are your own")

    def with_mode(self, mode: Mode) -> Policy:
        """The same limits under another mode."""
        return replace(self, mode=mode)

    def to_json(self) -> dict[str, Any]:
        """The policy as plain data."""
        return {**asdict(self), "mode": self.mode and self.mode.value, "mounts": list(self.mounts)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Policy:
        """The inverse of `to_json`. Raises PolicyError at an unknown field or a bad value."""
        try:
            return cls(**data)
        except PolicyError:
            raise
        except (TypeError, ValueError) as error:
            raise PolicyError(str(error)) from None

    @cached_property
    def digest(self) -> str:
        """Hexadecimal name of this policy, for cache keys: equal policies have equal digests."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]
