"""Calls on another device over the judge's channel: where tensors were comes back, and is believed in bounds only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnlab.device_names import CPU, HOME, PRETEND
from attnlab.devices import Placed
from attnlab.verdict import AnswerError, Verdict
from grader.sandbox.caller import RemoteAnswer
from tests.grader.sandbox.test_channel import Judge, agent, judge_of, notebook, replying, said


def called(judge: Judge, device: str, *args: Any) -> Any:
    return RemoteAnswer(lambda: judge.channel, "f")(args, {}, device)


def test_where_tensors_were_comes_back_with_the_value() -> None:
    names = notebook("def f(x):\n    y = x.cpu() + 1\n    return x + 1, y, y.to(x.device)")
    with judge_of(agent(names)) as judge:
        outcome = called(judge, PRETEND, torch.zeros(2))
        assert outcome.placed.devices == ("cuda:0", "cpu", "cuda:0") and len(outcome.placed.trips) == 1
        assert all(torch.equal(part, torch.ones(2)) for part in outcome.value)
        assert called(judge, HOME, torch.zeros(2)).placed == Placed(("cpu",) * 3)
        assert called(judge, CPU, torch.zeros(2)).placed is None


def test_a_device_mistake_is_told_by_the_learners_names() -> None:
    names = notebook("def f(scores):\n    mask = torch.ones(2)\n    return scores * mask")
    with judge_of(agent(names)) as judge:
        with pytest.raises(AnswerError) as raised:
            called(judge, PRETEND, torch.zeros(2))
        assert raised.value.verdict is Verdict.ERRORED
        assert (
            "constant mask is on the CPU, scores is on cuda:0; make it with device=scores.device"
            in raised.value.rationale
        )
        assert "line 3 of f" in raised.value.help and judge.ended == []


def test_memory_of_a_gpu_that_is_full_is_a_verdict() -> None:
    names = notebook(
        "class OutOfMemoryError(RuntimeError):\n    pass\n"
        "def f():\n    raise OutOfMemoryError('CUDA out of memory. Tried to allocate 90.00 GiB.')"
    )
    with judge_of(agent(names)) as judge, pytest.raises(AnswerError) as raised:
        called(judge, PRETEND)
    assert raised.value.verdict is Verdict.OUT_OF_MEMORY


@pytest.mark.parametrize(
    "reply",
    [
        lambda n: said(n, "value", 1, (), 0, []),
        lambda n: said(n, "placed", 1, (), 0, []),
        lambda n: said(n, "placed", 1, (), 0, [], ((), ())),
        lambda n: said(n, "placed", 1, (), 0, [], ((), (), 1)),
        lambda n: said(n, "placed", 1, (), 0, [], ((1,), (), True)),
        lambda n: said(n, "placed", 1, (), 0, [], ((), ("x" * 1000,), True)),
        lambda n: said(n, "placed", 1, (), 0, [], (("cpu",) * 5000, (), True)),
    ],
)
def test_a_reply_that_does_not_say_where_ends_the_kernel(reply: Callable[[int], bytes]) -> None:
    with judge_of(replying(reply)) as judge, pytest.raises(AnswerError) as raised:
        called(judge, PRETEND)
    assert raised.value.verdict is Verdict.ERRORED and judge.ended == [Verdict.ERRORED]


def test_nobody_says_where_unasked() -> None:
    with judge_of(replying(lambda n: said(n, "placed", 1, (), 0, [], ((), (), True)))) as judge:
        with pytest.raises(AnswerError):
            called(judge, CPU)
        assert judge.ended == [Verdict.ERRORED]
