"""`python -m grader score` on what authors and learners have: the solutions earn all, the stubs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course import Course
from grader.source import source_notebook, text_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernels")]

LESSONS = ("01_mask", "02_cross_attention", "03_decoder_block", "04_full_forward", "05_greedy_decode")
POINTS = dict(zip(LESSONS, (16, 20, 20, 24, 20), strict=True))


def score(course: Course, *args: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", "score", *map(str, args)]
    return subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)


def by_lesson(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    printed = json.loads(done.stdout)
    assert printed["format"] == 1
    return {row["lesson"]: row for row in printed["submissions"]}


def test_solutions_earn_everything(course: Course, tmp_path: Path) -> None:
    files = []
    for name, lesson in course.lessons.items():
        files.append(tmp_path / f"{name}.ipynb")
        files[-1].write_text(text_of(source_notebook(lesson)), encoding="utf-8")
    done = score(course, *files, "--json")
    assert done.returncode == 0, done.stderr
    rows = by_lesson(done)
    assert {name: row["points"] for name, row in rows.items()} == POINTS
    assert {name: row["max_points"] for name, row in rows.items()} == POINTS
    assert {c["verdict"] for row in rows.values() for e in row["exercises"] for c in e["checks"]} == {"passed"}
    assert [row["file"] for row in rows.values()] == [str(f) for f in files]


def test_releases_earn_nothing(course: Course) -> None:
    done = score(course, *sorted(course.notebooks.glob("0*/*.ipynb")), "--json")
    assert done.returncode == 0, done.stderr
    rows = by_lesson(done)
    assert {name: row["points"] for name, row in rows.items()} == dict.fromkeys(POINTS, 0)
    assert {name: row["max_points"] for name, row in rows.items()} == POINTS


def test_what_cannot_be_read_is_a_row_with_a_reason(course: Course, tmp_path: Path) -> None:
    (tmp_path / "torn.ipynb").write_text('{"cells": [')
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "other.ipynb")
    done = score(course, tmp_path / "torn.ipynb", tmp_path / "other.ipynb", tmp_path / "none.ipynb", "--json")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    rows = json.loads(done.stdout)["submissions"]
    assert [(row["status"], row["lesson"], row["points"]) for row in rows] == [("ungraded", None, 0)] * 3
    assert all(row["reason"] for row in rows)
    table = score(course, tmp_path / "torn.ipynb")
    assert table.returncode == 1
    assert "ungraded" in table.stdout


def test_wrong_calls_are_refused(course: Course) -> None:
    assert score(course).returncode == 2
    assert score(course, "--jsno", "x.ipynb").returncode == 2
