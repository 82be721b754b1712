"""nbgrader's own commands on the sample class: exit code 0, the ledgers' points, and feedback that says why."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.course import Course
from grader.demo import Nbgrader
from grader.records import stored_ledgers

SAMPLES = Path(__file__).parent.parent / "submissions"
LESSON = "01_mask"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernels")]


@pytest.fixture(scope="module")
def nbgrader(course: Course) -> Iterator[Nbgrader]:
    """The class of lesson 1, graded by `nbgrader autograde`, with accidents that stock nbgrader does not survive."""
    made = Nbgrader(course, course.grading / "test")
    shutil.rmtree(made.grading, ignore_errors=True)
    submitted = made.grading / "submitted"
    for folder in (SAMPLES / "submitted").glob(f"*/{LESSON}"):
        if folder.parent.name != "judy":  # an endless loop, which other tests wait for
            shutil.copytree(folder, submitted / folder.parent.name / LESSON)
    for name in ("torn", "nothing", "bad_time"):
        (submitted / name / LESSON).mkdir(parents=True)
    (submitted / "torn" / LESSON / f"{LESSON}.ipynb").write_text('{"cells": [')
    shutil.copy(submitted / "carl" / LESSON / f"{LESSON}.ipynb", submitted / "bad_time" / LESSON / "mask (1).ipynb")
    (submitted / "bad_time" / LESSON / "timestamp.txt").write_text("yesterday, perhaps")
    (submitted / "bad_time" / LESSON / "torch.py").write_text("raise SystemExit")
    for step in (("autograde", LESSON), ("generate_feedback", LESSON), ("export",)):
        done = made.run(*step)
        assert done.returncode == 0, done.stderr[-3000:]
    yield made
    shutil.rmtree(made.grading, ignore_errors=True)


def expected(student: str) -> dict[str, float]:
    ledger = json.loads((SAMPLES / "expected" / student / f"{LESSON}.json").read_text(encoding="utf-8"))
    return {f"test_{row['name']}": row["points"] for row in ledger["exercises"]}


def test_gradebook_holds_the_ledgers_points(nbgrader: Nbgrader) -> None:
    exported = nbgrader.exported()
    with Gradebook(f"sqlite:///{nbgrader.grading / 'gradebook.db'}") as gradebook:
        for student in ("ada", "alan", "barbara", "carl", "grace", "ken", "bad_time"):
            wanted = expected("carl" if student == "bad_time" else student)
            notebook = gradebook.find_submission_notebook(LESSON, LESSON, student)
            assert {grade.name: grade.auto_score for grade in notebook.grades} == wanted
            assert not notebook.needs_manual_grade
            assert exported[student, LESSON] == sum(wanted.values())


def test_what_cannot_be_graded_asks_for_a_person(nbgrader: Nbgrader) -> None:
    ledgers = stored_ledgers(nbgrader.grading, LESSON)
    with Gradebook(f"sqlite:///{nbgrader.grading / 'gradebook.db'}") as gradebook:
        for student, reason in (("torn", "not JSON"), ("nothing", "No notebook")):
            assert reason in ledgers[student].reason
            notebook = gradebook.find_submission_notebook(LESSON, LESSON, student)
            assert notebook.needs_manual_grade
            assert notebook.score == 0


def test_feedback_says_why(nbgrader: Nbgrader) -> None:
    pages = nbgrader.grading / "feedback"
    carl = (pages / "carl" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    assert "hidden scores were set to -1e9 instead of minus infinity" in carl
    torn = (pages / "torn" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    assert "This submission was not graded" in torn


def test_nothing_but_notebook_and_time_is_taken_on(nbgrader: Nbgrader) -> None:
    assert [p.name for p in (nbgrader.grading / "autograded" / "bad_time" / LESSON).iterdir()] == [f"{LESSON}.ipynb"]


def test_a_manual_score_survives_a_regrade(nbgrader: Nbgrader) -> None:
    with Gradebook(f"sqlite:///{nbgrader.grading / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("test_masked_softmax", LESSON, LESSON, "carl")
        grade.manual_score = 7.0
        gradebook.db.commit()
    done = nbgrader.run("autograde", LESSON, "--student=carl", "--force")
    assert done.returncode == 0, done.stderr[-3000:]
    with Gradebook(f"sqlite:///{nbgrader.grading / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("test_masked_softmax", LESSON, LESSON, "carl")
        assert (grade.manual_score, grade.score) == (7.0, 7.0)
        assert grade.auto_score == expected("carl")["test_masked_softmax"]
        assert grade.needs_manual_grade


def test_a_late_submission_pays_what_nbgraders_plugin_says(nbgrader: Nbgrader) -> None:
    address = f"sqlite:///{nbgrader.grading / 'gradebook.db'}"
    with Gradebook(address) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate="2026-03-01 12:00:00 UTC")
    for student, clock in (("barbara", "11:59"), ("grace", "12:01")):
        time = nbgrader.grading / "submitted" / student / LESSON / "timestamp.txt"
        time.write_text(f"2026-03-01 {clock} UTC")
        done = nbgrader.run(
            "autograde", LESSON, f"--student={student}", "--force", "--LateSubmissionPlugin.penalty_method=zero"
        )
        assert done.returncode == 0, done.stderr[-3000:]
    with Gradebook(address) as gradebook:
        early, late = (gradebook.find_submission_notebook(LESSON, LESSON, name) for name in ("barbara", "grace"))
        assert (early.score, early.late_submission_penalty) == (sum(expected("barbara").values()), None)
        assert (late.score, late.late_submission_penalty) == (sum(expected("grace").values()),) * 2
        assert late.score > 0
