"""The student library: checks of what you wrote, and what your earlier lessons hand on."""

from attnlab.chain import earlier
from attnlab.report import Report, check

__all__ = ["Report", "check", "earlier"]
