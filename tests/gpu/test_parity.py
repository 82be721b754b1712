"""The same points with a GPU and without. Where there is none, the pretend GPU takes its part for the mistakes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attnlab.device_names import CPU, GPU, PRETEND
from attnlab.exercises import EXERCISES
from grader.collect import take_one
from grader.course import Course
from grader.faults import Library, read_faults
from grader.gpu import with_device
from grader.grade import Grader
from grader.release import masters
from grader.sandbox import Policy, Sandbox
from tests.gpu.answers import in_folder, of_faults, score

COURSE = Course.find(Path(__file__).parent)
MISTAKES = in_folder(COURSE, "devices")
STYLES = in_folder(COURSE, "styles")
SAMPLES = Path(__file__).parent.parent / "submissions" / "submitted"

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU on this machine")
every_exercise = pytest.mark.parametrize("exercise", EXERCISES)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_scores_the_same_on_the_pretend_gpu(name: str) -> None:
    exercise, answer = MISTAKES[name]
    assert score(COURSE, exercise, answer, PRETEND) == score(COURSE, exercise, answer, CPU)


@every_exercise
def test_right_answers_score_the_same_on_the_pretend_gpu(exercise: str) -> None:
    answers = [COURSE.reference.functions[exercise]]
    answers += [answer for of, answer in STYLES.values() if of == exercise][:2]  # all of them where there is a GPU
    for answer in answers:
        assert score(COURSE, exercise, answer, PRETEND) == (EXERCISES[exercise].points, {})


@needs_gpu
@every_exercise
def test_styles_and_mistakes_score_the_same_on_a_gpu(exercise: str) -> None:
    for name, (of, answer) in {**STYLES, **MISTAKES}.items():
        if of == exercise:
            assert score(COURSE, exercise, answer, GPU) == score(COURSE, exercise, answer, CPU), name


@needs_gpu
@every_exercise
def test_faults_score_the_same_on_a_gpu(exercise: str) -> None:
    for name, answer in of_faults(Library(COURSE.reference, read_faults()), exercise):
        on_gpu, on_cpu = (score(COURSE, exercise, answer, device) for device in (GPU, CPU))
        assert on_gpu[0] == on_cpu[0], (name, on_gpu, on_cpu)


@needs_gpu
@pytest.mark.slow
@pytest.mark.xdist_group("kernels")
def test_sample_submissions_score_the_same_on_a_gpu() -> None:
    points: dict[str, dict[str, dict[str, float]]] = {}
    for device in (CPU, GPU):
        # loops that do not end are cut short; a first call makes its kernel's CUDA context, in a second
        policy = replace(with_device(Policy(), device), cell_seconds=4.0, repeat_seconds=1.0, call_seconds=6.0)
        with Sandbox(policy, course_root=COURSE.root) as sandbox:
            grader = Grader(COURSE, sandbox, masters(COURSE), device)
            for folder in sorted(SAMPLES.glob("*/*")):
                lesson = folder.name
                graded = grader.grade(take_one(folder, lesson, lambda _: 1), lesson, seed=1)
                scores = {row.name: row.points for row in graded.ledger.exercises}
                points.setdefault(device, {})[f"{folder.parent.name}/{lesson}"] = scores
    assert points[GPU] == points[CPU]
