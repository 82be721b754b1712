"""Every sample submission gets exactly the ledger that is kept beside it, check by check and word by word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.collect import take_one
from grader.course import Course
from grader.grade import Grader
from grader.release import masters
from grader.sandbox import Policy, Sandbox

SAMPLES = Path(__file__).parent.parent / "submissions"
CASES = sorted(str(folder.relative_to(SAMPLES / "submitted")) for folder in (SAMPLES / "submitted").glob("*/*"))
SEED = 1  # the words quote sizes of differences, which follow the inputs; the points do not

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernels")]


@pytest.fixture(scope="module")
def grader(course: Course) -> Iterator[Grader]:
    # endless loops are cut short, so that their cases cost seconds
    policy = Policy(cell_seconds=4.0, repeat_seconds=1.0, call_seconds=3.0)
    with Sandbox(policy, course_root=course.root) as sandbox:
        yield Grader(course, sandbox, masters(course))


def test_there_is_a_class() -> None:
    assert len({case.split("/")[0] for case in CASES}) >= 12


@pytest.mark.parametrize("case", CASES)
def test_sample_gets_its_ledger(case: str, grader: Grader, request: pytest.FixtureRequest) -> None:
    student, lesson = case.split("/")
    graded = grader.grade(take_one(SAMPLES / "submitted" / case, lesson, lambda _: 1), lesson, seed=SEED)
    expected = SAMPLES / "expected" / student / f"{lesson}.json"
    if request.config.getoption("--record"):
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(json.dumps(graded.ledger.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert graded.ledger.to_json() == json.loads(expected.read_text(encoding="utf-8"))
