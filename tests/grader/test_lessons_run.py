"""Every lesson in a real kernel: the solutions run clean and earn full points, the release fails at its stubs only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

import attnlab
from attnlab.exercises import LESSONS
from grader.course import Course
from grader.release import release_text
from grader.sandbox import Policy, Sandbox
from grader.source import source_notebook

SECONDS = 90  # what a learner may be asked to wait for a whole lesson, on two cores

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernels")]


@pytest.fixture(scope="module")
def sandbox(course: Course) -> Iterator[Sandbox]:
    with Sandbox(Policy(), course_root=course.root) as made:
        yield made


def outputs(notebook: Any) -> Iterator[tuple[str, Any]]:
    """(cell source, output) for everything that the cells gave."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            yield cell.source, output


def public_points(notebook: Any) -> dict[str, float]:
    """Exercise to what its tests cell shows as text, which is what stock nbgrader reads."""
    shown = {}
    for source, output in outputs(notebook):
        if source.startswith("check(") and output.output_type == "execute_result":
            shown[source[len("check(") : -1]] = float(output.data["text/plain"])
    return shown


@pytest.mark.parametrize("lesson", LESSONS)
def test_solutions_run_clean(lesson: str, course: Course, sandbox: Sandbox) -> None:
    with sandbox.kernel() as kernel:
        began = time.monotonic()
        ran = kernel.run(source_notebook(course.lesson(lesson)))
        assert kernel.incidents == ()
        assert time.monotonic() - began < SECONDS
    bad = [
        (source[:60], output)
        for source, output in outputs(ran)
        if output.output_type == "error" or output.get("name") == "stderr"
    ]
    assert bad == []
    assert public_points(ran) == {e.name: float(e.points) for e in LESSONS[lesson]}


@pytest.mark.parametrize("lesson", LESSONS)
def test_release_fails_at_its_stubs_only(lesson: str, course: Course, sandbox: Sandbox) -> None:
    with sandbox.kernel() as kernel:
        ran = kernel.run(nbformat.reads(release_text(course.lesson(lesson)), as_version=4))
        assert kernel.incidents == ()
    errors = {output.ename for _, output in outputs(ran) if output.output_type == "error"}
    assert errors <= {"NotImplementedError"}
    views = tuple(f"{name}(" for name in attnlab.__all__ if name not in ("Report", "check", "earlier"))
    assert [s for s, o in outputs(ran) if o.output_type == "error" and any(view in s for view in views)] == []
    assert [o for _, o in outputs(ran) if o.get("name") == "stderr"] == []
    assert public_points(ran) == {e.name: 0.0 for e in LESSONS[lesson]}
