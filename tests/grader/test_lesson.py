"""The lesson parser takes the five cell kinds and refuses what would leak or break, with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import Course
from grader.lesson import STUB, LessonError, read_lesson, released

GOOD = '''\
# %% [markdown]
# # A lesson

# %% kind="given" name="setup"
import torch

# %% [markdown] exercise="double" minutes=5 difficulty=1
# Write `double`.

# %% kind="solution" exercise="double"
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% kind="tests" exercise="double" points=2
check(double)

# %% kind="show"
print(double(3))
'''


def lesson_of(text: str, folder: Path) -> Path:
    path = folder / "01_double.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_the_five_kinds(tmp_path: Path) -> None:
    lesson = read_lesson(lesson_of(GOOD, tmp_path))
    assert [c.kind for c in lesson.cells] == ["prose", "given", "prose", "solution", "tests", "show"]
    assert lesson.exercises == ("double",)
    assert lesson.points == {"double": 2.0}
    assert [c.name for c in lesson.cells if c.name] == ["given_setup", "double", "test_double"]


def test_release_keeps_signature_and_docstring_only(tmp_path: Path) -> None:
    solution = next(read_lesson(lesson_of(GOOD, tmp_path)).of_kind("solution"))
    assert released(solution.source) == f'def double(x):\n    """Twice x."""\n    {STUB}'


REFUSED = {
    "unknown marker": ("    ### BEGIN SOLUTION", "    ### BEGIN ANSWER", 13, "unknown marker"),
    "singular hidden test": ("check(double)", "### BEGIN HIDDEN TEST\ncheck(double)", 18, "unknown marker"),
    "never ended": ("    ### END SOLUTION\n", "", 10, "never ended"),
    "end without begin": ("    ### BEGIN SOLUTION\n", "", 14, "without its begin"),
    "nested": ("    return 2 * x", "    ### BEGIN SOLUTION\n    return 2 * x", 14, "nested"),
    "no stub": (
        "    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
        "    return 2 * x",
        10,
        "without a stub",
    ),
    "marker in a show cell": ("print(double(3))", "### BEGIN SOLUTION\n### END SOLUTION", 21, "belongs into"),
    "marker words in prose": ("# # A lesson", "# The line BEGIN SOLUTION", 2, "unknown marker"),
    "solution beside the stub": ("    ### BEGIN SOLUTION", "    y = 2\n    ### BEGIN SOLUTION", 10, "more than a stub"),
    "no docstring": ('    """Twice x."""\n', "", 11, "docstring"),
    "another function": ("def double", "def triple", 10, "does not define"),
    "no points": ("points=2", "", 17, "without points"),
    "negative points": ("points=2", "points=-2", 17, "below zero"),
    "points as text": ("points=2", 'points="2"', 17, "wrong type"),
    "unknown kind": ('kind="show"', 'kind="shown"', 20, "unknown cell kind"),
    "no kind": ('# %% kind="show"', "# %%", 20, "without a kind"),
    "unknown key": ('kind="show"', 'kind="show" hidden=true', 20, "has no 'hidden'"),
    "code kind on markdown": (
        "# %% [markdown]\n# # A",
        '# %% [markdown] kind="given" name="x"\n# # A',
        1,
        "cannot be markdown",
    ),
    "duplicate id": (
        '# %% kind="show"',
        '# %% kind="given" name="setup"\nx = 1\n\n# %% kind="show"',
        20,
        "duplicate id",
    ),
    "side effect in given": ("import torch", "import torch\ntorch.manual_seed(0)", 6, "side effect"),
    "side effect in solution": ("def double", "print(1)\ndef double", 11, "side effect"),
    "loop in given": ("import torch", "for i in range(3): pass", 5, "side effect"),
    "syntax error": ("import torch", "import", 5, "syntax error"),
    "more than check": ("check(double)", "check(double)\nprint(1)", 17, "nothing else"),
    "tests of another": ("check(double)", "check(triple)", 17, "nothing else"),
    "tests before solution": ('exercise="double" points', 'exercise="other" points', 17, "nothing else"),
    "no prose": ('[markdown] exercise="double" minutes=5 difficulty=1', "[markdown]", 10, "one prose cell"),
    "no minutes": ("minutes=5 ", "", 7, "minutes above 0"),
    "too difficult": ("difficulty=1", "difficulty=9", 7, "difficulty 1 to 4"),
    "text before": (
        "# %% [markdown]\n# # A lesson",
        "x = 1\n# %% [markdown]\n# # A lesson",
        1,
        "before the first cell",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, tmp_path: Path) -> None:
    old, new, line, words = REFUSED[case]
    assert GOOD.count(old) == 1, "the case must change exactly one place"
    with pytest.raises(LessonError) as caught:
        read_lesson(lesson_of(GOOD.replace(old, new), tmp_path))
    assert words in caught.value.what
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / '01_double.py'}:{line}: ")


def test_refuses_missing_and_undecodable_files(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match="no such lesson"):
        read_lesson(tmp_path / "02_none.py")
    (tmp_path / "03_latin.py").write_bytes("# %% é".encode("latin-1"))
    with pytest.raises(LessonError, match="UTF-8"):
        read_lesson(tmp_path / "03_latin.py")


def test_the_course_has_a_hundred_points(course: Course) -> None:
    assert [sum(lesson.points.values()) for lesson in course.lessons.values()] == [16, 20, 20, 24, 20]
