"""Where a course's parts lie, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.lesson import Lesson, read_lesson
from grader.reference import Reference

__all__ = ["Course", "CourseError"]


class CourseError(Exception):
    """The folder is not a course, or something in it is missing. Says what, where and what to do."""


@dataclass(frozen=True)
class Course:
    """A course folder: `solutions/` and `notebooks/` side by side, `.grading/` for what grading makes."""

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Course:
        """The course that `start` (the working directory unless given) lies in. Raises CourseError outside one."""
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            if (folder / "solutions").is_dir() and (folder / "notebooks").is_dir():
                return cls(folder)
        raise CourseError(f"{here} is not inside a course; go to the folder that holds solutions/ and notebooks/")

    def __getstate__(self) -> dict[str, Any]:
        """What another process is sent: not the reference, whose functions stay where they were made."""
        return {name: value for name, value in self.__dict__.items() if name != "reference"}

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def grading(self) -> Path:
        return self.root / ".grading"

    @cached_property
    def lessons(self) -> dict[str, Lesson]:
        """Lesson name to lesson, in order. Raises LessonError where a text is refused."""
        return {path.stem: read_lesson(path) for path in sorted(self.solutions.glob("[0-9][0-9]_*.py"))}

    @cached_property
    def reference(self) -> Reference:
        return Reference(tuple(self.lessons.values()))

    def lesson(self, name: str) -> Lesson:
        """One lesson. Raises CourseError where there is none of that name."""
        try:
            return self.lessons[name]
        except KeyError:
            raise CourseError(f"there is no lesson {name!r}; the lessons are {', '.join(self.lessons)}") from None
