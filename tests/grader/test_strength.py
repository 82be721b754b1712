"""The record of strength: what counts as a problem, what the page says, and that it comes out the same each time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.fault import Fault, fault
from grader import strength as command
from grader.course import Course
from grader.diagnosis import OPENING
from grader.measure import IDLE, Attempt, Strength, measure
from grader.strength_page import page

ONE, TWO = (fault(id, "gelu", "0.5", "0.4", words=f"words of {id}", help="H.", symptom="S.") for id in ("one", "two"))


def tried(fault: Fault, *failed: str, said: str | None = None) -> Attempt:
    words = OPENING + fault.words if said is None else said
    return Attempt("fault", fault.id, fault.exercise, 3.0 - len(failed), 3.0, failed, words if failed else "")


def style(*failed: str) -> Attempt:
    return Attempt("style", "factored", "gelu", 3.0 - len(failed), 3.0, failed)


def idle(points: float, name: str = "zeros") -> Attempt:
    return Attempt("idle", name, "gelu", points, 3.0, ("gelu_depends_on_u",))


OTHERS = tuple(idle(0.0, name) for name in IDLE if name != "zeros")
GOOD = (tried(ONE, "gelu_is_the_tanh_form"), tried(TWO, "gelu_of_large_entries"), style(), idle(0.3))


def test_nothing_is_wrong_with_a_strong_record() -> None:
    assert Strength((ONE, TWO), GOOD).problems == ()


@pytest.mark.parametrize(
    ("place", "attempt", "problem"),
    [
        (0, tried(ONE), "no check fails for the fault one"),
        (1, tried(TWO, "a", said=OPENING + "words of one"), "only 1 of 2 faults are named exactly"),
        (1, tried(TWO, "a", said=OPENING + "words of one, or words of two"), "only 1 of 2 faults are named exactly"),
        (2, style("gelu_is_a_gate"), "gelu: the style factored earns 2 of 3 (gelu_is_a_gate)"),
        (3, idle(0.4), "gelu: the idle answer 'zeros' earns 0.4 of 3"),
    ],
)
def test_each_weakness_is_a_problem_with_a_name(place: int, attempt: Attempt, problem: str) -> None:
    attempts = (*GOOD[:place], attempt, *GOOD[place + 1 :])
    assert problem in Strength((ONE, TWO), attempts).problems


def test_no_faults_is_a_problem() -> None:
    assert Strength((), ()).problems == ("no faults",)


def test_a_fault_may_be_killed_in_the_whole_model_alone() -> None:
    elsewhere = Attempt("fault", "one", "encoder_decoder_forward", 7.0, 8.0, ("forward_uses_the_tanh_gelu",))
    strength = Strength((ONE,), (tried(ONE), elsewhere))
    assert strength.killed(ONE)
    assert not strength.named(ONE)


def test_an_exercise_without_points_is_counted_by_its_checks() -> None:
    assert Attempt("idle", "zeros", "beam_search", 0.0, 0.0, ("a",)).share == 0.0
    assert Attempt("idle", "zeros", "beam_search", 0.0, 0.0, ()).share == 1.0


def test_the_page_says_what_was_measured() -> None:
    attempts = (tried(ONE, "gelu_is_a_gate", said=OPENING + "words of two"), *GOOD[1:])
    text = page(Strength((ONE, TWO), (*attempts, *OTHERS)))
    assert "| faults killed | 2 of 2 |" in text
    assert "| faults named exactly | 1 of 2 (50%) |" in text
    assert "| styles accepted | 1 of 1 |" in text
    assert "| one | 2 of 3 | gelu_is_a_gate | as two |" in text
    assert "| two | 2 of 3 | gelu_of_large_entries | yes |" in text
    assert "| do-nothing answers: the largest share | 10.0% (at most 10%) |" in text
    assert "- gelu.gelu_is_the_tanh_form\n" in text
    assert "- gelu.gelu_is_a_gate\n" not in text


def test_one_exercise_measured(course: Course) -> None:
    measured = measure(course, jobs=1, exercises=("shift_right",))
    assert measured.faults
    assert {attempt.kind for attempt in measured.attempts} >= {"fault", "idle"}
    assert all(measured.killed(fault) for fault in measured.faults)
    assert not any(style.failed for style in measured.of("style"))
    assert all(idle.failed and idle.share <= 0.1 for idle in measured.of("idle"))
    assert page(measured) == page(measure(course, jobs=1, exercises=("shift_right",)))


@pytest.mark.slow
def test_the_number_of_processes_does_not_show(course: Course) -> None:
    one, two = (measure(course, jobs=jobs, exercises=("shift_right",)) for jobs in (1, 2))
    assert one == two


class Desk:
    """A course folder in which the command finds what it is to find."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.record = root / "solutions" / "hidden" / "STRENGTH.md"
        self.record.parent.mkdir(parents=True)
        (root / "notebooks").mkdir()
        monkeypatch.setattr(command.Course, "find", lambda: Course(root))
        monkeypatch.setattr(command, "measure", lambda _: self.measured)
        self.measured = Strength((ONE, TWO), (*GOOD, *OTHERS))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def test_the_command_writes_the_record_and_holds_it(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.strength(check=True) == 1  # nothing is recorded yet
    assert command.strength(check=False) == 0
    assert command.strength(check=True) == 0
    desk.record.write_text(desk.record.read_text().replace("yes", "no", 1))
    capsys.readouterr()
    assert command.strength(check=True) == 1
    assert "solutions/hidden/STRENGTH.md is not what was measured" in capsys.readouterr().err


def test_the_command_fails_with_the_name_of_what_is_weak(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.measured = replace(desk.measured, attempts=(tried(ONE), *desk.measured.attempts[1:]))
    assert command.strength(check=False) == 1
    assert "no check fails for the fault one" in capsys.readouterr().err


def test_the_record_holds_no_seconds(desk: Desk) -> None:
    command.strength(check=False)
    first = desk.record.read_text()
    command.strength(check=False)
    assert desk.record.read_text() == first
    assert " s\n" not in first
