"""The judge's channel against honest agents, and against peers that hang, die, lie or flood."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from attnlab.recording import record
from attnlab.verdict import AnswerError, Verdict
from grader.sandbox import wire
from grader.sandbox.agent import Agent
from grader.sandbox.caller import Channel, RemoteAnswer, clean

SECONDS = 2.0  # for a call in these tests: long enough for a busy machine, short enough to wait for


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """The first recording of a process imports half of torch; no call's time is to be spent on that."""
    record(torch.neg, (torch.zeros(1),))


class Judge:
    """A channel with a note of whether it gave its kernel up."""

    def __init__(self, end: socket.socket, seconds: float, limits: wire.WireLimits) -> None:
        self.ended: list[Verdict] = []
        self.channel = Channel(end, limits=limits, seconds=seconds, ended=self._end)

    def _end(self, verdict: Verdict, words: str) -> tuple[Verdict, str]:
        self.ended.append(verdict)
        return verdict, words

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return RemoteAnswer(lambda: self.channel, name)(args, kwargs)


@contextlib.contextmanager
def judge_of(
    peer: Callable[[socket.socket], None], *, seconds: float = SECONDS, blob: int = wire.WireLimits().blob
) -> Iterator[Judge]:
    """A judge whose other end is `peer`, run in a thread."""
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=peer, args=(theirs,), daemon=True)
    thread.start()
    judge = Judge(ours, seconds, wire.WireLimits(blob=blob))
    try:
        yield judge
    finally:
        judge.channel.close()
        thread.join(5)
        theirs.close()


def agent(namespace: dict[str, Any]) -> Callable[[socket.socket], None]:
    """A peer that serves these names honestly."""

    def serve(end: socket.socket) -> None:
        served = Agent(end, lambda: namespace)
        while served.serve_one():
            pass

    return serve


def notebook(source: str) -> dict[str, Any]:
    """The names that a cell defines."""
    names: dict[str, Any] = {"torch": torch}
    exec(compile(source, "cell", "exec"), names)
    return names


# honest agents --------------------------------------------------------------------------------------------------------


def test_values_changes_operations_and_names_come_back() -> None:
    names = notebook("def f(x, y, *, by):\n    y.zero_()\n    return torch.nn.functional.gelu(x) * by, [1, None]")
    with judge_of(agent(names)) as judge:
        outcome = judge.call("f", torch.zeros(3), torch.ones(2), by=2)
    assert torch.equal(outcome.value[0], torch.zeros(3)) and outcome.value[1] == [1, None]
    assert outcome.changed == (1,)
    assert outcome.operations == 3
    assert {"gelu", "zero_"} <= outcome.library


def test_the_answer_sees_the_memory_layout_of_its_inputs() -> None:
    names = notebook("def f(x):\n    return list(x.stride()), x.is_contiguous()")
    x = torch.arange(6.0).reshape(2, 3).T
    with judge_of(agent(names)) as judge:
        assert judge.call("f", x).value == ([1, 3], False)


def test_many_calls_keep_their_order() -> None:
    with judge_of(agent(notebook("def f(i):\n    return i"))) as judge:
        assert [judge.call("f", i).value for i in range(50)] == list(range(50))


def test_an_exception_is_told_with_its_place_and_costs_one_call() -> None:
    names = notebook("def f(x):\n    if x:\n        raise ValueError('no\\x1b[31m good')\n    return x")
    with judge_of(agent(names)) as judge:
        with pytest.raises(AnswerError) as raised:
            judge.call("f", 1)
        assert judge.call("f", 0).value == 0
    assert raised.value.verdict is Verdict.ERRORED
    assert raised.value.rationale == "It raised ValueError: no [31m good"
    assert "line 3 of f" in raised.value.help
    assert judge.ended == []


