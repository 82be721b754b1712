"""A class graded on many cores, killed and taken up again, ends as when it is graded one by one."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from grader.course import Course

SAMPLES = Path(__file__).parent.parent / "submissions"
LESSON = "01_mask"
KILLS = 20

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("autograde")]


@pytest.fixture(scope="module")
def class_of(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Makes a course with a class of its own in a fresh folder."""

    def make() -> Path:
        root = tmp_path_factory.mktemp("course")
        shutil.copytree(course.solutions, root / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "notebooks").mkdir()
        shutil.copy(course.root / "nbgrader_config.py", root)
        submitted = root / ".grading" / "submitted"
        for student in ("ada", "barbara", "carl", "grace", "ken"):
            shutil.copytree(SAMPLES / "submitted" / student / LESSON, submitted / student / LESSON)
        (submitted / "torn" / LESSON).mkdir(parents=True)
        (submitted / "torn" / LESSON / f"{LESSON}.ipynb").write_text('{"cells": [')
        return root

    return make


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", *args]


def run(root: Path, *args: str, code: int = 0) -> str:
    return ran(root, *args, code=code).stdout


def ran(root: Path, *args: str, code: int) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command(*args), cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def gradebook(root: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows that matter, without ids, which are random, and without times."""
    queries = {
        "grades": """select a.student_id, n.name, g.auto_score, g.manual_score, g.needs_manual_grade, g.extra_credit
            from grade g join submitted_notebook s on g.notebook_id = s.id
            join submitted_assignment a on s.assignment_id = a.id
            join base_cell n on g.cell_id = n.id order by 1, 2""",
        "comments": """select a.student_id, n.name, c.auto_comment, c.manual_comment
            from comment c join submitted_notebook s on c.notebook_id = s.id
            join submitted_assignment a on s.assignment_id = a.id
            join base_cell n on c.cell_id = n.id order by 1, 2""",
        "students": "select id, first_name, last_name from student order by 1",
        "submissions": """select a.student_id, s.late_submission_penalty from submitted_notebook s
            join submitted_assignment a on s.assignment_id = a.id order by 1""",
    }
    with sqlite3.connect(root / ".grading" / "gradebook.db") as db:
        return {name: db.execute(query).fetchall() for name, query in queries.items()}


def ledgers(root: Path) -> dict[str, Any]:
    """Ledgers without the words that quote sizes, which follow the secret seed."""
    found = {}
    for path in sorted((root / ".grading" / "ledgers" / LESSON).glob("*.json")):
        ledger = json.loads(path.read_text(encoding="utf-8"))["ledger"]
        for exercise in ledger["exercises"]:
            for check in exercise["checks"]:
                del check["rationale"]
        found[path.stem] = ledger
    return found


@pytest.fixture(scope="module")
def one_by_one(class_of: Any) -> Path:
    root: Path = class_of()
    run(root, "nbgrader", "autograde", LESSON)
    return root


@pytest.mark.parametrize("jobs", [1, 2])
def test_any_number_of_workers_gives_the_same(jobs: int, class_of: Any, one_by_one: Path) -> None:
    root = class_of()
    said = run(root, "grader", "autograde", LESSON, f"--jobs={jobs}", code=1)
    assert "torn: It is not a notebook" in " ".join(said.split()).replace("│ ", "")
    assert gradebook(root) == gradebook(one_by_one)
    assert ledgers(root) == ledgers(one_by_one)
    assert len(ledgers(root)) == 6


def test_only_what_changed_is_graded_again(class_of: Any, one_by_one: Path) -> None:
    root = class_of()
    run(root, "grader", "autograde", LESSON, code=1)
    stored = {p: p.stat().st_mtime_ns for p in (root / ".grading").rglob("*.json")}
    run(root, "grader", "autograde", LESSON, code=1)
    assert {p: p.stat().st_mtime_ns for p in (root / ".grading").rglob("*.json")} == stored
    submitted = root / ".grading" / "submitted"
    shutil.copy(submitted / "ada" / LESSON / f"{LESSON}.ipynb", submitted / "carl" / LESSON / f"{LESSON}.ipynb")
    run(root, "grader", "autograde", LESSON, code=1)
    changed = {p.stem for p, t in stored.items() if "ledgers" in p.parts and p.stat().st_mtime_ns != t}
    assert changed == {"carl"}
    assert ledgers(root)["carl"] == ledgers(one_by_one)["ada"]


def test_a_run_that_is_killed_is_taken_up(class_of: Any, one_by_one: Path) -> None:
    root = class_of()
    begun = time.monotonic()
    subprocess.run(command("grader", "autograde", LESSON, "--force"), cwd=class_of(), capture_output=True, check=False)
    whole = time.monotonic() - begun
    moments = random.Random(7)
    for _ in range(KILLS):
        process = subprocess.Popen(
            command("grader", "autograde", LESSON), cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(moments.uniform(0, whole))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    run(root, "grader", "autograde", LESSON, code=1)
    assert gradebook(root) == gradebook(one_by_one)
    assert ledgers(root) == ledgers(one_by_one)


def test_some_students_alone(class_of: Any, one_by_one: Path) -> None:
    root = class_of()
    run(root, "grader", "autograde", LESSON, "--student=carl", "--student=k*")
    assert ledgers(root) == {who: ledgers(one_by_one)[who] for who in ("carl", "ken")}


def test_a_gradebook_that_was_lost_or_replaced_is_filled_again(class_of: Any, one_by_one: Path) -> None:
    root = class_of()
    book = root / ".grading" / "gradebook.db"
    run(root, "grader", "autograde", LESSON, "--student=carl")
    shutil.copy(book, root / "older.db")
    run(root, "grader", "autograde", LESSON, code=1)
    shutil.copy(root / "older.db", book)
    run(root, "grader", "autograde", LESSON, code=1)
    assert gradebook(root) == gradebook(one_by_one)
    book.unlink()
    run(root, "grader", "autograde", LESSON, code=1)
    assert gradebook(root) == gradebook(one_by_one)


def test_a_gradebook_that_cannot_be_read_is_a_sentence(class_of: Any) -> None:
    root = class_of()
    (root / ".grading" / "gradebook.db").write_text("not a database")
    done = ran(root, "grader", "autograde", LESSON, code=2)
    assert done.stderr.startswith("The gradebook cannot be used: file is not a database. It is .grading/gradebook.db")
    assert "Traceback" not in done.stderr


def test_what_cannot_be_stored_is_named_and_nothing_of_it_is_kept(class_of: Any, one_by_one: Path) -> None:
    root = class_of()
    run(root, "grader", "autograde", LESSON, "--student=ada")
    with sqlite3.connect(root / ".grading" / "gradebook.db") as db:
        db.execute("create trigger full before update on grade begin select raise(abort, 'disk is full'); end")
    done = ran(root, "grader", "autograde", LESSON, code=2)
    assert "exception calling callback" not in done.stderr
    assert "for student 'carl'" in done.stderr and "disk is full" in done.stderr
    assert {row[0] for row in gradebook(root)["grades"]} == {"ada"}
    with sqlite3.connect(root / ".grading" / "gradebook.db") as db:
        db.execute("drop trigger full")
    run(root, "grader", "autograde", LESSON, code=1)
    assert gradebook(root) == gradebook(one_by_one)


def test_nothing_to_grade_is_said(class_of: Any) -> None:
    root = class_of()
    done = ran(root, "grader", "autograde", "02_cross_attention", code=2)
    assert "02_cross_attention" in done.stderr
    assert "Traceback" not in done.stderr
