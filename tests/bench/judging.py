"""What the hidden checks cost: processor time for a lesson of right answers, beyond the notebook's own run."""

from __future__ import annotations

import json
import time

import nbformat

from grader.collect import read_notebook
from grader.course import Course
from grader.frame import frame
from grader.judge import judge_exercise
from grader.release import masters
from grader.sandbox import Policy, Sandbox
from grader.source import source_notebook, text_of
from tests.bench.measuring import cpu_of

__all__ = ["judging"]

TIMES = 3  # the least of so many: what else the machine does only ever adds


def judging(course: Course) -> dict[str, float]:
    """Lesson to processor seconds, of the judge and of the learner's kernel together."""
    texts = masters(course)
    reference = course.reference.functions
    found = {}
    with Sandbox(Policy(), course_root=course.root) as sandbox:
        for name, lesson in course.lessons.items():
            master = nbformat.reads(texts[name], as_version=4)
            notebook = frame(master, read_notebook(text_of(source_notebook(lesson)).encode()))
            spent = []
            with sandbox.kernel() as kernel:
                kernel.run(notebook)
                for seed in range(TIMES):
                    begun = time.process_time() + cpu_of(kernel._line.process)
                    for exercise in lesson.exercises:
                        row = judge_exercise(exercise, kernel.answer(exercise), reference=reference, seed=seed)
                        if row.points != row.max_points:
                            raise SystemExit(f"{exercise} lost points: {json.dumps([str(c) for c in row.lost])}")
                    spent.append(time.process_time() + cpu_of(kernel._line.process) - begun)
            found[name] = min(spent)
    return found
