"""The student library: checks of what you wrote, pictures of it, and what your earlier lessons hand on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnlab.breaking import break_it
    from attnlab.chain import earlier
    from attnlab.progressing import progress
    from attnlab.report import Report, check
    from attnlab.signing import sign_off
    from attnlab.widgets import (
        attention_view,
        block_trace,
        contrast_view,
        cross_view,
        decode_stepper,
        leak_probe,
        mask_lab,
        recorded_attention,
        recorded_translation,
        shift_view,
    )

__all__ = [
    "Report", "attention_view", "block_trace", "break_it", "check", "contrast_view", "cross_view", "decode_stepper",
    "earlier", "leak_probe", "mask_lab", "progress", "recorded_attention", "recorded_translation", "shift_view",
    "sign_off",
]  # fmt: skip


_MODULES = {
    "Report": "report", "break_it": "breaking", "check": "report", "earlier": "chain", "progress": "progressing",
    "sign_off": "signing",
}  # fmt: skip
"""Where a name is, unless it is a widget."""


def __getattr__(name: str) -> Any:
    """Called by Python for names that are not here yet: torch and the widgets are loaded for those who use them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"attnlab.{_MODULES.get(name, 'widgets')}"), name)
    return value
