"""What this host can do for the course: the sandbox, a GPU, a browser, and how to get what is missing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.table import Table
from rich.text import Text

from grader.sandbox import doctor
from grader.sandbox.doctor import Finding

__all__ = ["Finding", "report", "safe", "table"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def report(course_root: Path | None = None) -> list[Finding]:
    """Try everything and say what was found. Never raises."""
    return [*doctor.report(course_root), _gpu(), _browser()]


def safe(findings: Sequence[Finding]) -> bool:
    """Whether other people's notebooks may be run here."""
    return any(found.what == "confinement" and found.ok for found in findings)


def table(findings: Sequence[Finding]) -> Table:
    """The findings as people read them."""
    made = Table(expand=False)
    for name in ("what", "", "found"):
        made.add_column(name, overflow="fold")
    for found in findings:
        words = found.detail if not found.remedy else f"{found.detail}\n{found.remedy}"
        made.add_row(found.what, "✓" if found.ok else "✗", Text(words))
    return made


def _gpu() -> Finding:
    if torch.cuda.is_available():
        return Finding("GPU", True, torch.cuda.get_device_name(0))
    return Finding("GPU", False, "torch finds none; grading runs on the CPU and gives the same marks")


def _browser() -> Finding:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found:
        return Finding("browser", True, found)
    return Finding("browser", False, "none found; only the browser tests need one", "Install Chromium.")
