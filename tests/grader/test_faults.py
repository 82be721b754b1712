"""The library of named faults: edits that apply, functions that come out, and the house style of its words."""

from __future__ import annotations

import re

import pytest
import torch

from attnlab.exercises import EXERCISES
from attnlab.fault import Edit, Fault, fault
from grader.course import Course
from grader.faults import FaultError, Library, faulty, read_faults
from grader.reference import Reference

REFERENCE = Course.find().reference
LIBRARY = Library(REFERENCE, read_faults())

UNSCALED = fault(
    "unscaled", "attention", " / math.sqrt(d_k)", "",
    words="the scores were not divided", help="Divide them.", symptom="One key takes all.",
)  # fmt: skip
UNBIASED = fault(
    "unbiased", "layer_norm", "variance = (centred**2).mean(dim=-1, keepdim=True)",
    "variance = x.var(dim=-1, keepdim=True)",
    words="the variance was divided by d - 1", help="Divide by d.", symptom="Too small.",
)  # fmt: skip


def changed(before: str, after: str = "", exercise: str = "gelu") -> Fault:
    return Fault("odd", (Edit(exercise, before, after),), "words", "help", "symptom")


def test_a_fault_is_the_reference_with_one_change() -> None:
    q, k, v = torch.randn(3, 2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    mixed, _ = faulty(REFERENCE, UNSCALED)["attention"](q, k, v)
    right, _ = REFERENCE.functions["attention"](2.0 * q, k, v)  # sqrt(4) = 2
    assert torch.allclose(mixed, right)
    assert faulty(REFERENCE)["attention"](q, k, v)[0].equal(REFERENCE.functions["attention"](q, k, v)[0])


def test_a_fault_reaches_what_uses_it_and_nothing_else() -> None:
    x = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    w = torch.eye(4, dtype=torch.float64) * 3
    args = (x, x, w, w, w, w, 2)
    wrong = faulty(REFERENCE, UNSCALED)
    assert not torch.allclose(wrong["multi_head_attention"](*args), REFERENCE.functions["multi_head_attention"](*args))
    assert wrong["layer_norm"](x).equal(REFERENCE.functions["layer_norm"](x))


def test_faults_add_up() -> None:
    x = torch.randn(1, 2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    both = faulty(REFERENCE, UNSCALED, UNBIASED)
    assert both["layer_norm"](x).equal(faulty(REFERENCE, UNBIASED)["layer_norm"](x))
    assert both["attention"](x, x, x)[0].equal(faulty(REFERENCE, UNSCALED)["attention"](x, x, x)[0])


@pytest.mark.parametrize("before", ["no such text", "u"])
def test_a_text_that_does_not_stand_once_is_refused_with_name_place_and_remedy(before: str) -> None:
    with pytest.raises(FaultError, match=r"'odd'.*gelu.*03_decoder_block\.py:\d+.*exactly once; copy it"):
        faulty(REFERENCE, changed(before))


def test_an_unknown_exercise_is_refused() -> None:
    with pytest.raises(FaultError, match=r"'odd'.*'glue'.*no exercise"):
        faulty(REFERENCE, changed("x", exercise="glue"))


def test_text_that_does_not_run_is_refused() -> None:
    with pytest.raises(FaultError, match=r"odd: the changed text does not run .SyntaxError"):
        faulty(REFERENCE, changed("return 0.5", "return )"))


def test_the_second_of_two_changes_to_one_text_is_refused() -> None:
    other = fault("other", "attention", " / math.sqrt(d_k)", " / d_k", words="w", help="h", symptom="s")
    with pytest.raises(FaultError, match=r"'other'.*0 times"):
        faulty(REFERENCE, UNSCALED, other)


def test_single_faults_are_built_once() -> None:
    library = Library(REFERENCE, (UNSCALED, UNBIASED))
    assert library.functions(UNSCALED) is library.functions(UNSCALED)
    assert library.functions(UNSCALED) is not library.functions(UNBIASED)


def test_faults_concern_what_uses_them_nearest_first() -> None:
    library = Library(REFERENCE, (UNSCALED, UNBIASED))
    assert library.concerning("attention") == (UNSCALED,)
    assert library.concerning("cross_attention") == (UNSCALED,)
    assert library.concerning("decoder_block") == (UNBIASED, UNSCALED)  # it calls layer_norm itself
    assert library.concerning("causal_mask") == ()


def test_an_exercise_uses_what_its_text_names_and_not_its_own_variables() -> None:
    assert REFERENCE.uses("feed_forward") == ("gelu",)
    assert REFERENCE.uses("parameter_count") == ()  # it has variables called attention and feed_forward
    assert set(REFERENCE.uses("encode")) >= {"encoder_block", "layer_norm", "masked_softmax"}
    assert "decoder_block" not in REFERENCE.uses("encode")
    assert "next_token" in REFERENCE.uses("seq2seq_greedy_decode")


def test_uses_agrees_with_what_runs() -> None:
    """An exercise whose text raises stops exactly those that use it, on a model that runs everything."""
    args = _model()
    for exercise in ("causal_mask", "gelu", "encoder_block", "shift_right", "sequence_loss", "encode"):
        broken = REFERENCE.build({exercise: f"def {exercise}(*a, **k): raise RuntimeError"})
        used = exercise in REFERENCE.uses("encoder_decoder_forward")
        if used:
            with pytest.raises(RuntimeError):
                broken["encoder_decoder_forward"](*args)
        else:
            broken["encoder_decoder_forward"](*args)


def _model() -> tuple[object, ...]:
    ones = torch.ones
    return (
        ones(1, 2), ones(1, 3), ones(4, 6), ones(4, 6), ones(2, 6), ones(3, 6),
        ones(1, 6, 6, 6), ones(1, 12, 6, 6), ones(6, 4), 2,
    )  # fmt: skip


# the library itself ---------------------------------------------------------------------------------------------------


every_fault = pytest.mark.parametrize("fault", LIBRARY.faults, ids=[fault.id for fault in LIBRARY.faults])


def test_an_id_that_stands_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import solutions.hidden.faults.cross_attention as cross
    import solutions.hidden.faults.mask as mask

    monkeypatch.setattr(mask, "FAULTS", (UNSCALED,))
    monkeypatch.setattr(cross, "FAULTS", (UNSCALED,))
    with pytest.raises(FaultError, match=r"'unscaled' stands in mask and in cross_attention; rename one"):
        read_faults()


@every_fault
def test_every_fault_applies(fault: Fault) -> None:
    functions = LIBRARY.functions(fault)
    assert functions.keys() == EXERCISES.keys()


@every_fault
def test_every_fault_speaks_the_house_style(fault: Fault) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_]+", fault.id)
    assert fault.words.strip() == fault.words and fault.words
    assert not fault.words.endswith("."), "it completes a sentence that goes on"
    first = fault.words.split()[0]
    assert first == "True" or not (first[0].isupper() and first[1:].islower()), "it completes a sentence that has begun"
    for text in (fault.help, fault.symptom):
        assert text.strip() == text and text and text.rstrip('"')[-1] in ".?!", text
    assert all(edit.before != edit.after for edit in fault.edits)


def test_no_two_faults_of_an_exercise_have_the_same_words() -> None:
    words = [(fault.exercise, fault.words) for fault in LIBRARY.faults]
    assert len(words) == len(set(words))


def test_reference_names_its_places() -> None:
    reference: Reference = REFERENCE
    for exercise, source in reference.sources.items():
        path, line = reference.place(exercise).rsplit(":", 1)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        assert f'exercise="{exercise}"' in lines[int(line) - 1]
        assert lines[int(line)] == source.splitlines()[0]
