"""Every exercise is set the same way: minutes, difficulty, what it is graded on, three hints titled by the symptom."""

from __future__ import annotations

import re
from html import unescape

import nbformat
import pytest

from attnlab.examine import public_checks
from attnlab.exercises import EXERCISES
from grader.course import Course
from grader.release import release_text

HINT = re.compile(r"<details><summary>Hint (\d) · (.*?)</summary>\n\n(.*?)\n\n</details>", re.S)


@pytest.fixture(scope="module")
def set_by(course: Course) -> dict[str, str]:
    """Exercise to the cell that sets it, as learners get it."""
    found = {}
    for lesson in course.lessons.values():
        for cell in nbformat.reads(release_text(lesson), as_version=4).cells:
            if title := re.match(r"### Exercise: `(\w+)`\n", cell.source):
                found[title[1]] = cell.source
    assert list(found) == list(EXERCISES)
    return found


@pytest.mark.parametrize("name", EXERCISES)
def test_says_how_long_how_hard_and_what_for(name: str, set_by: dict[str, str]) -> None:
    points = EXERCISES[name].points
    worth = f"{points} points" if points else "a stretch, no points"
    line = re.search(r"\n\*(.*) · about (\d+) minutes · difficulty ([●○]{4})\*\n", set_by[name])
    assert line and line[1] == worth
    assert 5 <= int(line[2]) <= 40 and re.fullmatch("●+○*", line[3])


@pytest.mark.parametrize("name", EXERCISES)
def test_says_what_it_is_graded_on_in_the_checks_own_words(name: str, set_by: dict[str, str]) -> None:
    title = "Graded on" if EXERCISES[name].points else "Checked on"
    line = re.search(rf"\n\*{title}:\* (.*)\n", set_by[name])
    assert line
    assert re.findall(r"`(\w+)`", line[1]) == [check.name for check in public_checks(name)]
    clauses = re.findall(r"<li><code>(\w+)</code>: (.*?)</li>", set_by[name])
    assert {n: unescape(c) for n, c in clauses} == {check.name: check.clause for check in public_checks(name)}


def test_nobody_types_what_is_graded(course: Course) -> None:
    assert [name for name, lesson in course.lessons.items() if re.search("(?i)(graded|checked) on:", lesson.text)] == []


@pytest.mark.parametrize("name", EXERCISES)
def test_has_three_hints_titled_by_the_symptom(name: str, set_by: dict[str, str], course: Course) -> None:
    hints = HINT.findall(set_by[name])
    assert [number for number, _, _ in hints] == ["1", "2", "3"]
    assert set_by[name].count("<summary>Hint") == 3
    for _, title, body in hints:
        assert '"' in title or title.endswith("NaN"), f"not in the learner's words: {title}"
        assert len(body.split()) >= 8
    assert len({title for _, title, _ in hints}) == 3
    solution = re.search(r"BEGIN SOLUTION\n(.*)### END", course.reference.sources[name], re.S)
    assert solution and solution[1].strip() not in set_by[name]


def test_hints_rise(set_by: dict[str, str]) -> None:
    """From a nudge to nearly the answer: over the course, later hints hold more code."""
    code = [0, 0, 0]
    for text in set_by.values():
        for number, _, body in HINT.findall(text):
            code[int(number) - 1] += len("".join(re.findall(r"`[^`]*`", body)))
    assert code[0] < code[1] < code[2]
    assert all("`" in HINT.findall(text)[2][2] or "$" in HINT.findall(text)[2][2] for text in set_by.values())
