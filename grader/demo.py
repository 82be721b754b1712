"""The demonstration: a sample class goes through nbgrader's own commands, and its marks are told with their reasons."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from grader.course import Course
from grader.ledger import Ledger
from grader.records import stored_ledgers
from grader.report import score_table

__all__ = ["Nbgrader", "demo"]


@dataclass(frozen=True)
class Nbgrader:
    """nbgrader's command line on this course, with every step's folder under `grading` instead of the class's own."""

    course: Course
    grading: Path

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """One command, to its end. Its output is kept in the result."""
        settings = {
            "CourseDirectory.submitted_directory": self._relative("submitted"),
            "CourseDirectory.autograded_directory": self._relative("autograded"),
            "CourseDirectory.feedback_directory": self._relative("feedback"),
            "CourseDirectory.db_url": f"sqlite:///{self.grading / 'gradebook.db'}",
            "ExportPlugin.to": str(self.grading / "grades.csv"),
        }
        flags = [f"--{name}={value}" for name, value in settings.items()]
        command = [sys.executable, "-m", "nbgrader", *args, *flags]
        return subprocess.run(command, cwd=self.course.root, capture_output=True, text=True, check=False)

    def exported(self) -> dict[tuple[str, str], float]:
        """(student, lesson) to points, from the exported table."""
        with (self.grading / "grades.csv").open(newline="", encoding="utf-8") as file:
            return {(row["student_id"], row["assignment"]): float(row["score"]) for row in csv.DictReader(file)}

    def _relative(self, step: str) -> str:
        return str((self.grading / step).relative_to(self.course.root))


def demo(course: Course, console: Console) -> int:
    """Grade the sample class. Returns the exit code: 0, or 3 where a command or a mark is not as it should be."""
    samples = course.root / "tests" / "submissions" / "submitted"
    nbgrader = Nbgrader(course, course.grading / "demo")
    shutil.rmtree(nbgrader.grading, ignore_errors=True)
    shutil.copytree(samples, nbgrader.grading / "submitted")
    lessons = sorted({folder.name for folder in samples.glob("*/*") if folder.is_dir()})

    steps = [("autograde", lesson) for lesson in lessons] + [("generate_feedback", lesson) for lesson in lessons]
    for step in [*steps, ("export",)]:
        begun = time.monotonic()
        done = nbgrader.run(*step)
        if done.returncode:
            console.print(done.stderr[-4000:], markup=False, highlight=False)
            console.print(f"nbgrader {' '.join(step)} ended with exit code {done.returncode}.")
            return 3
        console.print(f"nbgrader {' '.join(step)}: {time.monotonic() - begun:.1f} s", highlight=False)

    rows = list(_rows(nbgrader.grading, lessons))
    exported = nbgrader.exported()
    console.print(score_table([(f"{who}", ledger) for who, ledger in rows], first="student"))
    wrong = [(who, ledger.lesson) for who, ledger in rows if exported[who, str(ledger.lesson)] != ledger.points]
    if wrong:
        console.print(f"The gradebook does not hold the ledgers' points for {wrong}.")
        return 3
    console.print(f"{len(rows)} submissions graded; the gradebook holds the same points.", highlight=False)
    feedback = (nbgrader.grading / "feedback").relative_to(course.root)
    console.print(f"Feedback pages: {feedback}/STUDENT/LESSON/LESSON.html", highlight=False, soft_wrap=True)
    return 0


def _rows(grading: Path, lessons: list[str]) -> Iterator[tuple[str, Ledger]]:
    for lesson in lessons:
        yield from stored_ledgers(grading, lesson).items()
