"""The answers that must score the same with a GPU and without: styles, device mistakes, named faults."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from attnlab.trial import LocalAnswer
from grader.course import Course
from grader.faults import Library
from grader.judge import judge_exercise

SEED = 5

Score = dict[str, str]
"""Check to verdict, for those that did not pass."""


def in_folder(course: Course, folder: str) -> Mapping[str, tuple[str, Callable[..., Any]]]:
    """Name to exercise and answer, for every file of a folder of tests/ that has a folder for each exercise."""
    found = {}
    for path in sorted((course.root / "tests" / folder).glob("*/*.py")):
        found[f"{path.parent.name}/{path.stem}"] = path.parent.name, answer_in(path)
    return found


def answer_in(path: Path) -> Callable[..., Any]:
    """The function that a file defines for the exercise that its folder is named after."""
    namespace: dict[str, Any] = {"__name__": "answer"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    answer: Callable[..., Any] = namespace[path.parent.name]
    return answer


def of_faults(library: Library, exercise: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Name and answer of every named fault in the exercise's own text."""
    for fault in library.faults:
        if fault.exercise == exercise:
            yield fault.id, library.functions(fault)[exercise]


def score(course: Course, exercise: str, answer: Callable[..., Any], device: str) -> tuple[float, Score]:
    """Points, and what did not pass, of an answer in this process on a device."""
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(0)
        row = judge_exercise(
            exercise, LocalAnswer(answer), reference=course.reference.functions, seed=SEED, device=device
        )
    return row.points, {check.name: check.verdict.value for check in row.lost}
