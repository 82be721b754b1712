"""The diagnosis names the fault that explains everything seen, splits what is ambiguous, and never costs too much."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from attnlab.checking import Check, check_of
from attnlab.fault import Fault, fault
from attnlab.recording import Outcome
from attnlab.trial import Call, LocalAnswer, Trial
from attnlab.verdict import Failed, Verdict
from grader.course import Course
from grader.diagnosis import Budget, Diagnosis
from grader.faults import faulty
from grader.judge import Evidence, judge_exercise
from grader.ledger import ExerciseRow

REFERENCE = Course.find().reference


def named(id: str, exercise: str, before: str, after: str) -> Fault:
    return fault(id, exercise, before, after, words=f"words of {id}", help=f"Help of {id}.", symptom="S.")


UNSCALED = named("unscaled", "attention", " / math.sqrt(d_k)", "")
SCALED_BY_WIDTH = named("scaled_by_width", "attention", " / math.sqrt(d_k)", " / d_k")
SCALED_TWICE = named("scaled_twice", "attention", " / math.sqrt(d_k)", " / math.sqrt(d_k) / math.sqrt(d_k)")
TRANSPOSED = named("transposed", "attention", "q @ k.transpose(-2, -1)", "(k @ q.transpose(-2, -1))")
FINITE = named("finite", "masked_softmax", "-torch.inf)\n    top =", "-1e9)\n    top =")
IN_PLACE = named("in_place", "masked_softmax", "scores.masked_fill(~", "scores.masked_fill_(~")
SINGLE = named("single", "attention", "weights @ v, weights", "(weights @ v).float(), weights")
UNMIXED = named("unmixed", "attention", "weights @ v, weights", "v, weights")
FAULTS = (UNSCALED, SCALED_BY_WIDTH, TRANSPOSED, FINITE, IN_PLACE, SINGLE)


def three(trial: Trial, T: int, S: int, d: int) -> tuple[torch.Tensor, ...]:
    return trial.normal(2, T, d), trial.normal(2, S, d), trial.normal(2, S, d)


@check_of("attention", points=1)
def same_lengths(trial: Trial) -> None:
    """Values are right where S = T."""
    trial.matches(*three(trial, 3, 3, 4))


@check_of("attention", points=1)
def other_lengths(trial: Trial) -> None:
    """Values are right where S is not T."""
    trial.matches(*three(trial, 3, 5, 4), help="A help of its own.")


@check_of("attention", points=1)
def far_keys(trial: Trial) -> None:
    """A hidden key gets no weight, however large its score."""
    q, k, v = three(trial, 2, 2, 4)
    hidden = torch.tensor([[True, False], [True, True]])
    trial.matches(torch.full_like(q, 1e6), torch.stack([-k[:, 0].abs(), k[:, 1].abs()], dim=1) * 1e6, v, hidden)


@check_of("attention", points=1)
def narrow(trial: Trial) -> None:
    """Values are right for d_k = 1."""
    trial.matches(*three(trial, 2, 3, 1))


@check_of("attention", points=1, kind="contract")
def leaves_inputs_alone(trial: Trial) -> None:
    """Inputs are left as they were."""
    q, k, v = three(trial, 2, 2, 4)
    outcome = trial.outcome(q, k, v, torch.ones(2, 2, dtype=torch.bool))
    if outcome.changed:
        raise Failed("You changed an input.")


CHECKS: tuple[Check, ...] = (same_lengths, other_lengths, far_keys, narrow, leaves_inputs_alone)


def diagnosis(faults: tuple[Fault, ...] = FAULTS, checks: tuple[Check, ...] = CHECKS, **kwargs: Any) -> Diagnosis:
    return Diagnosis(REFERENCE, faults, checks=lambda _: checks, **kwargs)


def judged(
    answer: Callable[..., Any] | tuple[Fault, ...],
    diagnose: Diagnosis | None = None,
    exercise: str = "attention",
    checks: tuple[Check, ...] = CHECKS,
) -> ExerciseRow:
    function = faulty(REFERENCE, *answer)[exercise] if isinstance(answer, tuple) else answer
    return judge_exercise(
        exercise, LocalAnswer(function), reference=REFERENCE.functions, seed=1,
        diagnose=diagnose or diagnosis(checks=checks), checks=checks,
    )  # fmt: skip


def said(row: ExerciseRow) -> set[str | None]:
    return {check.fault for check in row.lost}


@pytest.mark.parametrize("fault", [UNSCALED, SCALED_BY_WIDTH, TRANSPOSED, FINITE, SINGLE], ids=lambda fault: fault.id)
def test_a_fault_is_named_in_its_words(fault: Fault) -> None:
    row = judged((fault,), checks=(*CHECKS, keeps_dtype))
    assert row.lost
    assert said(row) == {f"consistent with: words of {fault.id}"}


@check_of("attention", points=1, kind="contract")
def keeps_dtype(trial: Trial) -> None:
    """float64 in, float64 out."""
    if trial.call(*three(trial, 2, 3, 4))[0].dtype != torch.float64:
        raise Failed("It is not float64.")


def test_checks_that_passed_carry_no_fault() -> None:
    row = judged((FINITE,))
    assert [check.fault for check in row.checks if check.verdict is Verdict.PASSED] == [None] * 4


def test_another_style_with_the_same_fault_is_named_too() -> None:
    def loops(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, allowed: Any = None) -> Any:
        """No scale; a softmax in float32; query by query."""
        rows = []
        for t in range(q.shape[-2]):
            scores = torch.einsum("...d,...sd->...s", q[..., t, :], k)
            if allowed is not None:
                scores = torch.where(allowed[..., t, :], scores, -torch.inf)
            rows.append(torch.softmax(scores.float(), dim=-1).to(q.dtype))
        weights = torch.stack(rows, dim=-2)
        return torch.einsum("...ts,...sd->...td", weights, v), weights

    assert said(judged(loops)) == {"consistent with: words of unscaled"}


def test_a_help_fills_in_where_the_check_has_none() -> None:
    helps = {check.name: check.help for check in judged((UNSCALED,)).lost}
    assert helps["other_lengths"] == "A help of its own."
    assert helps["same_lengths"] == "Help of unscaled."


def test_a_change_of_inputs_is_part_of_what_a_fault_does() -> None:
    """masked_fill_ writes to the scores, which are attention's own there, and the caller's in masked_softmax."""

    @check_of("masked_softmax", points=1, kind="contract")
    def leaves_scores_alone(trial: Trial) -> None:
        """Scores are left as they were."""
        if trial.outcome(trial.normal(2, 2), torch.tensor([[True, False], [True, True]])).changed:
            raise Failed("You changed the scores.")

    def writes(scores: torch.Tensor, allowed: Any = None) -> torch.Tensor:
        return torch.softmax(scores.masked_fill_(~allowed, -torch.inf), dim=-1)

    row = judged(writes, exercise="masked_softmax", checks=(leaves_scores_alone,))
    assert said(row) == {"consistent with: words of in_place"}


def test_a_right_answer_is_not_diagnosed() -> None:
    def never(evidence: Evidence) -> None:
        raise AssertionError(evidence)

    row = judge_exercise(
        "attention", LocalAnswer(REFERENCE.functions["attention"]), reference=REFERENCE.functions, seed=1,
        diagnose=never, checks=CHECKS,
    )  # fmt: skip
    assert not row.lost


def mistyped(*_: Any) -> Any:
    return no_such_name  # type: ignore[name-defined]  # noqa: F821


ODD = {
    "nothing": lambda *_: None,
    "three": lambda q, *_: (q, q, q),
    "text": lambda q, *_: (torch.randn(q.shape), "weights"),
    "huge": lambda *_: 10**5000,
    "deep": lambda *_: [[[[[[[]]]]]]],
    "sparse_and_complex": lambda q, *_: (q.to_sparse(), q * 1j),
    "endless": lambda q, *_: (torch.empty(1).expand(10**6, 10**6), q),
    "mistyped": mistyped,
    "other_arguments": lambda q: q,
}


@pytest.mark.parametrize("answer", ODD.values(), ids=ODD.keys())
def test_what_no_fault_explains_is_left_unnamed(answer: Callable[..., Any]) -> None:
    row = judged(answer)
    assert row.lost
    assert said(row) == {None}


def test_a_slip_of_typing_costs_nothing() -> None:
    budget = Budget()
    judged(mistyped, diagnosis(budget=lambda: budget))
    assert budget.spent == 0


def test_an_exception_that_a_fault_raises_too_is_named() -> None:
    row = judged((TRANSPOSED,))
    assert {check.verdict for check in row.lost} >= {Verdict.FAILED, Verdict.ERRORED}
    assert said(row) == {"consistent with: words of transposed"}


# ambiguity ------------------------------------------------------------------------------------------------------------


def test_what_the_failed_check_cannot_tell_a_passed_one_tells() -> None:
    """At d_k = 4 and S = 1 scale faults are alike; nothing is said until some input tells them apart."""
    wide = named("wide", "attention", " / math.sqrt(d_k)", " / (d_k if d_k == 4 else math.sqrt(d_k))")
    assert said(judged((wide,), diagnosis((SCALED_BY_WIDTH, wide)), checks=(same_lengths, seven))) == {
        "consistent with: words of wide"
    }


@check_of("attention", points=1)
def seven(trial: Trial) -> None:
    """Values are right for d_k = 7."""
    trial.matches(*three(trial, 2, 3, 7))


class Counting:
    """An answer that counts how often it is asked."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.asked, self._answer = 0, LocalAnswer(function)

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Outcome:
        self.asked += 1
        return self._answer(args, kwargs)


