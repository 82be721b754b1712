"""The prose of the course, as tests read it: what learners, teachers and authors are told in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attnlab.examine import public_checks
from attnlab.exercises import EXERCISES
from attnlab.mistakes import MISTAKES
from grader.course import Course

__all__ = ["lesson_prose", "markdown_files", "plain", "python_files", "told"]

_NOT_OURS = {".venv", ".git", ".grading", "node_modules", "styles", "submissions"}
"""Folders that hold no prose of the course: made by tools, or answers as learners write them."""


def markdown_files(course: Course) -> list[Path]:
    """Every Markdown file of the course."""
    return _files(course, "*.md")


def python_files(course: Course) -> list[Path]:
    """Every module of the course."""
    return _files(course, "*.py")


def _files(course: Course, pattern: str) -> list[Path]:
    found = course.root.rglob(pattern)
    return sorted(p for p in found if _NOT_OURS.isdisjoint(p.relative_to(course.root).parts[:-1]))


def lesson_prose(course: Course, lesson: str) -> str:
    """The Markdown cells of a lesson as its author wrote them."""
    return "\n\n".join(cell.source for cell in course.lesson(lesson).of_kind("prose"))


def told(course: Course) -> Iterator[tuple[str, str]]:
    """(where, text) of all that a learner is told in sentences."""
    for lesson, text in course.lessons.items():
        yield lesson, lesson_prose(course, lesson)
        docstrings = [
            found for cell in text.of_kind("solution") for found in re.findall(r'"""(.*?)"""', cell.source, re.S)
        ]
        yield f"{lesson}, docstrings", "\n".join(docstrings)
    for name in EXERCISES:
        yield f"checks of {name}", "\n".join(check.clause for check in public_checks(name))
    for lesson, mistakes in MISTAKES.items():
        yield f"mistakes of {lesson}", "\n".join(f"{m.words} {m.help} {m.symptom}" for m in mistakes)
    yield "notebooks/README.md", (course.notebooks / "README.md").read_text(encoding="utf-8")


def plain(text: str) -> str:
    """The words of Markdown, without code, formulas, tags and addresses."""
    for span in (r"```.*?```", r"``.*?``", r"`[^`]*`", r"\$\$.*?\$\$", r"\$[^$]*\$", r"</?\w[^>]*>", r"\]\([^)]*\)"):
        text = re.sub(span, " ", text, flags=re.S)
    return text
