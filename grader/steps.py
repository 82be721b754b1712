"""Our steps in the places where nbgrader's commands and its formgrader look for theirs. There is no setting for it."""

from __future__ import annotations

import sys

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.apps.generatefeedbackapp
import nbgrader.converters

from grader.course import Course
from grader.feedback import GenerateFeedback
from grader.gradebook import Autograde
from grader.validate import PublicValidator

__all__ = ["install"]

_VALIDATING = (
    "nbgrader.validator",
    "nbgrader.apps.validateapp",
    "nbgrader.server_extensions.validate_assignment.handlers",
)


def install(course: Course) -> None:
    """Have nbgrader autograde, give feedback and validate with our steps, in this process."""
    for module in (nbgrader.converters, nbgrader.apps.autogradeapp, nbgrader.apps.api):
        module.Autograde = Autograde
    for module in (nbgrader.converters, nbgrader.apps.generatefeedbackapp, nbgrader.apps.api):
        module.GenerateFeedback = GenerateFeedback
    PublicValidator.course = course
    for name in _VALIDATING:
        if loaded := sys.modules.get(name):  # a server has loaded its handler already, a command has none
            loaded.Validator = PublicValidator  # type: ignore[attr-defined]
