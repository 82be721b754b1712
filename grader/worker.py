"""What the worker processes of a class are forked from: all that a grader needs, loaded once.

Not what is hidden: this process outlives a run, and the next one may be there because a hidden check was changed.
"""

from grader.loading import loading

with loading():
    import grader.grade
    import grader.release  # noqa: F401
