"""nbgrader's settings for a course: ours, then whatever its own configuration files change."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress

from jupyter_core.paths import jupyter_config_path
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

from grader.course import Course
from grader.environment import with_tools_on_path
from grader.release import COURSE_ID
from grader.steps import install

__all__ = ["configure", "settings"]

_FILE = "nbgrader_config.py"


def configure(config: Config, course: Course) -> None:
    """Settings for every nbgrader command in the course folder. Called by `nbgrader_config.py`."""
    directories = config.CourseDirectory
    directories.root = str(course.root)
    directories.course_id = COURSE_ID
    directories.source_directory = ".grading/source"
    directories.release_directory = "notebooks"
    directories.submitted_directory = ".grading/submitted"
    directories.autograded_directory = ".grading/autograded"
    directories.feedback_directory = ".grading/feedback"
    directories.db_url = f"sqlite:///{course.grading / 'gradebook.db'}"
    config.ExportPlugin.to = str(course.grading / "grades.csv")
    config.ZipCollectApp.downloaded_directory = ".grading/downloaded"
    config.ZipCollectApp.extractor_plugin = "grader.zip_plugins.Extractor"
    config.ZipCollectApp.collector_plugin = "grader.zip_plugins.Collector"
    config.ExchangeFactory.release_feedback = "grader.exchange.ReleaseFeedback"
    config.ExportApp.plugin_class = "grader.export.SafeCsv"
    config.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
    config.HTMLExporter.sanitize_html = True  # a student's markdown and outputs reach the teacher's browser
    config.HTMLExporter.filters = {  # what cleans them
        "clean_html": "grader.safe_outputs.clean_html",
        "strip_files_prefix": "grader.safe_outputs.clean_html",  # formgrader puts prose through no other
    }
    # nbgrader adds a submission in an order that SQLAlchemy 2 remarks on, thrice a student; what is stored is right
    warnings.filterwarnings("ignore", "Object of type .* not in session", SAWarning)
    os.environ["PATH"] = _path_with_tools()
    course.grading.mkdir(exist_ok=True)
    install(course)


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


def _path_with_tools() -> str:
    with with_tools_on_path():
        return os.environ["PATH"]
