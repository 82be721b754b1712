"""Confined kernels for other people's notebooks.

with Sandbox(Policy(), course_root=root) as sandbox, sandbox.kernel() as kernel:
    executed = kernel.run(notebook)
    answer = kernel.answer("causal_mask")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.sandbox.kernel import Incident, Kernel, Sandbox, SandboxError
    from grader.sandbox.policy import Mode, Policy, PolicyError

__all__ = ["Incident", "Kernel", "Mode", "Policy", "PolicyError", "Sandbox", "SandboxError"]


def __getattr__(name: str) -> Any:
    """Import a name of the surface when it is first used: the probe's child must not load torch for it."""
    if name not in __all__:
        raise AttributeError(name)
    from grader.sandbox import kernel, policy

    return getattr(policy if hasattr(policy, name) else kernel, name)
