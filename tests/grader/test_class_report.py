"""The class report: what it counts, what it shows, and that a name in it is only ever a name."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from grader import cli
from grader.class_facts import ClassFacts, class_facts, without_names
from grader.class_page import class_csv, class_page
from grader.course import Course, CourseError
from grader.safe_csv import safe_cell
from tests.grader.classroom import HOSTILE, MARKUP, hostile, kept, store

LESSON = "01_mask"
MOST = 5_000_000  # bytes of a page


@pytest.fixture(scope="module")
def grading(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample class, one student with a manual score and a penalty, one ungraded, one who hands nothing in."""
    folder = tmp_path_factory.mktemp("grading")
    ledgers = kept(LESSON)
    ledgers["torn"] = replace(ledgers["ada"], reason="It is not a notebook.")
    ledgers[HOSTILE] = hostile(ledgers["carl"])
    store(course, folder, LESSON, ledgers)
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        gradebook.add_student("idle")
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Ünal")
        gradebook.find_grade("test_masked_softmax", LESSON, LESSON, "carl").manual_score = 8.0
        gradebook.find_submission_notebook(LESSON, LESSON, "carl").late_submission_penalty = 2.0
        gradebook.db.commit()
    return folder


@pytest.fixture(scope="module")
def facts(course: Course, grading: Path) -> ClassFacts:
    return class_facts(course, LESSON, grading)


def test_points_are_the_gradebooks(facts: ClassFacts) -> None:
    by_name = {entry.student: entry for entry in facts.entries}
    for student, ledger in kept(LESSON).items():
        if student != "carl":
            assert by_name[student].score == ledger.points
    lost = kept(LESSON)["carl"].exercises[2]
    assert by_name["carl"].score == kept(LESSON)["carl"].points - lost.points + 8 - 2
    assert by_name["carl"].points_of("masked_softmax") == 8
    assert facts.missing == ("idle",)
    assert {entry.student: entry.person for entry in facts.for_a_person} == {"torn": "It is not a notebook."}
    assert by_name["ada"].name == "Ada Ünal"


def test_faults_and_exercises_add_up(facts: ClassFacts) -> None:
    counts = [len(finding.students) for finding in facts.faults]
    assert counts == sorted(counts, reverse=True)
    fault = next(finding for finding in facts.faults if "minus infinity" in finding.words)
    assert {"carl", HOSTILE} <= set(fault.students)
    points = [entry.points_of("causal_mask") for entry in facts.graded]
    exercise = facts.exercises[0]
    assert (exercise.name, exercise.mean) == ("causal_mask", sum(points) / len(points))
    assert exercise.full == points.count(4.0)
    assert "torn" not in {entry.student for entry in facts.graded}


def test_the_page_is_one_small_file_with_everything_in_it(facts: ClassFacts) -> None:
    page = class_page(facts)
    assert len(page.encode()) < MOST
    for words in ("Ada Ünal (ada)", "minus infinity", "It is not a notebook.", "idle", "2 taken off", "torch 2."):
        assert words in page
    assert "src=" not in page.split("<script nonce")[0] and "<link" not in page
    assert MARKUP not in page


def test_a_class_of_five_hundred_stays_small(facts: ClassFacts) -> None:
    many = tuple(replace(entry, student=f"{entry.student}-{i}") for i in range(72) for entry in facts.entries)
    assert len(many) > 500
    assert len(class_page(replace(facts, entries=many)).encode()) < MOST


def test_the_table_runs_nothing_in_a_spreadsheet(facts: ClassFacts) -> None:
    lines = {line["name"]: line for line in csv.DictReader(io.StringIO(class_csv(facts)))}
    assert f"'{HOSTILE}" in lines and HOSTILE not in lines
    assert float(lines["Ada Ünal"]["causal_mask"]) == 4
    assert float(lines["idle"]["score"]) == 0


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"), ("+cmd", "'+cmd"), ("-a", "'-a"), ("@SUM", "'@SUM"), (" =1", "'=1"), ("\t=1", "'=1"),
        ("\uff1d1", "'\uff1d1"), ("a\r\n=1", "a =1"), ("-2.5", "-2.5"), ("+49123", "+49123"), ("Zoë", "Zoë"),
        (None, ""), (-1.5, "-1.5"), ('a"b,c', 'a"b,c'),
    ],
)  # fmt: skip
def test_cells(value: object, cell: str) -> None:
    assert safe_cell(value) == cell


def test_nothing_graded_is_said(course: Course, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="nothing of 01_mask is graded yet"):
        class_facts(course, LESSON, tmp_path)
    with pytest.raises(CourseError, match="there is no lesson '06_rest'"):
        class_facts(course, "06_rest", tmp_path)


def test_without_names_nobody_is_named(facts: ClassFacts) -> None:
    shown = without_names(facts)
    for text in (class_page(shown).split("<script nonce")[0], class_csv(shown)):
        assert "student 1" in text
        assert not [e.student for e in facts.entries if re.search(rf"\b{re.escape(e.student)}\b", text)]
        assert "Ünal" not in text and "idle" not in text
    assert sorted(entry.score for entry in shown.entries) == sorted(entry.score for entry in facts.entries)
    assert [len(fault.students) for fault in shown.faults] == [len(fault.students) for fault in facts.faults]


def test_an_empty_class_has_a_page(facts: ClassFacts) -> None:
    assert "0 graded" in class_page(replace(facts, entries=facts.for_a_person))


def test_the_command_writes_both(
    course: Course, grading: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.Course.find", lambda: replace(course))
    monkeypatch.setattr(Course, "grading", grading)
    done = CliRunner().invoke(cli.app, ["report", LESSON, "--to", str(tmp_path / "out")])
    assert (done.exit_code, sorted(p.name for p in (tmp_path / "out").iterdir())) == (
        0,
        [f"{LESSON}.csv", f"{LESSON}.html"],
    )
