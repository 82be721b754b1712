"""Confined kernels run notebooks, answer calls, and survive what notebooks do to them."""

from __future__ import annotations

import copy
import time
from dataclasses import replace

import nbformat
import pytest
import torch

from attnlab.verdict import AnswerError, Verdict
from grader.sandbox import Kernel, Policy, Sandbox
from tests.grader.sandbox.conftest import cells, text

pytestmark = pytest.mark.slow

SHORT = Policy(cell_seconds=1.0, repeat_seconds=0.5, grace_seconds=0.5, call_seconds=1.5, call_bytes=8 << 20)
"""Times that a test can wait for."""


def verdict_of(kernel: Kernel, name: str, *args: object) -> Verdict:
    with pytest.raises(AnswerError) as raised:
        kernel.answer(name)(args, {})
    return raised.value.verdict


def test_a_notebook_runs_and_keeps_its_outputs(sandbox: Sandbox) -> None:
    notebook = cells("print('one')\n2", "1 / 0", "import sys; print('err', file=sys.stderr)", "", "%time 3")
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell("prose"))
    before = copy.deepcopy(notebook)
    with sandbox.kernel() as kernel:
        executed = kernel.run(notebook)
        assert kernel.alive and kernel.incidents == ()
    assert notebook == before
    nbformat.validate(executed)
    first, prose, division, stderr, empty, magic = executed.cells
    assert [o.output_type for o in first.outputs] == ["stream", "execute_result"]
    assert text(first) == "one\n\n2" and first.execution_count == 1
    assert prose == notebook.cells[1]
    assert division.outputs[0].ename == "ZeroDivisionError" and division.outputs[0].traceback
    assert stderr.outputs[0].name == "stderr"
    assert empty.outputs == [] and empty.execution_count is None
    assert "3" in text(magic)


def test_answers_come_from_the_notebook(sandbox: Sandbox) -> None:
    notebook = cells("import torch", "def double(x):\n    return 2 * x", "def broken(x):\n    return x.nothing")
    with sandbox.kernel() as kernel:
        kernel.run(notebook)
        outcome = kernel.answer("double")((torch.ones(2, 3, dtype=torch.bfloat16),), {})
        assert torch.equal(outcome.value, torch.full((2, 3), 2.0, dtype=torch.bfloat16))
        assert verdict_of(kernel, "broken", torch.ones(1)) is Verdict.ERRORED
        assert verdict_of(kernel, "missing") is Verdict.ERRORED
        assert kernel.alive


def test_the_course_and_the_environment_can_be_imported(sandbox: Sandbox) -> None:
    notebook = cells(
        "from attnlab import check, earlier",
        "import torch.distributions.studentT, torch.optim.lr_scheduler, email.mime.text, lzma, xml.dom.minidom",
        "import ipywidgets, plotly.graph_objects, numpy.fft, anywidget\nipywidgets.IntSlider()",
        "!echo from the shell",
        "import os, tempfile\nprint(os.listdir('.'), tempfile.mkdtemp() != '', open('note', 'w').write('x'))",
        "import threading; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()",
        "import multiprocessing as mp\nwith mp.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2]))"
        if sandbox.policy.mode == "namespaces"
        else "print([1, 2])",
    )
    with sandbox.kernel() as kernel:
        executed = kernel.run(notebook)
    assert [o.ename for cell in executed.cells for o in cell.outputs if o.output_type == "error"] == []
    said = [text(cell).strip() for cell in executed.cells]
    assert said[3:] == ["from the shell", "[] True 1", "thread", "[1, 2]"]


def test_what_a_first_cell_imports_is_there_already(sandbox: Sandbox) -> None:
    notebook = cells(
        "import sys; before = set(sys.modules)",
        "import torch\nprint(torch.ones(2))\n1 / 0",
        "print(len(set(sys.modules) - before))",
    )
    with sandbox.kernel() as kernel:
        executed = kernel.run(notebook)
    assert int(text(executed.cells[2])) <= 5


def test_plain_operations_load_no_compiler_and_who_wants_it_has_it(sandbox: Sandbox) -> None:
    notebook = cells(
        "import sys, torch\nrow = torch.arange(4, device='meta')\n(row[:, None] >= row[None, :]).shape",
        "adam = torch.optim.Adam(torch.nn.Linear(2, 2).parameters())\nprint('torch._dynamo' in sys.modules)",
        "doubled = torch.compile(lambda x: 2 * x, backend='eager')\nprint(doubled(torch.ones(2)).tolist())",
    )
    with sandbox.kernel() as kernel:
        executed = kernel.run(notebook)
    assert [text(cell) for cell in executed.cells[1:]] == ["False\n", "[2.0, 2.0]\n"]