def evidence_of(function: Callable[..., Any], *checks: Check, alive: bool = True) -> tuple[Evidence, Counting]:
    answer = Counting(function)
    trials = []
    for check in checks:
        trial = Trial(answer, seed=5, reference=REFERENCE.functions["attention"])
        with pytest.raises(Failed):
            check.run(trial)
        trials.append(trial)
    answer.asked = 0
    return Evidence("attention", tuple(trials), alive=alive), answer


def test_further_inputs_split_what_the_record_cannot() -> None:
    wide = named("wide", "attention", " / math.sqrt(d_k)", " / (d_k if d_k == 4 else math.sqrt(d_k))")
    both = diagnosis((SCALED_BY_WIDTH, wide), checks=(same_lengths, seven))
    for true in (wide, SCALED_BY_WIDTH):
        evidence, answer = evidence_of(faulty(REFERENCE, true)["attention"], same_lengths)
        assert both.explanations(evidence) == ((true,),)
        assert 1 <= answer.asked <= 3


def test_a_dead_answer_is_not_asked() -> None:
    wide = named("wide", "attention", " / math.sqrt(d_k)", " / (d_k if d_k == 4 else math.sqrt(d_k))")
    both = diagnosis((SCALED_BY_WIDTH, wide), checks=(same_lengths, seven))
    evidence, answer = evidence_of(faulty(REFERENCE, wide)["attention"], same_lengths, alive=False)
    assert both.explanations(evidence) == ((SCALED_BY_WIDTH,), (wide,))
    assert answer.asked == 0


