"""`check`: finds the exercise, shows what was found, and never raises."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnlab import Report, check
from attnlab import report as report_module
from attnlab.exercises import EXERCISES
from attnlab.verdict import Verdict


def causal_mask(length: int, device: Any = None) -> torch.Tensor:
    position = torch.arange(length, device=device)
    return position[:, None] >= position


def named(name: str, answer: Any) -> Any:
    """A function with the name of an exercise that does what `answer` does."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return answer(*args, **kwargs)

    function.__name__ = name
    return function


@pytest.fixture
def in_jupyter(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A shell with a kernel, as a notebook has; its user's names are in `user_ns`."""
    shell = SimpleNamespace(kernel=object(), user_ns={})
    monkeypatch.setattr(report_module, "_shell", lambda: shell)
    return shell


# what it returns ------------------------------------------------------------------------------------------------------


def test_a_right_answer_earns_full_points() -> None:
    report = check(causal_mask)
    assert isinstance(report, Report)
    assert repr(report) == "4.0"
    assert (report.points, report.max_points, report.passed) == (4.0, 4.0, True)
    assert {result.verdict for result in report.results} == {Verdict.PASSED}
    assert "All public checks pass" in report.text


def test_partial_credit_is_the_text_form_alone() -> None:
    report = check(named("causal_mask", lambda length, device=None: causal_mask(length, device).float()))
    assert repr(report) == "3.5"
    assert float(repr(report)) == report.points
    assert report._repr_mimebundle_()["text/plain"] == "3.5"
    assert not report.passed
    assert [result.name for result in report.results if not result.points] == ["mask_is_boolean"]


@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_gets_one_calm_line_and_what_to_do(name: str) -> None:
    def stub(*_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError

    report = check(named(name, stub))
    assert repr(report) == "0.0"
    assert report.text.splitlines()[0].startswith(f"{name} is not written yet.")
    assert len(report.text.splitlines()) == 2
    assert "failed" not in report._repr_html_()


def test_an_exercise_without_points_counts_checks() -> None:
    report = check(named("beam_search", lambda *_args: torch.tensor([1])))
    assert repr(report) == "0.0"
    assert report.max_points == 0.0
    assert "0 of 4 checks passed" in report.text


def test_a_missing_kernel_of_pytorch_is_no_stub() -> None:
    def answer(*_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError("Could not run 'aten::something'")

    report = check(named("gelu", answer))
    assert "not written" not in report.text
    assert "Could not run" in report.text


# which exercise it is -------------------------------------------------------------------------------------------------


def test_a_partial_is_found_by_its_global_name(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = functools.partial(causal_mask)
    monkeypatch.setitem(globals(), "causal_mask", answer)
    assert check(answer).points == 4.0


def test_an_instance_is_found_by_its_global_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mask:
        def __call__(self, length: int, device: Any = None) -> torch.Tensor:
            return torch.ones(length, length, dtype=torch.bool, device=device).tril()

    answer = Mask()
    monkeypatch.setitem(globals(), "causal_mask", answer)
    assert check(answer).points == 4.0


def test_a_lambda_is_found_in_the_notebooks_names(in_jupyter: SimpleNamespace) -> None:
    answer = lambda length, device=None: causal_mask(length, device)  # noqa: E731
    in_jupyter.user_ns["causal_mask"] = answer
    assert check(answer).points == 4.0


def test_a_function_under_another_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    report = check(named("casual_mask", causal_mask))
    assert repr(report) == "0.0"
    assert report.results == ()
    assert not report.passed
    assert "No exercise is called 'casual_mask'" in capsys.readouterr().out


# where it shows -------------------------------------------------------------------------------------------------------


def test_outside_jupyter_it_prints_to_stdout_only(capfd: pytest.CaptureFixture[str]) -> None:
    def noisy(u: torch.Tensor) -> torch.Tensor:
        print("to the screen")
        print("to stderr", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return u

    report = check(named("gelu", noisy))
    shown = capfd.readouterr()
    assert shown.err == ""
    assert shown.out == report.text + "\n"
    assert "to the screen" in report.text


def test_in_jupyter_it_prints_nothing(in_jupyter: SimpleNamespace, capfd: pytest.CaptureFixture[str]) -> None:
    assert in_jupyter.kernel
    report = check(causal_mask)
    assert capfd.readouterr() == ("", "")
    bundle = report._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    json.dumps(bundle)


def test_what_a_function_prints_is_cut() -> None:
    def talker(u: torch.Tensor) -> torch.Tensor:
        for _ in range(20_000):
            print("the same again and again")
        return u

    report = check(named("gelu", talker))
    assert len(report.text) < 3000
    assert "the same again and again" in report._repr_html_()


def test_in_plain_python_it_runs_and_prints() -> None:
    code = "import attnlab\ndef gelu(u): raise NotImplementedError\nprint(repr(attnlab.check(gelu)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[0] == "gelu is not written yet. 3 points wait for it."
    assert done.stdout.splitlines()[-1] == "0.0"
    assert done.stderr == ""


# the page -------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads a page and holds it to what a notebook can show safely."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.words = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= {"style"}
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data + "\n"


def test_everything_on_the_page_is_escaped() -> None:
    evil = "<script>alert(1)</script>&<img src=x onerror=alert(1)>"

    def answer(_u: torch.Tensor) -> torch.Tensor:
        print(evil)
        raise ValueError(evil)

    page = Page(check(named("gelu", answer))._repr_html_())
    assert page.tags <= {"div", "span", "details", "summary", "pre"}
    assert page.words.count("<script>") >= 2
    Page(check(named(evil, answer))._repr_html_())


def test_the_page_says_in_words_what_its_colours_say() -> None:
    html = check(named("gelu", torch.relu))._repr_html_()
    page = Page(html)
    for word in ("✗ failed", "– not run", "That is the ReLU.", "gelu: 0 of 3 points", "Next is right_near_zero"):
        assert word in page.words
    assert "var(--jp-ui-font-color1, inherit)" in html


def test_badges_have_enough_contrast_with_their_white_letters() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    reports = (check(named("gelu", torch.relu)), check(causal_mask))
    colours = {c for r in reports for c in re.findall(r"background:#(\w{6})", r._repr_html_())}
    assert len(colours) == 3
    for colour in colours:
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5  # what WCAG AA asks of text


def test_what_all_checks_say_is_said_once() -> None:
    report = check(named("gelu", lambda u: torch.nn.functional.gelu(u, approximate="tanh")))
    assert report.text.count("this exercise is to write that function") == 1


# it never raises ------------------------------------------------------------------------------------------------------


class Evil:
    """Whatever is asked of it, it raises."""

    def __init__(self, error: type[BaseException]) -> None:
        object.__setattr__(self, "error", error)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "error")(name)

    def __repr__(self) -> str:
        raise object.__getattribute__(self, "error")

    def __eq__(self, other: object) -> bool:
        raise object.__getattribute__(self, "error")

    __hash__ = None  # type: ignore[assignment]


class NamedOddly:
    def __init__(self, name: Any) -> None:
        self.__name__ = name


class Unreadable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError


ERRORS = (ValueError, SystemExit, GeneratorExit, RecursionError, MemoryError, BaseException, StopIteration, Unreadable)


class Strange(torch.Tensor):
    """A tensor whose every operation raises."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("no")


odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.integers() | st.none(), max_size=3),
    st.tuples(st.floats(), st.none()),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.sampled_from(
        [
            torch.tensor(float("nan")),
            torch.full((3, 4), float("inf")),
            torch.ones(2, 3, 4, dtype=torch.complex64),
            torch.ones(3, 4).to_sparse(),
            torch.empty(3, 4, device="meta"),
            torch.zeros(0, 3),
            torch.ones(2, 3, 4).as_subclass(Strange),
            torch.nn.Parameter(torch.ones(3, 4)),
            torch.ones(2, 2, dtype=torch.bool),
            (torch.ones(3, 2), torch.ones(3, 4)),
            [torch.ones(2), None],
            torch.nn.Linear(2, 2),
            torch,
            int,
        ]
    ),
)

quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(thing=odd_values | st.builds(NamedOddly, odd_values | st.sampled_from(sorted(EXERCISES))))
def test_never_raises_for_what_is_no_function(thing: Any) -> None:
    report = check(thing)
    assert float(repr(report)) == 0.0
    Page(report._repr_html_())


@quick
@given(name=st.sampled_from(sorted(EXERCISES)), value=odd_values)
def test_never_raises_for_what_a_function_returns(name: str, value: Any) -> None:
    report = check(named(name, lambda *_args, **_kwargs: value))
    assert report.points <= 0.1 * report.max_points
    assert Verdict.BROKEN not in {result.verdict for result in report.results}
    Page(report._repr_html_())


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_never_raises_for_objects_that_raise_whatever_is_asked(name: str, error: type[BaseException]) -> None:
    assert repr(check(Evil(error))) == "0.0"  # not among the drawn ones: pytest itself cannot print it
    report = check(named(name, lambda *_args, **_kwargs: Evil(error)))
    assert report.points == 0.0
    assert Verdict.BROKEN not in {result.verdict for result in report.results}


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", ["causal_mask", "attention", "seq2seq_greedy_decode"])
def test_never_raises_for_what_a_function_raises(name: str, error: type[BaseException]) -> None:
    def answer(*_args: Any, **_kwargs: Any) -> Any:
        raise error

    assert repr(check(named(name, answer))) == "0.0"


def test_an_interrupt_of_the_learner_gets_through() -> None:
    def answer(*_args: Any, **_kwargs: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(named("gelu", answer))


def test_an_error_names_the_line_that_raised_it() -> None:
    def answer(u: torch.Tensor) -> torch.Tensor:
        return u @ undefined_name  # type: ignore[name-defined]  # noqa: F821

    assert "Look at the line: return u @ undefined_name" in check(named("gelu", answer)).text