def test_kernels_draw_different_numbers_and_hash_alike(sandbox: Sandbox) -> None:
    notebook = cells(
        "import torch, numpy, random; torch.rand(1).item(), numpy.random.rand(), random.random(), hash('a')"
    )
    drawn = []
    for _ in range(2):
        with sandbox.kernel() as kernel:
            drawn.append(eval(text(kernel.run(notebook).cells[0])))
    assert all(a != b for a, b in zip(*(d[:3] for d in drawn), strict=True))
    assert drawn[0][3] == drawn[1][3]


def test_parallel_torch_works_in_a_kernel(sandbox: Sandbox) -> None:
    """A fork of a process with a live thread pool would hang here."""
    notebook = cells(
        "import torch; torch.set_num_threads(2); float((torch.ones(600, 600) @ torch.ones(600, 600)).sum())"
    )
    with sandbox.kernel(replace(SHORT, cell_seconds=20)) as kernel:
        assert text(kernel.run(notebook).cells[0]) == "216000000.0"


def test_input_raises_and_does_not_wait(sandbox: Sandbox) -> None:
    with sandbox.kernel() as kernel:
        executed = kernel.run(cells("input('name? ')"))
    assert "StdinNotImplementedError" in text(executed.cells[0])


def test_a_cell_that_hangs_is_interrupted_and_the_others_run(sandbox: Sandbox) -> None:
    notebook = cells("def f():\n    return 1", "while True: pass", "def g():\n    return 2")
    with sandbox.kernel(SHORT) as kernel:
        executed = kernel.run(notebook)
        assert kernel.alive
        assert [(i.cell, i.what) for i in kernel.incidents] == [(1, "timed out")]
        assert [kernel.answer(name)((), {}).value for name in "fg"] == [1, 2]
    nbformat.validate(executed)
    assert "KeyboardInterrupt" in text(executed.cells[1]) and "TimedOut" in text(executed.cells[1])


STUBBORN = "while True:\n    try:\n        while True: sum(range(9))\n    except BaseException: pass"


@pytest.mark.parametrize(
    ("deadly", "what"),
    [
        ("import os; os._exit(7)", "died"),
        ("import ctypes; ctypes.string_at(0)", "died"),
        (STUBBORN, "killed"),
        ("sum(range(10**13))", "killed"),
    ],
)
def test_a_cell_that_ends_the_kernel_costs_only_itself(sandbox: Sandbox, deadly: str, what: str) -> None:
    notebook = cells("def f():\n    return 1", deadly, "def g():\n    return 2", "print('last')")
    with sandbox.kernel(SHORT) as kernel:
        executed = kernel.run(notebook)
        assert kernel.alive
        assert [(i.cell, i.what) for i in kernel.incidents] == [(1, what)]
        assert [kernel.answer(name)((), {}).value for name in "fg"] == [1, 2]
    assert executed.cells[1].outputs[-1].output_type == "error"
    assert text(executed.cells[3]) == "last\n"


def test_a_kernel_that_ends_too_often_is_not_started_again(sandbox: Sandbox) -> None:
    notebook = cells(*["import os; os._exit(1)"] * 4, "print('never')")
    with sandbox.kernel(replace(SHORT, revivals=2)) as kernel:
        executed = kernel.run(notebook)
        assert not kernel.alive
        assert [i.what for i in kernel.incidents] == ["died", "died", "died", "not run", "not run"]
        assert verdict_of(kernel, "f") is Verdict.ERRORED
    assert "the kernel ended too often" in text(executed.cells[4])


def test_a_notebook_has_so_much_time_and_no_more(sandbox: Sandbox) -> None:
    notebook = cells(*["import time; time.sleep(0.8)"] * 5)
    started = time.monotonic()
    with sandbox.kernel(replace(SHORT, notebook_seconds=1.5)) as kernel:
        kernel.run(notebook)
        assert [i.what for i in kernel.incidents][-2:] == ["not run", "not run"]
    assert time.monotonic() - started < 6


def test_a_kernel_lives_so_long_and_no_longer(sandbox: Sandbox) -> None:
    with sandbox.kernel(replace(SHORT, life_seconds=1.0, revivals=0, cell_seconds=20)) as kernel:
        kernel.run(cells("import time; time.sleep(15)"))
        assert kernel.ending is not None and kernel.ending.reason == "life"


def test_restart_gives_a_fresh_kernel_with_the_cells_run(sandbox: Sandbox) -> None:
    notebook = cells("calls = []", "def f():\n    calls.append(1)\n    return len(calls)")
    with sandbox.kernel() as kernel:
        kernel.run(notebook)
        answer = kernel.answer("f")
        assert [answer((), {}).value for _ in range(2)] == [1, 2]
        kernel.restart(notebook)
        assert answer((), {}).value == 1


