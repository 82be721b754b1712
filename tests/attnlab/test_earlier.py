"""`earlier`: the learner's own function where it passes, the stand-in otherwise, and one line that says which."""

from __future__ import annotations

import builtins
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab import chain, earlier
from attnlab.stand_ins import STAND_INS

MASK = """
def causal_mask(length, device=None):
    position = torch.arange(length, device=device)
    return position[:, None] >= position
"""
SOFTMAX = """
def masked_softmax(scores, allowed=None):
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    return torch.softmax(scores, -1).nan_to_num(0.0)
"""
STUB = """
def causal_mask(length, device=None):
    raise NotImplementedError
"""
INVERTED = """
def causal_mask(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device).triu()
"""

Write = Callable[..., Path]


def cell(source: str, **nbgrader: Any) -> dict[str, Any]:
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a lesson's notebook from its code cells; the kernel then runs in lesson 5's folder beside it."""
    here = tmp_path / "05_greedy_decode"
    here.mkdir()
    monkeypatch.chdir(here)

    def write(lesson: str, *cells: str | dict[str, Any]) -> Path:
        path = tmp_path / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(exist_ok=True)
        code = [c if isinstance(c, dict) else cell(c) for c in cells]
        prose = {"cell_type": "markdown", "source": "# prose", "metadata": {}}
        path.write_text(json.dumps({"cells": [prose, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        return path

    return write


@pytest.fixture
def line(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was printed since the last look: one line, on stdout."""

    def line() -> str:
        shown = capsys.readouterr()
        assert shown.err == ""
        assert shown.out.count("\n") == 1
        return shown.out.strip()

    return line


Line = Callable[[], str]


def is_own(function: Any, name: str = "causal_mask") -> bool:
    return function is not STAND_INS[name]


# whose function -------------------------------------------------------------------------------------------------------


def test_yours(write: Write, line: Line) -> None:
    write("01_mask", "import torch", MASK)
    function = earlier("01_mask", "causal_mask")
    assert line() == "causal_mask: yours, from 01_mask"
    assert is_own(function)
    assert torch.equal(function(3), torch.ones(3, 3).tril().bool())


def test_the_last_definition_counts(write: Write, line: Line) -> None:
    write("01_mask", "import torch", INVERTED, MASK)
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: yours, from 01_mask"
    write("01_mask", "import torch", MASK, INVERTED)
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert "does not pass yet" in line()


def test_the_stand_in_where_yours_does_not_pass(write: Write, line: Line) -> None:
    write("01_mask", "import torch", INVERTED)
    function = earlier("01_mask", "causal_mask")
    assert function is STAND_INS["causal_mask"]
    assert line() == (
        "causal_mask: the library's stand-in (yours does not pass yet: own_and_earlier_positions, every_length)"
    )


def test_a_stub(write: Write, line: Line) -> None:
    write("01_mask", "import torch", STUB)
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: the library's stand-in (yours is not written yet)"


def test_no_definition(write: Write, line: Line) -> None:
    write("01_mask", "import torch")
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: the library's stand-in (01_mask does not define it)"


def test_no_notebook(write: Write, line: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert write
    monkeypatch.setattr(chain, "__file__", str(tmp_path / "attnlab" / "chain.py"))
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: the library's stand-in (no notebook 01_mask beside this one)"


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "{}", '{"cells": 3}', '{"cells": [{}]}', '{"worksheets": []}'])
def test_no_real_notebook(text: str, write: Write, line: Line) -> None:
    write("01_mask").write_text(text)
    assert not is_own(earlier("01_mask", "causal_mask"))
    why = "01_mask.ipynb cannot be read: it is not a notebook, or not completely saved"
    assert line() == f"causal_mask: the library's stand-in ({why})"


def test_bytes_that_are_no_text(write: Write, line: Line) -> None:
    write("01_mask").write_bytes(b"\xff\xfe\x00")
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: the library's stand-in (01_mask.ipynb cannot be read: the file cannot be opened)"


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("def causal_mask(length, device=undefined): return 0", "its cells raise NameError"),
        ("import no_such_module as causal_mask", "its cells raise ModuleNotFoundError"),
        ("causal_mask = exit(3)", "its cells raise SystemExit"),
        ("causal_mask = 3", "does not pass yet"),
    ],
)
def test_a_definition_that_does_not_run(broken: str, said: str, write: Write, line: Line) -> None:
    write("01_mask", "import torch", MASK, broken)
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert said in line()


