"""Results by content: every ingredient is in the name, and a file is whole or not there."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from attnlab.verdict import CheckResult, Verdict
from grader.cache import Cache, Keys, write_whole
from grader.course import Course
from grader.ledger import ExerciseRow, Graded, Ledger
from grader.sandbox import Policy


@pytest.fixture
def copied(course: Course, tmp_path: Path) -> Course:
    shutil.copytree(course.solutions, tmp_path / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "notebooks").mkdir()
    return Course(tmp_path)


def keys(course: Course, device: str = "cpu", policy: Policy | None = None) -> Keys:
    return Keys(Course(course.root), device, policy or Policy())


def test_everything_that_matters_is_in_the_name(copied: Course) -> None:
    names = {
        keys(copied).key(b"a", "02_cross_attention"),
        keys(copied).key(b"b", "02_cross_attention"),
        keys(copied).key(b"a", "01_mask"),
        keys(copied, device="cuda").key(b"a", "02_cross_attention"),
        keys(copied, policy=Policy(cell_seconds=1.0)).key(b"a", "02_cross_attention"),
    }
    for path in ("01_mask.py", "02_cross_attention.py", "hidden/checks/cross_attention.py", "hidden/inputs.py"):
        file = copied.solutions / path
        file.write_text(file.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
        names.add(keys(copied).key(b"a", "02_cross_attention"))
    assert len(names) == 9


def test_what_does_not_matter_is_not(copied: Course) -> None:
    before = keys(copied).key(b"a", "02_cross_attention")
    assert keys(copied).key(b"a", "02_cross_attention") == before
    for path in ("03_decoder_block.py", "hidden/checks/masked_softmax.py", "README.md"):
        file = copied.solutions / path
        file.write_text(file.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert keys(copied).key(b"a", "02_cross_attention") == before


def test_keeps_results_whole(tmp_path: Path) -> None:
    row = CheckResult("one", Verdict.FAILED, "why", "help", "consistent with: a fault", True, 0.0, 1.0)
    ledger = Ledger("01_mask", (ExerciseRow("causal_mask", (row, replace(row, verdict=Verdict.PASSED))),))
    kept = Graded(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1", id="a")]), ledger)
    cache = Cache(tmp_path)
    assert cache.get("ab12") is None
    cache.put("ab12", kept)
    assert cache.holds("ab12")
    assert cache.get("ab12") == kept
    file = next(tmp_path.rglob("*.json"))
    file.write_text(file.read_text(encoding="utf-8")[:-5], encoding="utf-8")
    assert cache.get("ab12") is None, "a torn file counts as not there"


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.json"]
