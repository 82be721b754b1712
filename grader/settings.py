"""nbgrader's settings for a course: ours, then whatever its own configuration files change."""

from __future__ import annotations

from contextlib import suppress

from jupyter_core.paths import jupyter_config_path
from traitlets.config import Config
from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

from grader.course import Course
from grader.gradebook import configure

__all__ = ["settings"]

_FILE = "nbgrader_config.py"


def settings(course: Course) -> Config:
    """What nbgrader's own commands go by in the course folder, so that ours use the same gradebook and plugins.

    The files are read in nbgrader's order: those of the machine and of the user, then the course's, which wins.
    """
    config = Config()
    configure(config, course)
    for folder in (*reversed(jupyter_config_path()), str(course.root)):
        with suppress(ConfigFileNotFound):
            config.merge(PyFileConfigLoader(_FILE, path=folder).load_config())
    return config
