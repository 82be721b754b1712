"""Grading on a GPU, as far as a machine without one can tell; tests/gpu/ holds the rest."""

from __future__ import annotations

import logging
import resource
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory

from attnlab.devices import no_tf32
from attnlab.trial import LocalAnswer
from grader import cli, gpu
from grader.course import Course, CourseError
from grader.gpu import chosen, place_on_gpu, with_device
from grader.gradebook import Autograde
from grader.judge import judge_exercise
from grader.sandbox import Mode, Policy, Sandbox, SandboxError, limits, mounts, orders
from grader.sandbox.confinement import Places, Walls
from grader.sandbox.landlock import Access
from grader.sandbox.mounts import View
from grader.settings import settings
from tests.gpu.answers import in_folder

without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens where there is no GPU")
GPU = Policy(mode=Mode.NAMESPACES, gpu=True)


# choosing -------------------------------------------------------------------------------------------------------------


def test_auto_takes_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gpu, "_DRIVER", tmp_path)
    for there, device in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert chosen("auto") == device
        assert chosen("cpu") == "cpu"
    with pytest.raises(CourseError, match="torch finds no GPU on this machine; use cpu"):
        chosen("cuda")


@without_gpu
@pytest.mark.parametrize("call", [["score", "no.ipynb"], ["autograde", "01_mask"]])
def test_a_gpu_that_is_not_there_is_a_wrong_call(
    call: list[str], course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(sys, "argv", ["grader", *call, "--device", "cuda"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "device cuda: torch finds no GPU on this machine; use cpu" in " ".join(capsys.readouterr().err.split())


@without_gpu
def test_nbgrader_is_told_too(course: Course, caplog: pytest.LogCaptureFixture) -> None:
    config = settings(course)
    config.Autograde.device = "cuda"
    step = Autograde(coursedir=CourseDirectory(config=config), config=config)
    step.log = logging.getLogger("autograde")
    with pytest.raises(NbGraderException, match="no GPU"):
        step.start()
    assert "no GPU on this machine" in caplog.text


def test_only_a_gpus_policy_has_a_gpu() -> None:
    assert with_device(Policy(), "cpu") == Policy()
    policy = with_device(Policy(mode=Mode.LANDLOCK), "cuda")
    assert policy.gpu and policy.mode is Mode.LANDLOCK
    assert policy.digest != Policy(mode=Mode.LANDLOCK).digest
    assert Policy.from_json(policy.to_json()) == policy


# sharing --------------------------------------------------------------------------------------------------------------


def test_no_more_kernels_than_places_use_the_gpu(tmp_path: Path) -> None:
    policy, now, most = replace(Policy(), gpu_kernels=2), 0, 0
    lock = threading.Lock()

    def kernel() -> None:
        nonlocal now, most
        with place_on_gpu("cuda", policy, tmp_path):
            with lock:
                now, most = now + 1, max(most, now + 1)
            time.sleep(0.02)
            with lock:
                now -= 1

    threads = [threading.Thread(target=kernel) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (now, most) == (0, 2)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_place_of_one_that_was_killed_is_free(tmp_path: Path) -> None:
    policy = replace(Policy(), gpu_kernels=1)
    holder = (
        "import os, pathlib, sys\nfrom grader.gpu import place_on_gpu\nfrom grader.sandbox import Policy\n"
        "with place_on_gpu('cuda', Policy(gpu_kernels=1), pathlib.Path(sys.argv[1])):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", holder, str(tmp_path)], check=False).returncode == -9
    with place_on_gpu("cuda", policy, tmp_path):
        pass


def test_nobody_waits_for_the_cpu(tmp_path: Path) -> None:
    policy = replace(Policy(), gpu_kernels=1)
    with place_on_gpu("cpu", policy, tmp_path), place_on_gpu("cpu", policy, tmp_path):
        assert list(tmp_path.iterdir()) == []


# the sandbox ----------------------------------------------------------------------------------------------------------


def test_only_a_gpus_kernel_is_let_at_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "_GPU_DEVICES", ("tty", "sh*", "fd/*"))  # stand for nvidia's; tty alone is a device
    assert mounts.devices(Policy()) == mounts.DEVICES
    assert mounts.devices(GPU) == (*mounts.DEVICES, "tty")
    view = View((), ())
    for policy, ioctl in ((replace(GPU, gpu=False), set()), (GPU, {"/dev/tty"})):
        rules = dict(Walls(Mode.NAMESPACES, policy, view, "/r", "/f")._rules(Places.under("/x")))
        assert {p for p, access in rules.items() if p.startswith("/dev/") and access & Access.IOCTL_DEV} - {
            "/dev/pts"
        } == ioctl
        assert ("/dev/tty" in rules) == policy.gpu


def test_addresses_are_not_counted_where_cuda_maps_whole_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    for policy, counted in ((replace(GPU, gpu=False), True), (GPU, False)):
        seen: list[int] = []
        monkeypatch.setattr(limits, "_set", lambda which, *_, seen=seen: seen.append(which))
        limits.apply_limits(policy)
        assert (resource.RLIMIT_AS in seen) == counted and resource.RLIMIT_CPU in seen


def test_kernels_see_no_gpu_unless_the_policy_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert orders._environment(Policy())["CUDA_VISIBLE_DEVICES"] == ""
    found = orders._environment(GPU)
    assert found["CUDA_VISIBLE_DEVICES"] == "3" and 0 < float(found["ATTENTION_GPU_SHARE"]) * GPU.gpu_kernels < 1
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert "CUDA_VISIBLE_DEVICES" not in orders._environment(GPU)


@pytest.mark.slow
@without_gpu
def test_kernels_that_do_not_find_the_gpu_are_refused(course: Course) -> None:
    with (
        Sandbox(with_device(Policy(), "cuda"), course_root=course.root) as sandbox,
        pytest.raises(SandboxError, match=r"kernels cannot use the GPU behind their walls .* grade on the CPU"),
        sandbox.kernel(),
    ):
        pass


@pytest.mark.slow
def test_device_mistakes_in_a_kernel_cost_what_they_cost_here(course: Course) -> None:
    names = ("decoder_block/mask_on_cuda_by_name", "gelu/cube_by_numpy", "next_token/through_numpy")
    mistakes = {name: in_folder(course, "devices")[name] for name in names}
    files = [(course.root / "tests" / "devices" / f"{name}.py").read_text(encoding="utf-8") for name in names]
    with Sandbox(Policy(), course_root=course.root) as sandbox, sandbox.kernel() as kernel:
        kernel.run(new_notebook(cells=[new_code_cell(file) for file in files]))
        for exercise, answer in mistakes.values():
            functions = course.reference.functions
            there = judge_exercise(exercise, kernel.answer(exercise), reference=functions, seed=5)
            here = judge_exercise(exercise, LocalAnswer(answer), reference=functions, seed=5)
            assert [(c.name, c.rationale) for c in there.lost] == [(c.name, c.rationale) for c in here.lost]
            assert len(there.lost) == 1


def test_nothing_asks_for_a_gpu_before_the_fork() -> None:
    """CUDA that was so much as counted does not survive a fork; the fork server only imports."""
    code = (
        "import torch\nfrom grader.sandbox.preload import preload\n"
        "def never(*_, **__):\n    raise SystemExit('somebody asked for a GPU')\n"
        "for name in ('_lazy_init', 'is_available', 'device_count', 'init', 'current_device'):\n"
        "    setattr(torch.cuda, name, never)\n"
        "missing = preload()\nassert not missing, missing\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tf32_is_off_inside_only() -> None:
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    matmul.allow_tf32 = cudnn.allow_tf32 = True
    try:
        with no_tf32():
            assert not matmul.allow_tf32 and not cudnn.allow_tf32
        assert matmul.allow_tf32 and cudnn.allow_tf32
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = before


def test_tf32_may_have_been_allowed_in_the_new_way() -> None:
    code = (
        "import torch\nfrom attnlab.devices import no_tf32\nmatmul = torch.backends.cuda.matmul\n"
        "matmul.fp32_precision = 'tf32'\n"
        "with no_tf32():\n    assert matmul.fp32_precision == 'ieee', matmul.fp32_precision\n"
        "assert matmul.fp32_precision == 'tf32'\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
