"""Marks for other programs: the gradebook's points, in each program's form, and nothing that a spreadsheet runs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from grader.course import Course
from grader.export import Canvas, Moodle, SafeCsv
from grader.settings import configure
from tests.grader.classroom import HOSTILE, kept, store

LESSONS = ("01_mask", "02_cross_attention")


@pytest.fixture(scope="module")
def database(course: Course, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("grading")
    for lesson in LESSONS:
        store(course, folder, lesson, kept(lesson))
    store(course, folder, LESSONS[0], {HOSTILE: kept(LESSONS[0])["carl"]})
    url = f"sqlite:///{folder / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name='O"Neil, Jr', lms_user_id="4711")
        gradebook.find_submission_notebook(LESSONS[0], LESSONS[0], "carl").late_submission_penalty = 2.0
        gradebook.db.commit()
    return url


def exported(plugin: type[SafeCsv], database: str, folder: Path, **settings: object) -> list[dict[str, str]]:
    with Gradebook(database) as gradebook:
        plugin(to=str(folder / "grades.csv"), **settings).export(gradebook)
    return list(csv.DictReader(io.StringIO((folder / plugin.file).read_text(encoding="utf-8"))))


def test_the_safe_table_is_nbgraders(database: str, tmp_path: Path) -> None:
    lines = {(line["student_id"], line["assignment"]): line for line in exported(SafeCsv, database, tmp_path)}
    for lesson in LESSONS:
        for student, ledger in kept(lesson).items():
            late = 2.0 if (student, lesson) == ("carl", LESSONS[0]) else 0.0
            line = lines[student, lesson]
            assert [float(line[name]) for name in ("raw_score", "late_submission_penalty", "score", "max_score")] == [
                ledger.points, late, ledger.points - late, ledger.max_points
            ]  # fmt: skip
    assert lines["ada", LESSONS[0]]["last_name"] == 'O"Neil, Jr'
    assert (f"'{HOSTILE}", LESSONS[0]) in lines
    assert (HOSTILE, LESSONS[0]) not in lines
    assert lines["dora", LESSONS[0]]["timestamp"] == ""


def test_canvas(database: str, tmp_path: Path) -> None:
    possible, *lines = exported(Canvas, database, tmp_path)
    assert (possible["Student"], float(possible["02_cross_attention"])) == ("Points Possible", 20.0)
    by_login = {line["SIS Login ID"]: line for line in lines}
    assert (by_login["ada"]["Student"], by_login["ada"]["ID"]) == ('O"Neil, Jr, Ada', "4711")
    assert float(by_login["carl"]["01_mask"]) == kept("01_mask")["carl"].points - 2
    assert by_login["carl"]["02_cross_attention"] == "", "nothing handed in is not a zero"


def test_moodle_and_what_is_asked_for(database: str, tmp_path: Path) -> None:
    lines = exported(Moodle, database, tmp_path, assignment=["01_mask"], student=["ada", "carl"])
    assert [(line["Username"], "02_cross_attention" in line) for line in lines] == [("ada", False), ("carl", False)]
    assert lines[0]["Last name"] == 'O"Neil, Jr'


def test_the_course_exports_the_safe_table(course: Course) -> None:
    config = Config()
    configure(config, course)
    assert config.ExportApp.plugin_class == f"{SafeCsv.__module__}.{SafeCsv.__name__}"
