"""The process's surroundings that nbgrader relies on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["with_tools_on_path"]


@contextmanager
def with_tools_on_path() -> Iterator[None]:
    """Put the environment's own scripts on PATH: nbgrader calls `alembic` by name when it makes a gradebook."""
    before = os.environ.get("PATH", "")
    scripts = str(Path(sys.executable).parent)
    if scripts not in before.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([scripts, before])
    try:
        yield
    finally:
        os.environ["PATH"] = before
