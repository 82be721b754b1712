"""A trial calls the answer on its device; a device mistake costs the check that asks for it, and no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from attnlab.device_names import CPU, GPU, HOME, PRETEND
from attnlab.devices import Placed
from attnlab.placement import heeds_device, stays_at_home, stays_on_device
from attnlab.recording import Outcome
from attnlab.trial import LocalAnswer, Trial
from attnlab.verdict import AnswerError, Failed, Verdict

Say = Callable[[str], Outcome]


class Played:
    """An answer that does on each device what the test says, and notes where it was called."""

    def __init__(self, **says: Outcome | AnswerError) -> None:
        self.says = says
        self.called: list[str] = []

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], device: str = CPU) -> Outcome:  # noqa: ARG002
        self.called.append(device)
        said = self.says[device.replace("-", "_")]
        if isinstance(said, AnswerError):
            raise said
        return said


def errored(words: str) -> AnswerError:
    return AnswerError(Verdict.ERRORED, words)


MIXED = errored("It raised RuntimeError: Expected all tensors to be on the same device, but found cuda:0 and cpu!")
ONE = Outcome(1)


def on(device: str, answer: Played) -> Trial:
    return Trial(answer, seed=0, reference=lambda *_: 1, device=device)


def test_values_are_asked_for_on_the_device() -> None:
    answer = Played(cuda=ONE)
    on(GPU, answer).matches(torch.ones(2))
    assert answer.called == [GPU]


def test_what_raises_on_a_gpu_is_asked_on_the_cpu() -> None:
    answer = Played(cuda=MIXED, cpu=ONE)
    trial = on(GPU, answer)
    trial.matches(torch.ones(2))
    assert answer.called == [GPU, CPU] and [call.raised for call in trial.calls] == [""]
    with pytest.raises(AnswerError, match="index out of range"):
        on(GPU, Played(cuda=errored("CUDA error: device-side assert"), cpu=errored("index out of range"))).call()


@pytest.mark.parametrize("verdict", [Verdict.OUT_OF_MEMORY, Verdict.TIMED_OUT, Verdict.BLOCKED])
def test_other_verdicts_on_a_gpu_stand(verdict: Verdict) -> None:
    answer = Played(cuda=AnswerError(verdict, "over"))
    with pytest.raises(AnswerError) as raised:
        on(GPU, answer).call(1)
    assert raised.value.verdict is verdict and answer.called == [GPU]


def test_a_gpu_that_is_named_is_lent_for_values() -> None:
    missing = errored("It raised AssertionError: Torch not compiled with CUDA enabled")
    answer = Played(cpu=missing, pretend=ONE)
    on(CPU, answer).matches(torch.ones(2))
    assert answer.called == [CPU, PRETEND]
    with pytest.raises(AnswerError, match="not compiled"):
        on(CPU, Played(cpu=missing, pretend=errored("other"))).call()


def test_other_errors_on_the_cpu_stand() -> None:
    answer = Played(cpu=errored("It raised ValueError: no"))
    with pytest.raises(AnswerError):
        on(CPU, answer).call()
    assert answer.called == [CPU]


def there(*devices: str, **more: Any) -> Outcome:
    return Outcome(None, placed=Placed(devices, **more))


def test_both_gpus_must_hold() -> None:
    both = Played(pretend=there("cuda:0"), cuda=there("cuda:0"))
    stays_on_device(on(GPU, both), torch.ones(2))
    assert both.called == [PRETEND, GPU]
    for answer in (
        Played(pretend=there("cuda:0"), cuda=MIXED),
        Played(pretend=there("cuda:0"), cuda=there("cpu")),
        Played(pretend=there("cpu")),
    ):
        with pytest.raises(Failed):
            stays_on_device(on(GPU, answer), torch.ones(2))


def test_what_is_no_device_mistake_is_let_pass() -> None:
    strange = errored("It raised NotImplementedError: no kernel for this")
    stays_on_device(on(CPU, Played(pretend=strange)), torch.ones(2))
    stays_on_device(on(GPU, Played(pretend=there("cuda:0"), cuda=strange)), torch.ones(2))
    with pytest.raises(AnswerError, match="too long"):
        stays_on_device(on(CPU, Played(pretend=AnswerError(Verdict.TIMED_OUT, "too long"))), torch.ones(2))


def test_at_home_is_asked_only_where_a_gpu_was_named() -> None:
    at_home = Played(pretend=there("cuda:0", named=True), pretend_home=there("cuda:0"))
    with pytest.raises(Failed, match="the CPU of a machine with a GPU the result is on cuda:0"):
        stays_on_device(on(CPU, at_home), torch.ones(2))
    assert at_home.called == [PRETEND, HOME]
    stays_at_home(on(CPU, Played(pretend_home=there("cpu"))))


def test_the_diagnosis_does_not_see_calls_for_devices() -> None:
    trial = Trial(LocalAnswer(lambda x: x * 2), seed=0)
    stays_on_device(trial, torch.ones(2))
    assert trial.calls == []


def test_inputs_of_the_caller_are_not_marked() -> None:
    x = torch.ones(2)
    trial = Trial(LocalAnswer(lambda x: x * 2), seed=0)
    stays_on_device(trial, x)
    assert trial.placed(x, on=HOME).placed == Placed(("cpu",))


def test_a_device_that_is_named_to_the_answer_is_heeded() -> None:
    heeds_device(Trial(LocalAnswer(lambda n, device=None: torch.ones(n, device=device)), seed=0), 3)
    for heedless in (
        lambda n, device=None: torch.ones(n),  # noqa: ARG005
        lambda n, device=None: torch.ones(n).to(device or "cuda"),
        lambda n, device=None: torch.ones(n, device=device) * torch.ones(n),
        lambda n, device=None: [1] * n,  # noqa: ARG005
    ):
        with pytest.raises(Failed):
            heeds_device(Trial(LocalAnswer(heedless), seed=0), 3)
    with pytest.raises(AnswerError):
        heeds_device(Trial(LocalAnswer(lambda n: n), seed=0), 3)
