"""`nbgrader validate`: the public checks, run behind the sandbox's walls, with words that say that they are public."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, ClassVar

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput
from nbgrader.validator import Validator

from grader.course import Course
from grader.safe_outputs import clean_text
from grader.sandbox import Policy

__all__ = ["PublicValidator"]

PUBLIC = "This is the public result. Marks come from hidden checks, which ask more."


class PublicValidator(Validator):  # type: ignore[misc]
    """Says what the public checks say of a notebook. It may be a student's, so it runs as when it is graded."""

    course: ClassVar[Course]

    def _preprocess(self, nb: NotebookNode) -> NotebookNode:
        for step in (CheckCellMetadata, ClearOutput):
            nb, _ = step(parent=self).preprocess(nb, {})
        from grader.sandbox import Sandbox  # not above: torch comes with it, into every nbgrader command

        with Sandbox(Policy(), course_root=self.course.root) as sandbox, sandbox.kernel() as kernel:
            return kernel.run(nb)

    def _extract_error(self, cell: Any) -> str:
        """Called for a cell that did not earn all points: what it showed, in place of a sentence for all."""
        shown = [clean_text(_words(output)) for output in cell.get("outputs", [])]
        if not utils.is_grade(cell) or not any(shown):
            shown = [super()._extract_error(cell)]
        return "\n".join([PUBLIC, *shown])

    def _print_num_failed(self, num_failed: int) -> None:
        if num_failed:
            super()._print_num_failed(num_failed)
        else:
            self.stream.write(f"The public checks pass. {PUBLIC}\n")


def _words(output: NotebookNode) -> str:
    """What a person would read of an output."""
    if output.output_type == "error":
        return "\n".join(output.traceback)
    if output.output_type == "stream":
        return str(output.text)
    page = output.get("data", {}).get("text/html")
    if not isinstance(page, str):
        return str(output.get("data", {}).get("text/plain", ""))
    lines = re.sub(r"<[^>]*>", "", re.sub(r"</?(div|p|li|tr|pre|summary|details)\b[^>]*>", "\n", page))
    return "\n".join(line.strip() for line in unescape(lines).splitlines() if line.strip())