def test_an_endless_function_is_given_up(write: Write, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_SECONDS", 0.3)
    write("01_mask", "import torch", "def causal_mask(length, device=None):\n    while True: pass")
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: the library's stand-in (yours ran for more than 0.3 seconds)"


def test_works_off_the_main_thread(write: Write, line: Line) -> None:
    write("01_mask", "import torch", MASK)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(earlier("01_mask", "causal_mask")))
    thread.start()
    thread.join()
    assert is_own(found[0])
    assert line() == "causal_mask: yours, from 01_mask"


def test_an_interrupt_gets_through(write: Write) -> None:
    write("01_mask", "def interrupt(): raise KeyboardInterrupt", "causal_mask = interrupt()")
    with pytest.raises(KeyboardInterrupt):
        earlier("01_mask", "causal_mask")


# what is unknown ------------------------------------------------------------------------------------------------------


def test_an_unknown_lesson() -> None:
    with pytest.raises(LookupError, match="There is no lesson '01_masks'; the lessons are 01_mask, 02_cross"):
        earlier("01_masks", "causal_mask")


@pytest.mark.parametrize("name", ["softmax", "layer_norm"])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(
        LookupError, match=f"Lesson 01_mask hands on no '{name}'; it hands on causal_mask, padding_mask"
    ):
        earlier("01_mask", name)


def test_a_lesson_that_hands_nothing_on() -> None:
    with pytest.raises(LookupError, match="hands on nothing"):
        earlier("05_greedy_decode", "next_token")


# what of a notebook is run --------------------------------------------------------------------------------------------


def test_what_the_function_rests_on_comes_along(write: Write, line: Line) -> None:
    write(
        "01_mask",
        "from __future__ import annotations",
        "%matplotlib inline\nimport torch as t\n!ls\nt?",
        "one, (two, *three) = 1, (2, 3, 4)",
        "class Steps:\n    first: int = one",
        "from dataclasses import dataclass",
        "@dataclass\nclass Kept:\n    mask: Tensor  # an annotation that only a later cell could read",
        "%%time\ndef position(length, device):\n    return t.arange(length, device=device)",
        "unit: int = Steps.first",
        "def causal_mask(length: Whatever, device=None) -> Tensor:\n"
        "    p = position(length, device)\n"
        "    return Kept(p[:, None] >= p).mask if unit else None",
    )
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: yours, from 01_mask"


