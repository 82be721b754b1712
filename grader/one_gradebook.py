"""One gradebook for all submissions of nbgrader's autograde step, which by itself opens nine for each.

What is stored of a submission is stored at once: a run that is killed leaves it whole or not there, and the database
is made to write once for it instead of a dozen times.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import nbgrader.api
import nbgrader.converters
from alembic.config import Config as SchemaConfig
from alembic.script import ScriptDirectory
from nbgrader.api import Gradebook
from nbgrader.dbutil import _temp_alembic_ini
from nbgrader.preprocessors import latesubmissions
from nbgrader.utils import temp_attrs
from sqlalchemy.orm import Session, scoped_session, sessionmaker

__all__ = ["OneGradebook", "one_gradebook"]


class OneGradebook(Gradebook):  # type: ignore[misc]
    """A gradebook that stays open after a `with` block, until it is closed. Nothing is kept before `store`."""

    db: scoped_session[_Patient]

    def __init__(self, db_url: str, course_id: str) -> None:
        super().__init__(db_url, course_id)
        self.db.remove()
        self.db = scoped_session(sessionmaker(class_=_Patient, bind=self.engine))

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self) -> None:
        """Drop what was not stored, and read anew what others may have changed."""
        self.db.rollback()

    def store(self) -> None:
        """Keep all that was written since `begin`."""
        self.db().store()


class _Patient(Session):
    """A session whose `commit` only sends what was written to the database, which forgets it unless it is stored."""

    def commit(self) -> None:
        self.flush()

    def store(self) -> None:
        super().commit()


@contextmanager
def one_gradebook(db_url: str, course_id: str) -> Iterator[OneGradebook]:
    """Have nbgrader's autograde step use one gradebook for the time of the block."""
    with temp_attrs(nbgrader.api, get_alembic_version=_schema):
        opened = OneGradebook(db_url, course_id)
    with closing(opened) as shared, ExitStack() as stack:
        for module in (nbgrader.converters.autograde, latesubmissions):
            stack.enter_context(temp_attrs(module, Gradebook=lambda *_: shared))
        yield shared


def _schema() -> str:
    """The version of nbgrader's database; nbgrader itself asks a command for it, which takes seconds."""
    with _temp_alembic_ini("sqlite://") as file:
        return str(ScriptDirectory.from_config(SchemaConfig(file)).get_current_head())