def test_restart_leaves_out_what_no_kernel_survives(sandbox: Sandbox) -> None:
    notebook = cells("def f():\n    return 1", "import os; os._exit(1)", "while True: pass", "def g():\n    return 2")
    with sandbox.kernel(SHORT) as kernel:
        kernel.run(notebook)
        started = time.monotonic()
        kernel.restart(notebook)
        assert time.monotonic() - started < SHORT.cell_seconds + 1
        assert kernel.answer("g")((), {}).value == 2


# calls ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("while True: pass", Verdict.TIMED_OUT),
        (STUBBORN.replace("\n", "\n    "), Verdict.TIMED_OUT),
        ("import os; os._exit(0)", Verdict.ERRORED),
        ("import ctypes; ctypes.string_at(0)", Verdict.ERRORED),
        ("import os; os.closerange(3, 100)", Verdict.ERRORED),
        ("import os; os.write(3, b'x' * 100)", Verdict.ERRORED),
        ("import torch; return torch.zeros(1 << 40)", Verdict.OUT_OF_MEMORY),
        ("return bytearray(1 << 42)", Verdict.OUT_OF_MEMORY),
        ("open('/etc/hostname', 'w')", Verdict.BLOCKED),
        ("import socket; socket.create_connection(('127.0.0.1', 80))", Verdict.BLOCKED),
        ("import torch; return torch.zeros(3_000_000)", Verdict.ERRORED),
    ],
)
def test_a_call_that_goes_wrong_gets_a_verdict_and_the_next_exercise_a_kernel(
    sandbox: Sandbox, body: str, verdict: Verdict
) -> None:
    notebook = cells(f"def f():\n    {body}", "def g():\n    return 2")
    with sandbox.kernel(SHORT) as kernel:
        kernel.run(notebook)
        assert verdict_of(kernel, "f") is verdict
        if not kernel.alive:
            kernel.restart(notebook)
        assert kernel.answer("g")((), {}).value == 2


def test_calls_are_quick(sandbox: Sandbox) -> None:
    with sandbox.kernel() as kernel:
        kernel.run(cells("def f(x):\n    return x"))
        answer, x = kernel.answer("f"), torch.zeros(100, 128)
        times = []
        for _ in range(20):
            started = time.perf_counter()
            answer((x,), {})
            times.append(time.perf_counter() - started)
    assert sorted(times)[10] < 0.05  # 2 ms where nothing else runs


# outputs --------------------------------------------------------------------------------------------------------------


def size(notebook: nbformat.NotebookNode) -> int:
    return len(nbformat.writes(notebook))


@pytest.mark.parametrize(
    "flood",
    [
        "for i in range(10**5): print('line', i)",
        "for _ in range(100): print('x' * 10**6)",
        "print('x' * 10**8)",
        "import sys; sys.stdout.write('y' * 10**8); sys.stdout.flush()",
        "from IPython.display import display, HTML\nfor _ in range(40): display(HTML('z' * 10**6))",
        "from IPython.display import display, HTML\ndisplay(HTML('z' * 6 * 10**7))",
        "raise ValueError('w' * 10**6)",
        "import os\nfor _ in range(100): os.write(1, b'v' * 10**6)",
    ],
)
def test_output_is_bounded_and_says_so(sandbox: Sandbox, flood: str) -> None:
    most = 1 << 20
    with sandbox.kernel(Policy(output_bytes=most, message_bytes=8 << 20, cell_seconds=30)) as kernel:
        executed = kernel.run(cells(flood, "print('after')", "def f():\n    return 1"))
        assert kernel.answer("f")((), {}).value == 1
    nbformat.validate(executed)
    assert size(executed) < 1.2 * most
    assert all(i.what == "timed out" for i in kernel.incidents)


def test_a_progress_bar_is_one_output(sandbox: Sandbox) -> None:
    source = (
        "from IPython.display import display, clear_output\n"
        "handle = display('0', display_id=True)\n"
        "for i in range(200): handle.update(str(i))"
    )
    with sandbox.kernel() as kernel:
        executed = kernel.run(cells(source, "for i in range(50):\n    clear_output(wait=True)\n    print(i)"))
    assert text(executed.cells[0]) == "'199'" and len(executed.cells[0].outputs) == 1
    assert text(executed.cells[1]) == "49\n"


def test_outputs_hold_only_what_can_be_stored(sandbox: Sandbox) -> None:
    source = (
        "print('\\ud800 \\x00')\n"
        "from IPython.display import publish_display_data as publish\n"
        "publish({'text/plain': 'a\\udfff', 'application/json': {'x': float('nan')}, 'image/png': 'x'})\n"
        "deep = 0\n"
        "for _ in range(500): deep = [deep]\n"
        "publish({'application/json': deep, 'text/plain': 'deep'})"
    )
    with sandbox.kernel() as kernel:
        executed = kernel.run(cells(source, "print('after')"))
    nbformat.writes(executed).encode("utf-8")
    assert text(executed.cells[1]) == "after\n"