def test_a_match_by_luck_does_not_survive_another_question() -> None:
    """On one input the answer gives what UNMIXED gives; on others it does something else."""
    function = faulty(REFERENCE, UNMIXED)["attention"]
    answers = itertools.chain([function], itertools.repeat(strange))

    def fickle(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        return next(answers)(q, k, v)

    evidence, answer = evidence_of(fickle, same_lengths)
    assert diagnosis((UNMIXED,)).explanations(evidence) == ()
    assert 1 <= answer.asked <= 1 + 3  # once for the match, then whether it draws


def test_faults_that_are_truly_equal_are_told_with_or() -> None:
    row = judged((SCALED_BY_WIDTH,), diagnosis((SCALED_TWICE, SCALED_BY_WIDTH)))
    assert said(row) == {"consistent with: words of scaled_twice, or words of scaled_by_width"}


def test_of_equal_faults_the_one_in_the_exercise_itself_is_told() -> None:
    near = named(
        "near", "multi_head_attention", "x_q @ w_q, num_heads)",
        "x_q @ w_q, num_heads) * math.sqrt(w_q.shape[1] // num_heads)",
    )  # fmt: skip

    @check_of("multi_head_attention", points=1)
    def values(trial: Trial) -> None:
        """Values are right."""
        trial.matches(trial.normal(2, 3, 4), trial.normal(2, 5, 4), *(trial.normal(4, 4) for _ in range(4)), 2)

    for true in (near, UNSCALED):
        row = judged((true,), diagnosis((UNSCALED, near), (values,)), "multi_head_attention", (values,))
        assert said(row) == {"consistent with: words of near"}


def test_a_fault_that_fits_exactly_beats_one_that_fits_nearly() -> None:
    near = named("near", "attention", " / math.sqrt(d_k)", " / d_k * (1 + 1e-6)")
    row = judged((SCALED_BY_WIDTH,), diagnosis((near, SCALED_BY_WIDTH)))
    assert said(row) == {"consistent with: words of scaled_by_width"}


# pairs ----------------------------------------------------------------------------------------------------------------


def test_two_faults_at_once_are_named_together() -> None:
    row = judged((UNSCALED, FINITE))
    assert said(row) == {"consistent with: words of unscaled, and words of finite"}


def test_faults_that_change_the_same_text_make_no_pair() -> None:
    row = judged(strange, diagnosis((UNSCALED, SCALED_BY_WIDTH)))
    assert said(row) == {None}


# drawing --------------------------------------------------------------------------------------------------------------


def test_an_answer_that_draws_is_named_by_the_fault_that_draws() -> None:
    drawing = named("drawing", "attention", "return weights @ v,", "return (weights + torch.rand(1)) @ v,")

    def drops(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *_: Any) -> Any:
        weights = torch.nn.functional.dropout(torch.softmax(q @ k.mT, dim=-1), 0.5)
        return weights @ v, weights

    assert said(judged(drops, diagnosis((*FAULTS, drawing)))) == {"consistent with: words of drawing"}
    assert said(judged(strange, diagnosis((*FAULTS, drawing)))) == {None}


# operations -----------------------------------------------------------------------------------------------------------


@check_of("layer_norm", points=1, kind="contract")
def computes_once(trial: Trial) -> None:
    """No more than twenty operations."""
    x = trial.normal(3, 4)
    if trial.outcome(x).operations > 20:
        raise Failed("It computes too much.")


def test_a_fault_in_how_much_is_computed_is_seen_in_the_operations() -> None:
    again = named("again", "layer_norm", "    centred = ", "    for _ in range(20): x.mean()\n    centred = ")
    wrong = named("wrong", "layer_norm", "torch.sqrt(variance + 1e-5", "torch.sqrt(variance + 1e-2")

    def wasteful(x: torch.Tensor) -> torch.Tensor:
        for _ in range(9):
            (x - x.mean()).var()
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean) / (variance + 1e-5).sqrt()

    row = judged(wasteful, diagnosis((wrong, again), (computes_once,)), "layer_norm", (computes_once,))
    assert said(row) == {"consistent with: words of again"}


