"""Measure ours against stock nbgrader in one run on one machine, and write RESULTS.md.

Ratios are what counts: seconds differ between machines, and what is compared is measured minutes apart on the same one.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

import nbgrader
import torch

from grader.course import Course
from tests.bench.classes import Classes, phases
from tests.bench.judging import judging
from tests.bench.kernels import kernels, leak
from tests.bench.measuring import Run, loop_scaling, mean
from tests.bench.widgets import LARGE, MOVES, widgets

HERE = Path(__file__).parent


def class_section(course: Course, few: int, many: int, sample: int) -> list[str]:
    classes = Classes(course)
    said(f"stock nbgrader, {sample} submissions, half of them before ours and half after")
    base = classes.stock(sample // 2)
    loops = [loop_scaling()]
    firsts = scaling(classes, few)
    between = (few + many) // 2
    said(f"ours, {between} submissions, 2 workers")
    (half,) = classes.ours(between, 2)
    said(f"ours, {many} submissions, 2 workers, again with nothing changed, and with 1 worker")
    large, rerun = classes.ours(many, 2, again=True)
    loops.append(loop_scaling())
    (slow,) = classes.ours(many, 1)
    alone, one, two = (mean(pair) for pair in zip(firsts, scaling(classes, few), strict=True))
    base += classes.stock(sample - sample // 2)  # so that what else the machine does counts for both
    loops.append(loop_scaling())
    middle = (two.seconds + large.seconds) / 2  # as `between` lies in the middle
    rows = [
        ("stock `nbgrader autograde`", sample, base),
        ("ours, 1 worker on one core", few, alone),
        ("ours, 1 worker", few, one),
        ("ours, 2 workers", few, two),
        ("ours, 2 workers", between, half),
        ("ours, 1 worker", many, slow),
        ("ours, 2 workers", many, large),
        ("ours, nothing changed", many, rerun),
    ]
    base_rate, few_rate, many_rate = base.seconds / sample, two.seconds / few, large.seconds / many
    return [
        "## A class",
        "",
        "The class is the sample class again and again over all five lessons: right, wrong and crashing. Start of the",
        "process is included. Stock nbgrader runs a part of it, without hidden checks: half before ours, half after.",
        f"What is said of {few} submissions is the mean of two runs, one early and one late.",
        "",
        "| what | submissions | seconds | a minute | peak memory, MB |",
        "|---|---|---|---|---|",
        *(
            f"| {what} | {n} | {run.seconds:.1f} | {60 * n / run.seconds:.0f} | {run.peak / 1e6:.0f} |"
            for what, n, run in rows
        ),
        "",
        f"- against stock: **{base_rate / few_rate:.1f} times** at {few} submissions, {base_rate / many_rate:.1f} times"
        f" at {many}",
        f"- from 1 to 2 workers: **{slow.seconds / large.seconds:.2f} times** at {many} submissions,"
        f" {one.seconds / two.seconds:.2f} times at {few}, where one worker uses a little of the second core, too, for"
        f" the start and the gradebook; {alone.seconds / two.seconds:.2f} times from one core to two",
        f"- what two cores of this machine give at most: {', '.join(f'{loop:.2f}' for loop in loops)} times, by a plain"
        " loop in two processes at once, before, amid and after these runs",
        f"- from {few} to {many} submissions: {large.seconds / two.seconds:.2f} times the seconds for"
        f" {many / few:g} times the work; {between} take {100 * (half.seconds / middle - 1):+.1f} % off"
        f" the straight line between the two; the first result is there after {two.results[0]:.1f} s",
        "",
    ]


def scaling(classes: Classes, number: int) -> tuple[Run, Run, Run]:
    """A class with 1 worker on one core, 1 worker, and 2 workers."""
    said(f"ours, {number} submissions, 1 worker on one core, 1 worker, 2 workers")
    (alone,) = classes.ours(number, 1, cores=1)
    (one,) = classes.ours(number, 1)
    (two,) = classes.ours(number, 2)
    return alone, one, two


def phase_section(course: Course, number: int) -> list[str]:
    said(f"seconds by phase, {number} submissions in one process")
    found = phases(course, number)
    return [
        "## Where the time goes",
        "",
        f"Milliseconds a submission, of {number} in one process without a pool.",
        "",
        "| phase | ms |",
        "|---|---|",
        *(f"| {name} | {1000 * seconds:.0f} |" for name, seconds in found.items()),
        f"| together | {1000 * sum(found.values()):.0f} |",
        "",
    ]


def judging_section(course: Course) -> list[str]:
    said("hidden checks on right answers")
    return [
        "## Hidden checks",
        "",
        "Processor milliseconds for a lesson of right answers, judge and kernel together, beyond the notebook's run.",
        "",
        "| lesson | ms |",
        "|---|---|",
        *(f"| {name} | {1000 * seconds:.0f} |" for name, seconds in judging(course).items()),
        "",
    ]


def kernel_section(course: Course, number: int, stock: int, row: int) -> list[str]:
    said(f"{number} kernels, and {stock} stock ones")
    found = kernels(course, number, stock)
    said(f"{row} kernels in a row")
    left = leak(course, row)
    return [
        "## Kernels",
        "",
        f"From the start to the reply of a first cell, `import torch`; median of {number}, and of {stock} stock ones.",
        "",
        "| what | |",
        "|---|---|",
        f"| confined kernel | {1000 * found.ours:.0f} ms |",
        f"| the same without walls | {1000 * found.unconfined:.0f} ms |",
        f"| stock kernel | {1000 * found.stock:.0f} ms, {found.stock / found.ours:.1f} times |",
        f"| memory of its own | {found.private / 1e6:.1f} MB |",
        f"| a sandbox with its proof and its first kernel, once | {found.first:.1f} s |",
        "",
        f"{left.number} kernels in a row took {left.seconds:.0f} s and left {left.descriptors} descriptors,"
        f" {left.processes} processes, {left.files} files and {left.memory / 1e6:.1f} MB.",
        "",
    ]


def widget_section(course: Course) -> list[str]:
    said("widgets in a browser")
    found = widgets(course)
    if found is None:
        return ["## Widgets", "", "Not measured: there is no Chromium on this machine.", ""]
    return [
        "## Widgets",
        "",
        "In JupyterLab, by the system's Chromium without a window.",
        "",
        "| what | |",
        "|---|---|",
        f"| from run-all to the first map, beyond the cells' own time | {found.first_map:.2f} s |",
        f"| slider to repaint, {LARGE}: median | {1000 * found.repaint[0]:.0f} ms |",
        f"| the same, longest of {MOVES} | {1000 * found.repaint[1]:.0f} ms |",
        *(
            f"| {name}, saved without and with the widgets' state | {bare / 1e6:.2f} MB, {whole / 1e6:.2f} MB |"
            for name, (bare, whole) in found.sizes.items()
        ),
        "",
    ]


def said(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    options.add_argument("--small", action="store_true", help="a tenth of everything: tries the bench, writes nothing")
    small = options.parse_args().small
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    torch.set_num_threads(1)
    course = Course.find(HERE)
    lines = [
        "# Ours and stock nbgrader, measured",
        "",
        f"Made by `make bench`. {os.cpu_count()} cores, {platform.machine()}, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}, torch {torch.__version__}, nbgrader {nbgrader.__version__}.",
        "",
        *kernel_section(course, *((5, 2, 50) if small else (40, 8, 2000))),
        *judging_section(course),
        *phase_section(course, 10 if small else 60),
        *widget_section(course),
        *class_section(course, *((10, 50, 5) if small else (100, 500, 50))),
    ]
    text = "\n".join(lines).rstrip() + "\n"
    print(text)
    if not small:
        (HERE / "RESULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
