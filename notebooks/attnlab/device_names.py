"""What the devices are called on which an answer is run."""

from __future__ import annotations

__all__ = ["CPU", "GPU", "HOME", "PRETEND"]

CPU = "cpu"
GPU = "cuda"
"""The machine's first GPU."""

PRETEND = "pretend"
"""The arguments are on the pretend GPU; see `attnlab.pretend`."""

HOME = "pretend-home"
"""The arguments are on the CPU of a machine that has the pretend GPU."""