# budget and failure ---------------------------------------------------------------------------------------------------


def many(count: int) -> tuple[Fault, ...]:
    return tuple(
        named(f"scale_{n}", "attention", " / math.sqrt(d_k)", f" / math.sqrt(d_k) * {2 + n / 16}") for n in range(count)
    )


def strange(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *_: Any) -> Any:
    return q @ k.mT @ v, q @ k.mT


def test_the_first_disagreement_ends_a_fault() -> None:
    budget = Budget()
    judged((TRANSPOSED,), diagnosis((TRANSPOSED, *many(100)), budget=lambda: budget))
    calls = 1 + 2 * len(CHECKS)  # of the fault itself: those recorded, and a further one, where it is compared
    assert budget.spent <= 1 + 100 + calls  # the reference and the other faults end at the first call


@pytest.mark.parametrize("limit", [0, 1, 10, 50])
def test_evaluations_end_at_the_limit(limit: int) -> None:
    budget = Budget(evaluations=limit)
    row = judged(strange, diagnosis(many(100), budget=lambda: budget))
    assert budget.spent == limit
    assert said(row) == {None}


def test_seconds_end_it_too() -> None:
    ticks = itertools.count()
    budget = Budget(seconds=20.0, clock=lambda: float(next(ticks)))
    judged(strange, diagnosis(many(100), budget=lambda: budget))
    assert budget.spent == 20


def test_what_was_found_before_the_budget_ended_is_told() -> None:
    budget = Budget(evaluations=12)
    row = judged((UNSCALED,), diagnosis((UNSCALED, *many(100)), budget=lambda: budget))
    assert said(row) == {"consistent with: words of unscaled"}


def test_pairs_of_many_faults_are_bounded() -> None:
    """Faults that do not show where the answer is right could all be in a pair; no more than 24 of them are."""
    hidden = tuple(
        named(f"narrow_{n}", "attention", " / math.sqrt(d_k)", f" / math.sqrt(d_k) * (1 if d_k > 1 else {2 + n})")
        for n in range(100)
    )
    budget = Budget()
    row = judged(strange, diagnosis(hidden, budget=lambda: budget))
    assert said(row) == {None}
    assert budget.spent < 1000


def test_a_failure_of_the_diagnosis_leaves_the_fault_open(caplog: pytest.LogCaptureFixture) -> None:
    stale = named("stale", "attention", "text that was there once", "")
    row = judged((UNSCALED,), diagnosis((stale,)))
    assert row.lost
    assert said(row) == {None}
    assert "the diagnosis of attention failed" in caplog.text
    assert "'stale'" in caplog.text


def test_the_random_numbers_of_the_caller_stay_as_they_were() -> None:
    drawing = named("drawing", "attention", "return weights @ v, weights", "return torch.randn(3), weights")
    torch.manual_seed(0)
    before = torch.get_rng_state()
    judged((UNSCALED,), diagnosis((drawing, UNSCALED)))
    assert torch.get_rng_state().equal(before)


def test_a_call_without_values_is_no_evidence() -> None:
    """Exceptions alone, worded otherwise than a fault's, name nothing."""
    call = Call((torch.ones(2, 3, 4),) * 3, {}, None, raised="It raised RuntimeError: something else")
    trial = Trial(LocalAnswer(strange), seed=0)
    trial.calls.append(call)
    always = named("always", "attention", "d_k = q.shape[-1]", "raise RuntimeError('one way')")
    assert diagnosis((always,)).explanations(Evidence("attention", (trial,))) == ()
