"""What only a GPU can tell: that the cases are as CUDA has them, and that confined kernels use it within bounds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from attnlab.device_names import CPU, GPU
from attnlab.verdict import AnswerError, Verdict
from grader.course import Course
from grader.gpu import with_device
from grader.sandbox import Policy, Sandbox
from tests.gpu.cases import Case, inputs, read_cases

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU on this machine")

CASES = read_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_cuda_refuses_and_takes_what_the_case_says(case: Case) -> None:
    args = [tensor.cuda() for tensor in inputs()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.kind == "taken":
            case.run(*args)
            torch.cuda.synchronize()
        else:
            with pytest.raises((RuntimeError, TypeError)):
                case.run(*args)


@pytest.fixture(scope="module")
def sandbox(course: Course) -> Iterator[Sandbox]:
    with Sandbox(with_device(Policy(gpu_kernels=4), GPU), course_root=course.root) as made:
        yield made


def answers(sandbox: Sandbox, source: str, *devices: str) -> list[object]:
    """What the cell's function f gives for torch.ones(2), on each device in turn, in one kernel."""
    found: list[object] = []
    with sandbox.kernel() as kernel:
        kernel.run(new_notebook(cells=[new_code_cell(f"import torch\n{source}")]))
        for device in devices:
            try:
                outcome = kernel.answer("f")((torch.ones(2),), {}, device)
                found.append((outcome.value, outcome.placed))
            except AnswerError as error:
                found.append(error)
    return found


def test_a_confined_kernel_computes_on_the_gpu(sandbox: Sandbox) -> None:
    (value, placed), (plain, nowhere) = answers(sandbox, "def f(x):\n    return x + 1, str(x.device)", GPU, CPU)
    assert torch.equal(value[0], torch.full((2,), 2.0)) and value[0].device.type == "cpu" and value[1] == "cuda:0"
    assert placed.devices == ("cuda:0",)
    assert plain[1] == "cpu" and nowhere is None


def test_memory_that_is_not_there_is_a_verdict_and_the_kernel_goes_on(sandbox: Sandbox) -> None:
    greedy = "def f(x):\n    return x + torch.ones(1 << 45, device=x.device).sum() if x.is_cuda else x"
    full, fine = answers(sandbox, greedy, GPU, CPU)
    assert isinstance(full, AnswerError) and full.verdict is Verdict.OUT_OF_MEMORY
    assert torch.equal(fine[0], torch.ones(2))


def test_a_kernel_takes_its_share_only(sandbox: Sandbox) -> None:
    half = "def f(x):\n    n = torch.cuda.get_device_properties(0).total_memory // 2\n"
    half += "    return torch.empty(n, dtype=torch.uint8, device='cuda').numel() > 0"
    (refused,) = answers(sandbox, half, GPU)
    assert isinstance(refused, AnswerError) and refused.verdict is Verdict.OUT_OF_MEMORY


def test_products_of_float32_are_not_rounded_to_tf32(sandbox: Sandbox) -> None:
    source = (
        "torch.backends.cuda.matmul.allow_tf32 = True\n"
        "def f(x):\n    a = torch.full((64, 64), 1 + 2**-12, device=x.device)\n    return (a @ a)[0, 0].item()"
    )
    ((on_gpu, _), (on_cpu, _)) = answers(sandbox, source, GPU, CPU)
    assert abs(on_gpu - on_cpu) < 1e-4  # TF32 keeps 10 bits: 64 instead of 64.03


def test_a_kernel_of_the_cpu_finds_no_gpu(course: Course) -> None:
    with Sandbox(Policy(), course_root=course.root) as plain:
        ((found, _),) = answers(plain, "def f(x):\n    return torch.cuda.is_available()", CPU)
    assert found is False
