"""The public checks: right answers lose nothing, wrong ones lose what they ought to and are told why."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.examine import Findings, examine, public_checks
from attnlab.exercises import EXERCISES
from attnlab.public.examples import EXAMPLES
from attnlab.public.record import right_value
from attnlab.verdict import Verdict
from grader import recorded
from grader.course import Course
from grader.faults import Library, read_faults
from grader.measure import IDLE, IDLE_SHARE

COURSE = Course.find(Path(__file__).parent)
RIGHT = COURSE.reference.functions
STYLES = tuple(sorted((COURSE.root / "tests" / "styles").glob("*/*.py")))
LIBRARY = Library(COURSE.reference, read_faults())
FAULTS = {fault.id: fault for fault in LIBRARY.faults}

every_exercise = pytest.mark.parametrize("exercise", EXERCISES)


def lost(findings: Findings) -> list[str]:
    return [result.name for result in findings.results if result.verdict is not Verdict.PASSED]


def of_fault(id: str) -> Findings:
    fault = FAULTS[id]
    return examine(fault.exercise, LIBRARY.functions(fault)[fault.exercise])


# the checks as a set --------------------------------------------------------------------------------------------------


@every_exercise
@pytest.mark.slow
def test_no_fault_breaks_a_check(exercise: str) -> None:
    for fault in LIBRARY.faults:
        if fault.exercise == exercise:
            results = examine(exercise, LIBRARY.functions(fault)[exercise]).results
            assert not [result for result in results if result.verdict is Verdict.BROKEN]


@every_exercise
def test_points_add_up(exercise: str) -> None:
    assert sum(check.points for check in public_checks(exercise)) == EXERCISES[exercise].points


@every_exercise
def test_needs_name_earlier_checks_of_the_same_exercise(exercise: str) -> None:
    seen: list[str] = []
    for check in public_checks(exercise):
        assert set(check.needs) <= set(seen)
        seen.append(check.name)
    assert seen
    assert len(seen) == len(set(seen))


@every_exercise
def test_clauses_are_one_plain_sentence(exercise: str) -> None:
    for check in public_checks(exercise):
        assert "\n" not in check.clause
        assert check.clause.endswith(".")


def meddling(right: Callable[..., Any], how: str) -> Callable[..., Any]:
    """The right answer, which then does one thing more that it must not."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        given = right(*args, **kwargs)
        values = [
            v.clone() if isinstance(v, torch.Tensor) else v for v in (given if isinstance(given, tuple) else [given])
        ]
        numbers = [v for v in values if isinstance(v, torch.Tensor) and v.is_floating_point()]
        match how:
            case "writes into an input":
                tensors[0].add_(1) if tensors else None
            case "answers in float64":
                values = [torch.as_tensor(v).double() for v in values]
            case "adds up the examples":
                values = [v + v.sum(0) if v.dim() > 2 else v for v in numbers] or values
            case "adds up the tokens":
                values = [v + v.sum(-2, keepdim=True) if v.dim() > 1 else v for v in numbers] or values
            case "has a bias":
                values = [v + 0.5 for v in numbers] or values
            case "minds integers":
                values = [v + any(t.dtype == torch.int64 for t in tensors) for v in values]
            case "reads another slot":
                values = [v + t[0].mean() for v in values for t in tensors if len(t) == 12] or values
            case "turns the features round":
                values = [v.flip(-1) if v.dim() else v for v in numbers] or values
            case "returns other weights":
                values = [*values[:1], *(v.softmax(-1) for v in values[1:])]
        return tuple(values) if isinstance(given, tuple) else values[0]

    return answer


MEDDLING = (
    "writes into an input",
    "answers in float64",
    "adds up the examples",
    "adds up the tokens",
    "has a bias",
    "minds integers",
    "reads another slot",
    "turns the features round",
    "returns other weights",
)


def causal_everywhere() -> Any:
    """The reference, with the causal mask in the cross-attention too."""
    source = COURSE.reference.sources["cross_attention"]
    mask = "torch.ones(dec.shape[1], enc.shape[1], dtype=torch.bool).tril()"
    assert source.count("num_heads, enc_allowed)") == 1
    return COURSE.reference.build({"cross_attention": source.replace("num_heads, enc_allowed)", f"num_heads, {mask})")})


