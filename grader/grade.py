"""Grade one submission: the pure function from bytes to an executed notebook and a ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import nbformat
import torch

from attnlab.verdict import AnswerError, Verdict
from grader.collect import Unreadable, read_notebook, recognise
from grader.course import Course
from grader.diagnosis import Diagnosis
from grader.frame import frame
from grader.gpu import place_on_gpu
from grader.judge import judge_exercise, ungraded_exercise
from grader.ledger import ExerciseRow, Graded, Ledger
from grader.lesson import Lesson
from grader.report import ledger_outputs, reason_cell
from grader.safe_outputs import make_safe
from grader.sandbox import Kernel, Mode, Sandbox

__all__ = ["Grader", "ungraded"]


@dataclass(frozen=True)
class Grader:
    """Grades submissions of one course in one sandbox. Holds what is dear to make: frames, reference, faults.

    masters: lesson name to the text of its release notebook
    """

    course: Course
    sandbox: Sandbox
    masters: Mapping[str, str]
    device: str = "cpu"

    def __post_init__(self) -> None:
        # inputs are small, and threads of torch that have nothing to do spin on the cores that the kernels need
        torch.set_num_threads(1)

    def grade(self, data: bytes, lesson: str | None = None, *, seed: int) -> Graded:
        """Collect, run and judge one submission.

        lesson: the lesson it was handed in for; None to tell it from the cells
        seed: secret; the points of a deterministic answer do not depend on it
        Never raises for anything that the submission holds: what cannot be graded comes out with a reason.
        """
        try:
            cells = read_notebook(data)
            found = recognise(cells, self.course.lessons)
            if found is None:
                raise Unreadable("None of the course's exercises is in it.")
            if lesson not in (None, found):
                raise Unreadable(f"It holds the exercises of {found}; it was handed in for {lesson}.")
        except Unreadable as reason:
            if lesson is None:
                return Graded(nbformat.v4.new_notebook(), Ledger(None, (), str(reason)))
            return ungraded(self.masters[lesson], self.course.lesson(lesson), str(reason))
        if found not in self._frames:
            self._frames[found] = nbformat.reads(self.masters[found], as_version=4)
        return self._run(self.course.lesson(found), frame(self._frames[found], cells), seed)

    @cached_property
    def _frames(self) -> dict[str, nbformat.NotebookNode]:
        """The master notebooks of those lessons that were graded: nbgrader takes a while to make each."""
        return {}

    @cached_property
    def _diagnosis(self) -> Diagnosis:
        return Diagnosis(self.course.reference)

    def _run(self, lesson: Lesson, notebook: nbformat.NotebookNode, seed: int) -> Graded:
        with place_on_gpu(self.device, self.sandbox.policy), self.sandbox.kernel() as kernel:
            # the judge's words stand where the public checks would speak, which ask less: they need not run
            executed = kernel.run(notebook, without={cell.id for _, cell in _tests(notebook, lesson.exercises)})
            make_safe(executed)
            rows = tuple(self._judge(kernel, name, executed, seed) for name in lesson.exercises)
        ledger = Ledger(lesson.name, rows, unsafe=self.sandbox.policy.mode is Mode.NONE)
        _report(executed, ledger)
        return Graded(executed, ledger)

    def _judge(self, kernel: Kernel, exercise: str, notebook: nbformat.NotebookNode, seed: int) -> ExerciseRow:
        try:
            if not kernel.alive:
                kernel.restart(notebook)
        except AnswerError as error:
            return ungraded_exercise(exercise, error.verdict, error.rationale, error.help)
        return judge_exercise(
            exercise,
            kernel.answer(exercise),
            reference=self.course.reference.functions,
            seed=seed,
            device=self.device,
            diagnose=self._diagnosis,
        )


def ungraded(master: str, lesson: Lesson, reason: str) -> Graded:
    """The record of a submission that could not be graded: no points, the reason, the untouched lesson."""
    notebook = nbformat.reads(master, as_version=4)
    notebook.cells.insert(0, reason_cell(reason))
    why = Verdict.SKIPPED, "The submission was not graded."
    return Graded(notebook, Ledger(lesson.name, tuple(ungraded_exercise(n, *why) for n in lesson.exercises), reason))


def _report(notebook: nbformat.NotebookNode, ledger: Ledger) -> None:
    """Put the judge's words where the student looks for them: under each tests cell."""
    rows = {row.name: row for row in ledger.exercises}
    for exercise, cell in _tests(notebook, rows):
        cell.outputs = ledger_outputs(rows[exercise])


def _tests(notebook: nbformat.NotebookNode, exercises: Iterable[str]) -> Iterator[tuple[str, nbformat.NotebookNode]]:
    """Exercises and their tests cells."""
    grade_ids = {f"test_{name}": name for name in exercises}
    for cell in notebook.cells:
        if exercise := grade_ids.get(cell.metadata.get("nbgrader", {}).get("grade_id", "")):
            yield exercise, cell
