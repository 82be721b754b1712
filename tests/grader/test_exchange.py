"""Feedback of a class that came in two ways: what the exchange knows goes back through it, the rest is named."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.course import Course
from grader.exchange import ReleaseFeedback
from grader.settings import configure

LESSON = "01_mask"


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # nbgrader's
def test_one_who_came_by_mail_stops_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = Config()
    configure(config, Course(tmp_path))
    assert config.ExchangeFactory.release_feedback == f"{ReleaseFeedback.__module__}.{ReleaseFeedback.__name__}"
    for student, text in (("ana", "page of ana"), ("bob", "page of bob"), ("carl", "page of carl")):
        folder = tmp_path / ".grading" / "feedback" / student / LESSON
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.html").write_text(text)
        if student != "bob":
            (folder / "submission_secret.txt").write_text(f"secret of {student}")
            (folder / "timestamp.txt").write_text("2026-01-01 12:00:00 UTC")
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)  # as the exchange wants its folder
    config.CourseDirectory.assignment_id = LESSON
    config.Exchange.root = str(exchange)
    with caplog.at_level(logging.WARNING, logger="traitlets"):
        ReleaseFeedback(coursedir=CourseDirectory(config=config), config=config).start()
    released = [path.read_text() for path in (exchange / "attention" / "feedback").glob("*.html")]
    assert sorted(released) == ["page of ana", "page of carl"]
    assert "give their pages back yourself: bob" in caplog.text