@pytest.mark.parametrize(
    ("source", "verdict", "words"),
    [
        ("def f():\n    raise NotImplementedError", Verdict.ERRORED, "not written yet"),
        ("def f():\n    raise SystemExit(3)", Verdict.ERRORED, "SystemExit"),
        ("def f():\n    raise KeyboardInterrupt", Verdict.ERRORED, "KeyboardInterrupt"),
        ("def f():\n    raise MemoryError", Verdict.OUT_OF_MEMORY, "memory"),
        ("def f():\n    raise PermissionError(13, 'no')", Verdict.BLOCKED, "sandbox refused"),
        ("def f():\n    raise OSError(97, 'no')", Verdict.BLOCKED, "sandbox refused"),
        ("def f():\n    raise FileNotFoundError(2, 'no')", Verdict.ERRORED, "FileNotFoundError"),
        ("def f():\n    return f()", Verdict.ERRORED, "RecursionError"),
        ("def f(x):\n    return x", Verdict.ERRORED, "TypeError"),
        ("g = 1", Verdict.ERRORED, "no function f"),
        ("f = 3", Verdict.ERRORED, "TypeError"),
        ("def f():\n    return {1: 2}", Verdict.ERRORED, "only strings are sent"),
        (
            "class Odd(Exception):\n    def __str__(self):\n        return 1\ndef f():\n    raise Odd",
            Verdict.ERRORED,
            "",
        ),
    ],
)
def test_what_an_answer_raises_becomes_a_verdict(source: str, verdict: Verdict, words: str) -> None:
    with judge_of(agent(notebook(source))) as judge, pytest.raises(AnswerError) as raised:
        judge.call("f")
    assert raised.value.verdict is verdict
    assert words in raised.value.rationale
    assert len(raised.value.rationale) < 500


def test_values_of_other_types_come_as_empty_shells() -> None:
    with judge_of(agent(notebook("def f():\n    return {1, 2}, torch.zeros(1).numpy()"))) as judge:
        value = judge.call("f").value
    assert [type(v).__name__ for v in value] == ["set", "ndarray"]


def test_what_an_answer_prints_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    with judge_of(agent(notebook("import sys\ndef f():\n    print('x' * 10**6)\n    return 1"))) as judge:
        assert judge.call("f").value == 1
    assert capfd.readouterr().out == ""


# hostile peers --------------------------------------------------------------------------------------------------------


def replying(reply: Callable[[int], bytes]) -> Callable[[socket.socket], None]:
    """A peer that answers each call with these bytes, made from the call's number."""

    def serve(end: socket.socket) -> None:
        with contextlib.suppress(OSError):
            for number in range(1, 100):
                if not end.recv(1 << 20):
                    return
                end.sendall(reply(number))

    return serve


def said(*reply: Any) -> bytes:
    return wire.encode(reply).to_bytes()


@pytest.mark.parametrize(
    "reply",
    [
        lambda _: b"garbage that is no header, but long enough to be one",
        lambda _: wire.HEADER.pack(b"atn1", 1 << 31, 0),
        lambda _: wire.HEADER.pack(b"atn1", 4, 1 << 50),
        lambda _: wire.HEADER.pack(b"atn1", 4, 0) + b"{{{{",
        lambda n: said(n + 1, "value", 1, (), 0, []),
        lambda n: said(n - 1, "value", 1, (), 0, []),
        lambda n: said(str(n), "value", 1, (), 0, []),
        lambda n: said(n, "verdict", "passed", (), 0, []),
        lambda n: said(n, "value", 1, (), 0),
        lambda n: said(n, "value", 1, (5,), 0, []),
        lambda n: said(n, "value", 1, (-1,), 0, []),
        lambda n: said(n, "value", 1, [0], 0, []),
        lambda n: said(n, "value", 1, (), -1, []),
        lambda n: said(n, "value", 1, (), True, []),
        lambda n: said(n, "value", 1, (), 0, [1]),
        lambda n: said(n, "value", 1, (), 0, ["x" * 1000]),
        lambda n: said(n, "value", 1, (), 0, ["x"] * 5000),
        lambda n: said(n, "error", 1, "text", None, None),
        lambda _: said("passed"),
        lambda _: wire.encode({"a": 1}).to_bytes(),
        lambda _: wire.encode(None).to_bytes(),
        lambda n: wire.encode((n, "value", torch.zeros(2, 3).T, (), 0, []), strides=True).to_bytes(),
    ],
)
def test_a_reply_that_is_none_ends_the_kernel(reply: Callable[[int], bytes]) -> None:
    with judge_of(replying(reply)) as judge:
        with pytest.raises(AnswerError) as raised:
            judge.call("f", 1)
        assert raised.value.verdict is Verdict.ERRORED
        assert judge.ended == [Verdict.ERRORED]
        with pytest.raises(AnswerError):  # nothing is asked of it any more
            judge.call("f", 1)
        assert judge.ended == [Verdict.ERRORED]


