"""Confined kernels for other people's notebooks.

with Sandbox(Policy(), course_root=root) as sandbox, sandbox.kernel() as kernel:
    executed = kernel.run(notebook)
    answer = kernel.answer("causal_mask")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.sandbox.kernel import Incident, Kernel, Sandbox
    from grader.sandbox.orders import SandboxError
    from grader.sandbox.policy import Mode, Policy, PolicyError

__all__ = ["Incident", "Kernel", "Mode", "Policy", "PolicyError", "Sandbox", "SandboxError"]


_LIGHT = {"Mode": "policy", "Policy": "policy", "PolicyError": "policy", "SandboxError": "orders"}


def __getattr__(name: str) -> Any:
    """Import a name of the surface when it is first used: torch comes with kernels, and few processes have any."""
    if name not in __all__:
        raise AttributeError(name)
    return getattr(import_module(f"grader.sandbox.{_LIGHT.get(name, 'kernel')}"), name)
