"""Sandboxes for the tests: one fork server for each mode, shared by all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from grader.course import Course
from grader.sandbox import Mode, Policy, Sandbox
from grader.sandbox.probe import probe

MODES = (Mode.NAMESPACES, Mode.LANDLOCK)


@pytest.fixture(scope="session", params=MODES, ids=str)
def sandbox(request: pytest.FixtureRequest, course: Course) -> Iterator[Sandbox]:
    """A sandbox of each mode that this host can do."""
    ability = next(ability for ability in probe() if ability.mode is request.param)
    if not ability.available:
        pytest.skip(f"this host has no {ability.mode}: {ability.reason}")
    with Sandbox(Policy(mode=request.param), course_root=course.root) as made:
        yield made


def cells(*sources: str) -> nbformat.NotebookNode:
    """A notebook of these code cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def text(cell: nbformat.NotebookNode) -> str:
    """All that a cell printed, showed or raised."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(output.data.get("text/plain", ""))
    return "\n".join(parts)


def descendants(process: int) -> set[int]:
    """The processes below one."""
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == process:
                found |= {int(entry.name)} | descendants(int(entry.name))
    return found


def of_kernels(sandbox: Sandbox) -> set[int]:
    """The processes below a sandbox's fork server."""
    if sandbox._server is None or sandbox._server._process is None:
        return set()
    return descendants(sandbox._server._process.pid)


def all_gone(sandbox: Sandbox, seconds: float = 2.0) -> bool:
    """Whether nothing but the fork server is left, at once or within that time."""
    deadline = time.monotonic() + seconds
    while of_kernels(sandbox) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not of_kernels(sandbox)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
