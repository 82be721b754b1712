"""Feedback: the ledger in words, what a person added, and nothing that runs. The browser tests open the worst of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.course import Course
from grader.feedback import GenerateFeedback
from grader.feedback_page import MAX_TEXT, Given, feedback_page
from grader.release import release_text
from grader.settings import configure
from tests.grader.classroom import MARKUP, hostile, kept, store
from tests.grader.hostile_page import RUNS, hostile_notebook

LESSON = "02_cross_attention"
SUBMITTED = Path(__file__).parent.parent / "submissions" / "submitted"


def submitted(student: str) -> nbformat.NotebookNode:
    return nbformat.read(SUBMITTED / student / LESSON / f"{LESSON}.ipynb", as_version=4)


def text_of(page: str) -> str:
    """What a reader sees, roughly."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_a_lost_check_is_told_in_words() -> None:
    page = text_of(feedback_page(LESSON, "fay", kept(LESSON)["fay"], submitted("fay")))
    assert "fay: 14.75 of 20 points" in page
    assert "merge_heads: 1 of 3 points" in page
    assert "Your answer is consistent with: heads and tokens were not swapped back before they were joined." in page
    assert page.count("were not swapped back before they were joined") == 3  # once an exercise
    assert "✗ failed One head, one feature a head, one token and one example are all allowed. 0 of 0.5" in page
    assert "Axes of length 1 are no exception: no squeeze." in page
    assert "return x.reshape(N, T, h * d_k)" in page
    assert "all right" in page


def test_what_a_person_adds_is_shown() -> None:
    given = Given(2.0, {"cross_attention": 3.5}, {"cross_attention": f"See me.\n{MARKUP}"})
    page = feedback_page(LESSON, "fay", kept(LESSON)["fay"], submitted("fay"), given)
    assert MARKUP not in page
    words = text_of(page)
    assert "fay: 13.75 of 20 points , after 2 taken off for being late" in words
    assert "A person gave 3.5 points; the checks gave 2.5." in words
    assert "See me." in words


def test_an_ungraded_submission_says_why() -> None:
    ledger = replace(kept(LESSON)["ada"], reason="It is not a notebook.", exercises=())
    page = text_of(feedback_page(LESSON, "torn", ledger, submitted("ada")))
    assert "This submission was not graded." in page
    assert "It is not a notebook." in page


def test_nothing_of_the_hidden_checks_is_in_it(course: Course) -> None:
    """Clauses, rationales and helps are for learners; code of checks and of the reference is not."""
    page = feedback_page(LESSON, "fay", kept(LESSON)["fay"], submitted("fay"))
    paths = list((course.solutions / "hidden" / "checks").rglob("*.py"))
    assert paths
    for path in paths:
        lines = {line.strip() for line in path.read_text(encoding="utf-8").splitlines() if len(line.strip()) > 40}
        code = {line for line in lines if not line.startswith(('"', "#")) and "(" in line}
        assert not [line for line in code if line in page]


def test_hostile_words_stay_words(course: Course) -> None:
    page = feedback_page(LESSON, MARKUP, hostile(kept(LESSON)["fay"]), hostile_notebook(course, LESSON))
    # inside tags, there is no handler, and no program at all
    for tag in re.findall(r"<[^>]*>", page):
        assert not re.match(r"<(script|iframe|svg|form|input|link|object|math|base)\b", tag, re.I)
        assert RUNS not in tag
        assert "url(" not in tag and ("src=" not in tag or 'src="data:image/' in tag)
    assert "script-src 'none'" in page


def test_a_flood_of_output_is_cut(course: Course) -> None:
    notebook = nbformat.reads(release_text(course.lesson(LESSON)), as_version=4)
    flood = nbformat.v4.new_output("stream", text="x" * 10 * MAX_TEXT)
    notebook.cells.append(nbformat.v4.new_code_cell("flood()", id="added-1", outputs=[flood]))
    page = feedback_page(LESSON, "ada", kept(LESSON)["ada"], notebook)
    assert f"and {9 * MAX_TEXT} more characters" in page
    assert len(page) < 10 * MAX_TEXT


@pytest.fixture
def converter(course: Course, tmp_path: Path) -> GenerateFeedback:
    """The feedback step on a class that is graded, without a kernel having run."""
    grading = tmp_path / ".grading"
    ledgers = kept(LESSON)
    store(course, grading, LESSON, ledgers)
    config = Config()
    configure(config, Course(tmp_path))
    config.CourseDirectory.assignment_id = LESSON
    for student in (*ledgers, "stranger"):
        folder = grading / "autograded" / student / LESSON
        folder.mkdir(parents=True)
        nbformat.write(submitted("ada"), folder / f"{LESSON}.ipynb")
        (folder / "notes.txt").write_text("for staff")
    return GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)


def test_the_step_writes_a_page_for_each_and_nothing_else(converter: GenerateFeedback, tmp_path: Path) -> None:
    with pytest.raises(NbGraderException, match="above failures"):  # one is a stranger to the ledgers; the others go on
        converter.start()
    feedback = tmp_path / ".grading" / "feedback"
    assert {p.parent.parent.name for p in feedback.rglob("*") if p.is_file()} == set(kept(LESSON))
    assert {p.name for p in feedback.rglob("*") if p.is_file()} == {f"{LESSON}.html"}
    submitted = tmp_path / ".grading" / "submitted" / "fay" / LESSON
    submitted.mkdir(parents=True)
    (submitted / "timestamp.txt").symlink_to("/etc/passwd")
    (submitted / "submission_secret.txt").write_text("what the exchange knows it by")
    with Gradebook(converter.coursedir.db_url) as gradebook:
        gradebook.find_comment("merge_heads", LESSON, LESSON, "fay").manual_comment = "Well begun."
        gradebook.find_grade("test_merge_heads", LESSON, LESSON, "fay").manual_score = 2.0
        gradebook.db.commit()
    with pytest.raises(NbGraderException):
        converter.start()
    assert {p.name for p in (feedback / "fay").rglob("*.txt")} == {"submission_secret.txt"}
    page = text_of((feedback / "fay" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8"))
    assert "Well begun." in page
    assert "A person gave 2 points; the checks gave 1." in page
