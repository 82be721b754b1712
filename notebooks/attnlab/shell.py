"""Where this runs: in a notebook's kernel, or anywhere else."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["current_shell", "has_kernel"]


def current_shell() -> Any:
    """IPython's shell where there is one, else None."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module else None


def has_kernel(shell: Any) -> bool:
    """Whether a notebook shows what the cell returns; a terminal IPython has a shell but no kernel."""
    return getattr(shell, "kernel", None) is not None
