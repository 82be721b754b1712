"""The tables of clauses in solutions/hidden/README.md, held to the hidden checks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attnlab.exercises import EXERCISES
from grader.course import Course
from grader.hidden import hidden_checks

CHECKS = {f"{exercise}.{check.name}" for exercise in EXERCISES for check in hidden_checks(exercise)}


@pytest.fixture(scope="module")
def clauses(course: Course) -> dict[tuple[str, str], set[str]]:
    """(section, clause) to the checks that its row names."""
    text = (course.solutions / "hidden" / "README.md").read_text(encoding="utf-8")
    found: dict[tuple[str, str], set[str]] = {}
    for section in text.split("\n## ")[1:]:
        title, *lines = section.splitlines()
        for line in lines:
            if line.startswith("| ") and not line.startswith(("| clause |", "| --- |")):
                clause, checks = line.strip("| ").rsplit(" | ", 1)
                assert (title, clause) not in found, f"{title}: {clause!r} stands twice"
                found[title, clause] = set(re.findall(r"`([a-z0-9_]+\.[a-z0-9_]+)`", checks))
    return found


def test_every_clause_has_a_check(clauses: dict[tuple[str, str], set[str]]) -> None:
    assert len(clauses) > 80  # the two exact specifications alone hold more than fifty
    assert not [clause for clause, checks in clauses.items() if not checks]


def test_every_check_in_the_tables_exists(clauses: dict[tuple[str, str], set[str]]) -> None:
    assert not set().union(*clauses.values()) - CHECKS


def test_every_check_is_in_the_tables(clauses: dict[tuple[str, str], set[str]]) -> None:
    assert not CHECKS - set().union(*clauses.values())


def test_every_exercise_has_clauses_of_its_own(clauses: dict[tuple[str, str], set[str]]) -> None:
    named = {match[1] for _, clause in clauses if (match := re.match(r"`(\w+)`", clause))}
    assert named == EXERCISES.keys()


def test_the_two_specifications_are_there(clauses: dict[tuple[str, str], set[str]]) -> None:
    sections = [section for section, _ in clauses]
    assert sections.count("The forward pass") > 25
    assert sections.count("The greedy decode") > 15


def test_nothing_hidden_leaves_its_folder(course: Course) -> None:
    """The tables' names stand nowhere in the student bundle."""
    bundle = [path for path in course.notebooks.rglob("*") if path.suffix in (".py", ".ipynb", ".md", ".json")]
    text = "\n".join(Path(path).read_text(encoding="utf-8") for path in bundle)
    assert not [name for name in CHECKS if name in text]