@every_exercise
def test_every_check_can_fail(exercise: str) -> None:
    answers = [LIBRARY.functions(fault)[exercise] for fault in LIBRARY.faults if fault.exercise == exercise]
    answers += [idle(RIGHT[exercise]) for idle in IDLE.values()]
    answers += [meddling(RIGHT[exercise], how) for how in MEDDLING]
    answers.append(causal_everywhere()[exercise])
    names = {check.name for check in public_checks(exercise)}
    failed: set[str] = set()
    for answer in reversed(answers):  # the last ones fail the checks that are hard to fail
        if failed == names:
            break
        results = examine(exercise, answer).results
        failed |= {r.name for r in results if r.verdict not in (Verdict.PASSED, Verdict.SKIPPED)}
    assert failed == names


# values on record -----------------------------------------------------------------------------------------------------


def test_the_record_is_what_the_reference_gives() -> None:
    """Regenerated from nothing, and compared number by number: the last digit may differ between machines."""
    for name, example in EXAMPLES.items():
        right, fresh = right_value(name), RIGHT[example.exercise](*example.inputs())
        for r, f in zip(*((v if isinstance(v, tuple) else (v,)) for v in (right, fresh)), strict=True):
            torch.testing.assert_close(torch.as_tensor(r), torch.as_tensor(f), rtol=1e-9, atol=1e-9)


def test_the_record_is_up_to_date() -> None:
    text = (COURSE.notebooks / "attnlab" / "public" / "recorded.json").read_text(encoding="utf-8")
    assert recorded.record(COURSE) == text


def test_the_record_is_mended_and_then_left_alone(tmp_path: Path) -> None:
    (tmp_path / "solutions").symlink_to(COURSE.solutions)
    place = tmp_path / "notebooks" / "attnlab" / "public" / "recorded.json"
    place.parent.mkdir(parents=True)
    course = Course(tmp_path)
    recorded.write(course)
    whole = place.read_text(encoding="utf-8")
    assert whole.count("\n") == len(EXAMPLES) + 2
    place.write_text(
        whole.replace('"parameter_count/encoder": 640', '"parameter_count/encoder": 641'), encoding="utf-8"
    )
    assert recorded.record(course) == whole
    place.write_text("not JSON", encoding="utf-8")
    recorded.write(course)
    assert place.read_text(encoding="utf-8") == whole


def test_another_machines_last_digit_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "solutions").symlink_to(COURSE.solutions)
    place = tmp_path / "notebooks" / "attnlab" / "public" / "recorded.json"
    place.parent.mkdir(parents=True)
    course = Course(tmp_path)
    recorded.write(course)
    text = place.read_text(encoding="utf-8")
    loss = f"{right_value('sequence_loss/plain').item():.10g}"
    digit = str((int(loss[-1]) + 1) % 10)
    assert loss in text
    nudged = text.replace(loss, loss[:-1] + digit)
    place.write_text(nudged, encoding="utf-8")
    assert recorded.record(course) == (nudged if digit != "0" else text)


# right answers --------------------------------------------------------------------------------------------------------


@every_exercise
def test_the_reference_earns_everything(exercise: str) -> None:
    findings = examine(exercise, RIGHT[exercise])
    assert lost(findings) == []
    assert findings.passed
    assert findings.points == EXERCISES[exercise].points


