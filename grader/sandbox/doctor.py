"""What this host can do for the sandbox, and how to get what is missing."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import landlock, linux
from grader.sandbox.canary import prove
from grader.sandbox.kernel import Sandbox, SandboxError
from grader.sandbox.policy import Mode, Policy
from grader.sandbox.probe import best, can_fork, probe

__all__ = ["Finding", "report"]


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    what: what was looked at
    ok: whether it is as grading wants it
    detail: what was found
    remedy: how to get it, or ""
    """

    what: str
    ok: bool
    detail: str
    remedy: str = ""


def report(course_root: Path | None = None) -> list[Finding]:
    """Try everything and say what was found. Starts a fork server and a kernel; takes some seconds. Never raises."""
    findings = [_system(), *_modes(), _forking()]
    mode = best()
    if mode is Mode.NONE:
        why = "no mode can be had, so the grader refuses to run other people's notebooks"
        return [*findings, Finding("confinement", False, why, "Get one of the modes above, or say --unsafe.")]
    return [*findings, *_kernel(mode, course_root)]


def _system() -> Finding:
    machine = linux.MACHINE or sys.platform
    user = "root: each kernel gets a user id of its own" if os.geteuid() == 0 else "an ordinary user"
    known = machine in ("x86_64", "aarch64")
    remedy = "" if known else "The system call filter knows x86_64 and aarch64 Linux only. On Windows use WSL2."
    return Finding("system", known, f"{machine}, {user}", remedy)


def _modes() -> list[Finding]:
    found = []
    for ability in probe():
        if ability.mode is Mode.NONE:
            continue
        detail = "works" if ability.available else ability.reason
        if ability.mode is Mode.LANDLOCK and ability.available:
            detail = f"works, version {landlock.abi()}"
        found.append(Finding(str(ability.mode), ability.available, detail, ability.remedy))
    return found


def _forking() -> Finding:
    if can_fork():
        return Finding("fork server", True, "kernels are forked, a start takes about a tenth of a second")
    return Finding("fork server", False, "kernels start one by one, which takes seconds", "Grade on Linux for speed.")


def _kernel(mode: Mode, course_root: Path | None) -> list[Finding]:
    try:
        with Sandbox(Policy(mode=mode), course_root=course_root) as sandbox, sandbox.kernel() as kernel:
            attempts = prove(kernel, course_root)
            missing = sandbox.missing
    except SandboxError as error:
        return [
            Finding("confinement", False, str(error), "Please report this; --unsafe is for your own notebooks only.")
        ]
    refused = f"by {mode}; a kernel was refused {len(attempts)} of {len(attempts)} things that it must not do"
    found = [Finding("confinement", True, refused)]
    if missing:
        words = "; ".join(missing)
        found.append(Finding("preloaded modules", False, words, "Install what requirements.txt names."))
    return found