def test_what_comes_unasked_is_dropped() -> None:
    ahead = replying(lambda n: said(n, "value", n, (), 0, []) + said(n + 1, "value", "forged", (), 0, []))
    with judge_of(ahead) as judge:
        assert [judge.call("f").value for _ in range(5)] == [1, 2, 3, 4, 5]


def test_an_error_with_hostile_words_is_cleaned_and_cut() -> None:
    kind, text = "Val\nue\x00" * 100, "\x1b]0;pwned\x07" * 10_000 + "\u202e"
    hostile = replying(lambda n: said(n, "error", kind, text, "x", {"a": 1}))
    with judge_of(hostile) as judge, pytest.raises(AnswerError) as raised:
        judge.call("f")
    assert raised.value.rationale.isprintable() and len(raised.value.rationale) < 500
    assert judge.ended == []


def test_a_peer_that_hangs_times_out() -> None:
    with judge_of(lambda _: time.sleep(0.6), seconds=0.2) as judge:
        started = time.monotonic()
        with pytest.raises(AnswerError) as raised:
            judge.call("f")
        assert time.monotonic() - started < 2
    assert raised.value.verdict is Verdict.TIMED_OUT and judge.ended == [Verdict.TIMED_OUT]


def test_a_peer_that_never_reads_times_out() -> None:
    with judge_of(lambda _: time.sleep(0.6), seconds=0.2) as judge, pytest.raises(AnswerError) as raised:
        judge.call("f", torch.zeros(4_000_000))
    assert raised.value.verdict is Verdict.TIMED_OUT


def test_a_peer_that_drips_times_out() -> None:
    def drip(end: socket.socket) -> None:
        with contextlib.suppress(OSError):
            for byte in said(1, "value", "x" * 1000, (), 0, []):
                end.send(bytes([byte]))
                time.sleep(0.02)

    with judge_of(drip, seconds=0.3) as judge:
        started = time.monotonic()
        with pytest.raises(AnswerError) as raised:
            judge.call("f")
        assert time.monotonic() - started < 2
    assert raised.value.verdict is Verdict.TIMED_OUT


def test_a_peer_that_closes_has_ended() -> None:
    with judge_of(lambda end: end.close()) as judge, pytest.raises(AnswerError) as raised:
        judge.call("f")
    assert raised.value.verdict is Verdict.ERRORED and "ended the whole Python process" in raised.value.rationale


def test_a_value_that_is_too_large_is_refused() -> None:
    names = notebook("def f(n):\n    return torch.zeros(n)")
    with judge_of(agent(names), blob=10_000) as judge:
        assert judge.call("f", 1000).value.shape == (1000,)
        with pytest.raises(AnswerError) as raised:
            judge.call("f", 100_000)
    assert "could not be taken" in raised.value.rationale


def test_clean_keeps_one_printable_line() -> None:
    assert clean("a\n\tb\x1b[0mc\u202ed  e") == "a b [0mc d e"
    assert len(clean("x" * 10_000)) == 300