@pytest.mark.parametrize("path", STYLES, ids=[f"{path.parent.name}-{path.stem}" for path in STYLES])
def test_a_style_earns_everything(path: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "style"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    assert lost(examine(path.parent.name, namespace[path.parent.name])) == []


def test_filling_with_the_smallest_number_is_right() -> None:
    def masked_softmax(scores: torch.Tensor, allowed: torch.Tensor | None = None) -> torch.Tensor:
        if allowed is None:
            return scores.softmax(-1)
        weights = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
        return weights * allowed.any(-1, keepdim=True)

    assert lost(examine("masked_softmax", masked_softmax)) == []


def test_an_answer_may_run_without_gradients() -> None:
    right = RIGHT["decoder_block"]
    assert lost(examine("decoder_block", torch.no_grad()(right))) == []
    assert lost(examine("decoder_block", torch.inference_mode()(right))) == []


# answers that are none ------------------------------------------------------------------------------------------------


@every_exercise
@pytest.mark.parametrize("name", IDLE)
def test_doing_nothing_earns_at_most_a_tenth(exercise: str, name: str) -> None:
    findings = examine(exercise, IDLE[name](RIGHT[exercise]))
    assert findings.points <= IDLE_SHARE * EXERCISES[exercise].points
    assert not findings.passed


@every_exercise
@pytest.mark.parametrize("value", [None, 0, 1, 1.5, "text", (), [], [[1.0]], {}, torch.zeros(0), torch.ones(())])
def test_returning_one_thing_whatever_comes_in_earns_nothing(exercise: str, value: Any) -> None:
    findings = examine(exercise, lambda *_args, **_kwargs: value)
    assert findings.points <= IDLE_SHARE * EXERCISES[exercise].points
    assert not [result for result in findings.results if result.verdict is Verdict.BROKEN]


@every_exercise
def test_a_stub_scores_nothing_and_is_known_as_one(exercise: str) -> None:
    def stub(*_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError

    findings = examine(exercise, stub)
    assert findings.points == 0
    assert findings.unwritten
    assert not findings.passed


def test_half_written_is_not_unwritten() -> None:
    def causal_mask(length: int, device: Any = None) -> torch.Tensor:
        if length == 4 and device is None:
            return torch.ones(4, 4).tril() > 0
        raise NotImplementedError

    assert not examine("causal_mask", causal_mask).unwritten


# wrong answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "points", "check", "words"),
    [
        ("causal_inverted", 0.0, "own_and_earlier_positions", "True must mean 'may be read'"),
        ("causal_flipped", 0.0, "own_and_earlier_positions", "points the other way"),
        ("causal_without_diagonal", 0.0, "own_and_earlier_positions", "may read itself"),
        ("causal_one_ahead", 0.0, "own_and_earlier_positions", "one key of the future"),
        ("padding_inverted", 0.0, "words_may_be_read", "True means 'may be read'"),
        ("softmax_over_queries", 0.0, "softmax_without_mask", "Each column sums to 1"),
        ("softmax_over_all_pairs", 0.0, "softmax_without_mask", "whole matrix sums to 1"),
        ("split_by_reshape_alone", 1.25, "heads_are_consecutive_features", "only cut memory anew"),
        ("split_interleaved", 1.25, "heads_are_consecutive_features", "not every second one"),
        ("cross_reads_dec", 0.0, "answers_to_every_input", "Keys and values come from enc"),
        ("output_projection_missing", 0.0, "answers_to_every_input", "w_o"),
        ("loss_sum", 0.0, "loss_example", "the mean is wanted"),
        ("loss_base_two", 0.0, "loss_example", "natural logarithm"),
        ("decode_encodes_every_step", 15.0, "encodes_once", "above the loop"),
        ("source_ids_not_cast", 0.0, "answers_to_every_input", "Cast ids with .long()"),
    ],
)
def test_a_fault_is_told_in_words(id: str, points: float, check: str, words: str) -> None:
    findings = of_fault(id)
    result = next(result for result in findings.results if result.name == check)
    assert result.verdict in (Verdict.FAILED, Verdict.ERRORED)
    assert words in f"{result.rationale} {result.help}"
    assert findings.points == points


def test_a_finite_penalty_costs_only_the_check_of_minus_infinity() -> None:
    def masked_softmax(scores: torch.Tensor, allowed: torch.Tensor | None = None) -> torch.Tensor:
        if allowed is None:
            return scores.softmax(-1)
        return scores.masked_fill(~allowed, -1e9).softmax(-1) * allowed.any(-1, keepdim=True)

    assert lost(examine("masked_softmax", masked_softmax)) == ["hidden_keys_stay_hidden_at_any_scale"]


@pytest.mark.parametrize(("divisor", "said"), [(6.0, "divided by 6"), (1.0, "divided by 1;"), (1 / 6**0.5, "by 0.408")])
def test_a_wrong_scale_is_measured(divisor: float, said: str) -> None:
    def attention(
        q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, allowed: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        scale = 1.0 if q.shape[-1] == 1 else divisor
        weights = RIGHT["masked_softmax"](q @ k.transpose(-1, -2) / scale, allowed)
        return weights @ v, weights

    findings = examine("attention", attention)
    assert lost(findings) == ["scores_are_scaled"]
    assert said in findings.results[1].help


def test_a_missing_causal_mask_leaves_the_other_points() -> None:
    source = COURSE.reference.sources["decoder_block"]
    answer = COURSE.reference.build({"decoder_block": source.replace("num_heads, causal)", "num_heads)")})
    findings = examine("decoder_block", answer["decoder_block"])
    assert lost(findings) == ["future_is_hidden", "block_example"]
    assert "causal mask" in findings.results[1].help


def test_a_causal_cross_attention_is_told() -> None:
    def cross_attention(
        dec: torch.Tensor, enc: torch.Tensor, block: torch.Tensor, num_heads: int, enc_allowed: Any = None
    ) -> torch.Tensor:
        allowed = torch.ones(dec.shape[1], enc.shape[1], dtype=torch.bool).tril()
        if enc_allowed is not None:
            allowed = allowed & enc_allowed
        right: torch.Tensor = RIGHT["multi_head_attention"](dec, enc, *block[4:8], num_heads, allowed)
        return right

    findings = examine("cross_attention", cross_attention)
    told = {result.name: result.help for result in findings.results}
    assert "no causal mask here" in told["every_query_reads_every_source_position"]
    assert 0 < findings.points < 4


# what an answer may do to the machine ---------------------------------------------------------------------------------


def test_an_answer_that_calls_the_exercise_earns_nothing() -> None:
    findings = examine("layer_norm", lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]))
    assert findings.points == 0
    assert {result.rationale for result in findings.results} == {
        "Your answer calls layer_norm; this exercise is to write that function."
    }


