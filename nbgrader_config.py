"""Read by every nbgrader command and by formgrader when they run in this folder."""

from pathlib import Path

from grader.course import Course
from grader.settings import configure

configure(get_config(), Course(Path(__file__).resolve().parent))  # noqa: F821  (nbgrader provides get_config)