def test_nothing_else_is_run(write: Write, line: Line, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    touch = f"__import__('pathlib').Path({str(trace)!r}).touch()"
    write(
        "01_mask",
        f"import torch\n{touch}",
        f"unrelated = {touch}",
        f"for i in range(3):\n    causal_mask = {touch}",
        f"torch.answer = {touch}",
        MASK,
        "this is not Python",
        f"%%bash\nx = {touch}",
        f"causal_mask += {touch}",
        cell(f"causal_mask = {touch}", grade=True, solution=False, grade_id="test_causal_mask"),
        f"def unused(x={touch}): pass",
    )
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: yours, from 01_mask"
    assert not trace.exists()


def test_a_cell_graded_by_hand_is_the_learners(write: Write, line: Line) -> None:
    write("01_mask", "import torch", cell(MASK, grade=True, solution=True, grade_id="causal_mask"))
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line()


def test_source_as_a_list_of_lines(write: Write, line: Line) -> None:
    write("01_mask", "import torch", {**cell(""), "source": MASK.splitlines(keepends=True)})
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line()


def test_what_its_cells_print_is_not_shown(write: Write, line: Line) -> None:
    noisy = "import sys\nprinted = print('x') or print('y', file=sys.stderr)"
    write("01_mask", "import torch", noisy, MASK.replace("return", "print(printed)\n    return"))
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: yours, from 01_mask"


# chains ---------------------------------------------------------------------------------------------------------------

HEADS = """
masked_softmax = earlier("01_mask", "masked_softmax")

def cross_attention(dec, enc, block, num_heads, enc_allowed=None):
    return multi_head_attention(dec, enc, *block[4:8], num_heads, enc_allowed)

def cut(x, h):
    return x.reshape(*x.shape[:2], h, -1).transpose(1, 2)

def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = cut(x_q @ w_q, num_heads), cut(x_kv @ w_k, num_heads), cut(x_kv @ w_v, num_heads)
    if allowed is not None:
        allowed = allowed.expand(len(q), q.shape[2], k.shape[2])[:, None]
    weights = masked_softmax(q @ k.transpose(2, 3) / q.shape[-1] ** 0.5, allowed)
    return (weights @ v).transpose(1, 2).flatten(2) @ w_o
"""
IMPORTS = "import torch\n\nfrom attnlab import check, earlier"


def globals_of(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = function.__globals__
    return found


def test_a_notebook_takes_from_the_one_before_in_silence(write: Write, line: Line) -> None:
    write("01_mask", "import torch", SOFTMAX)
    write("02_cross_attention", IMPORTS, HEADS)
    function = earlier("02_cross_attention", "cross_attention")
    assert line() == "cross_attention: yours, from 02_cross_attention"
    assert is_own(globals_of(function)["masked_softmax"], "masked_softmax")


def test_a_change_in_the_first_notebook_reaches_the_second(write: Write, line: Line) -> None:
    write("01_mask", "import torch", SOFTMAX.replace("-1", "-2"))
    write("02_cross_attention", IMPORTS, HEADS)
    function = earlier("02_cross_attention", "cross_attention")
    assert line() == "cross_attention: yours, from 02_cross_attention"
    assert globals_of(function)["masked_softmax"] is STAND_INS["masked_softmax"]
    write("01_mask", "import torch", SOFTMAX)
    function = earlier("02_cross_attention", "cross_attention")
    assert line() == "cross_attention: yours, from 02_cross_attention"
    assert is_own(globals_of(function)["masked_softmax"], "masked_softmax")


def test_a_notebook_that_takes_from_itself(write: Write, line: Line) -> None:
    write("01_mask", IMPORTS, 'causal_mask = earlier("01_mask", "causal_mask")')
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert "does not pass yet" in line()  # the stand-in is nobody's answer


def test_many_calls_cost_one_run(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    monkeypatch.setattr(builtins, "_runs", runs, raising=False)
    counted = "import torch\nstarted = _runs.append(1)\n"
    write(
        "01_mask",
        counted,
        MASK.replace("return", "started\n    return"),
        SOFTMAX.replace("return", "started\n    return"),
    )
    functions = [earlier("01_mask", name) for name in ("causal_mask", "masked_softmax") * 3]
    assert runs == [1]
    assert functions[0] is functions[2] is functions[4]
    write("01_mask", counted, MASK.replace("return", "started; 1\n    return"))
    assert earlier("01_mask", "causal_mask") is not functions[0]
    assert runs == [1, 1]


# where it looks -------------------------------------------------------------------------------------------------------


def test_from_the_folder_above_and_beside_the_library(
    write: Write, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("01_mask", "import torch", MASK)
    monkeypatch.chdir(tmp_path)
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line()
    (tmp_path / "far" / "away").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "far" / "away")
    monkeypatch.setattr(chain, "__file__", str(tmp_path / "attnlab" / "chain.py"))
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line()


def test_a_deleted_working_folder(write: Write, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("01_mask", "import torch", MASK)
    monkeypatch.setattr(chain, "__file__", str(tmp_path / "attnlab" / "chain.py"))
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line()


def test_the_environment_names_the_only_folder(
    write: Write, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("01_mask", "import torch", MASK)
    monkeypatch.setenv(chain.FOLDER, "")
    assert not is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: the library's stand-in (no notebook 01_mask beside this one)"
    monkeypatch.setenv(chain.FOLDER, str(tmp_path))
    assert is_own(earlier("01_mask", "causal_mask"))
    assert line() == "causal_mask: yours, from 01_mask"


# every chain of the course --------------------------------------------------------------------------------------------


def test_every_stand_in_serves_where_nothing_else_is(monkeypatch: pytest.MonkeyPatch, line: Line) -> None:
    monkeypatch.setenv(chain.FOLDER, "")
    lessons = {"causal_mask": "01_mask", "cross_attention": "02_cross_attention", "encode": "04_full_forward"}
    for name, lesson in lessons.items():
        assert earlier(lesson, name) is STAND_INS[name]
        assert line().startswith(f"{name}: the library's stand-in (no notebook")
