"""The student library: checks of what you wrote, pictures of it, and what your earlier lessons hand on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attnlab.chain import earlier
from attnlab.progress import progress
from attnlab.report import Report, check
from attnlab.signing import sign_off

if TYPE_CHECKING:
    from attnlab.breaking import break_it
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


def __getattr__(name: str) -> Any:
    """Called by Python for names that are not here yet. The widgets are loaded when the first of them is asked for."""
    if name in __all__:
        return getattr(import_module("attnlab.breaking" if name == "break_it" else "attnlab.widgets"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