def test_the_random_state_of_the_kernel_is_left_alone() -> None:
    torch.manual_seed(3)
    wanted = torch.rand(3)
    torch.manual_seed(3)
    examine("gelu", torch.rand_like)
    assert torch.equal(torch.rand(3), wanted)


def test_the_same_answer_gets_the_same_findings() -> None:
    assert examine("gelu", torch.rand_like) == examine("gelu", torch.rand_like)


@pytest.mark.parametrize(
    "mask",
    [
        lambda n, device: torch.ones(n, n, dtype=torch.bool, device=device).tril(),
        lambda n, device: torch.ones(n, n, dtype=torch.bool).tril().to(device),
        lambda n, device: torch.tensor([[s <= t for s in range(n)] for t in range(n)], device=str(device)),
        lambda n, device: torch.stack([torch.arange(n, device=device) <= t for t in range(n)]),
        lambda n, device: torch.arange(n).to(device=device).unsqueeze(1) >= torch.arange(n).to(device),
        lambda n, device: torch.zeros(n, n, device=device).copy_(torch.ones(n, n).tril()).bool(),
    ],
)
def test_a_mask_may_come_to_the_device_in_any_way(mask: Callable[..., torch.Tensor]) -> None:
    assert lost(examine("causal_mask", lambda length, device="cpu": mask(length, device))) == []


def test_a_mask_that_stays_on_the_cpu_is_told() -> None:
    findings = examine("causal_mask", lambda length, device=None: torch.ones(length, length).tril() > 0)  # noqa: ARG005
    assert lost(findings) == ["made_on_the_device"]


@pytest.mark.parametrize("name", ["causal_mask", "masked_softmax"])
def test_a_first_check_does_not_load_pytorchs_compiler(name: str) -> None:
    """It takes more than a second, and the learner is waiting."""
    code = (
        "import sys\nfrom attnlab.examine import examine\nfrom attnlab.stand_ins import STAND_INS\n"
        f"print(len(examine({name!r}, STAND_INS[{name!r}]).results), 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == [str(len(public_checks(name))), "False"]
