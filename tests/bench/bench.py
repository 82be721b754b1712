"""Measure a whole class, ours against stock nbgrader, in one run on one machine; write RESULTS.md.

Ratios are what counts: seconds differ between machines, and the two are measured minutes apart on the same one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from grader.course import Course
from grader.source import source_notebook, text_of

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "submissions" / "submitted"
SLOW = {"judy"}  # an endless loop: it would measure the time limit
STOCK_CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "stock"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
"""


@dataclass(frozen=True)
class Run:
    """One measured command: seconds from start to end of its process, and the memory of its whole family in bytes."""

    seconds: float
    peak: int


def measured(command: Sequence[str], folder: Path, *, may_fail: bool = False) -> Run:
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = 0
    ended = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.5):
            peak = max(peak, memory(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, said = process.communicate()
    ended.set()
    watcher.join()
    if process.returncode and not may_fail:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{said[-3000:]}")
    return Run(time.monotonic() - begun, peak)


def memory(pid: int) -> int:
    """Proportional memory of a process and all below it: shared pages count once."""
    total = 0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except (psutil.Error, AttributeError):
            continue
    return total


def fill(submitted: Path, course: Course, number: int) -> None:
    """`number` submissions over all lessons: the sample class again and again, each made its own by a cell."""
    samples = {
        lesson: sorted(f for f in SAMPLES.glob(f"*/{lesson}/*.ipynb") if f.parts[-3] not in SLOW)
        for lesson in course.lessons
    }
    lessons = list(course.lessons)
    for n in range(number):
        lesson, student = lessons[n % len(lessons)], n // len(lessons)
        notebook = json.loads(samples[lesson][student % len(samples[lesson])].read_text(encoding="utf-8"))
        own = {"cell_type": "code", "metadata": {}, "source": f"student = {student}", "outputs": [], "id": f"own-{n}"}
        notebook["cells"].append({**own, "execution_count": None})
        path = submitted / f"s{student:04d}" / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), encoding="utf-8")


def ours(course: Course, number: int, jobs: int, *, again: bool = False) -> tuple[Run, Run | None]:
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        root = Path(name)
        shutil.copytree(course.solutions, root / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "notebooks").mkdir()
        fill(root / ".grading" / "submitted", course, number)
        command = [sys.executable, "-m", "grader", "autograde", *course.lessons, f"--jobs={jobs}"]
        first = measured(command, root)
        return first, measured(command, root) if again else None


def stock(course: Course, number: int) -> Run:
    """Stock nbgrader on the same notebooks: its own kernel, its own Execute, a release of the same lessons."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        root = Path(name)
        (root / "nbgrader_config.py").write_text(STOCK_CONFIG, encoding="utf-8")
        for lesson in course.lessons.values():
            path = root / "source" / lesson.name / f"{lesson.name}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(text_of(source_notebook(lesson)), encoding="utf-8")
            measured([sys.executable, "-m", "nbgrader", "generate_assignment", lesson.name], root)
        fill(root / "submitted", course, number)
        seconds, peak = 0.0, 0
        for lesson_name in course.lessons:
            # a submission that crashes its kernel makes stock nbgrader end with an error; its time counts all the same
            run = measured([sys.executable, "-m", "nbgrader", "autograde", lesson_name], root, may_fail=True)
            seconds, peak = seconds + run.seconds, max(peak, run.peak)
        return Run(seconds, peak)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--small", action="store_true", help="a tenth of everything: tries the bench, measures little")
    small = options.parse_args().small
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    course = Course.find(HERE)
    few, many, sample = (10, 50, 5) if small else (100, 500, 20)

    print(f"stock nbgrader, {sample} submissions", flush=True)
    base = stock(course, sample)
    print(f"ours, {few} submissions, 1 worker", flush=True)
    one, _ = ours(course, few, 1)
    print(f"ours, {few} submissions, 2 workers", flush=True)
    two, _ = ours(course, few, 2)
    print(f"ours, {many} submissions, 2 workers, and again with nothing changed", flush=True)
    large, rerun = ours(course, many, 2, again=True)
    assert rerun is not None

    def rate(run: Run, number: int) -> float:
        return 60 * number / run.seconds

    rows = [
        ("stock `nbgrader autograde`", sample, base),
        ("ours, 1 worker", few, one),
        ("ours, 2 workers", few, two),
        ("ours, 2 workers", many, large),
        ("ours, nothing changed", many, rerun),
    ]
    lines = [
        "# A class, ours and stock nbgrader",
        "",
        "Made by `make bench`; process start included. The class is the sample class again and again over all five",
        "lessons: right, wrong and crashing. Stock nbgrader runs a part of it, without hidden checks.",
        "",
        "| what | submissions | seconds | a minute | peak memory, MB |",
        "|---|---|---|---|---|",
        *(f"| {what} | {n} | {r.seconds:.1f} | {rate(r, n):.0f} | {r.peak / 1e6:.0f} |" for what, n, r in rows),
        "",
        f"- against stock: **{rate(two, few) / rate(base, sample):.1f} times** at {few} submissions,"
        f" {rate(large, many) / rate(base, sample):.1f} times at {many}",
        f"- from 1 to 2 workers: {one.seconds / two.seconds:.2f} times",
        f"- from {few} to {many} submissions: {large.seconds / two.seconds:.2f} times the seconds for"
        f" {many / few:g} times the work",
        "",
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}, torch {torch.__version__}.",
        "",
    ]
    text = "\n".join(lines)
    print(text)
    if not small:
        (HERE / "RESULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
