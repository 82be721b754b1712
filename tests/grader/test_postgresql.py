"""The gradebook in PostgreSQL, by nbgrader's own setting, holds what one in SQLite holds."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from grader.course import Course

SAMPLES = Path(__file__).parent.parent / "submissions" / "submitted"
LESSON = "01_mask"
QUERY = """select a.student_id, n.name, g.auto_score, g.manual_score, g.needs_manual_grade, g.extra_credit
    from grade g join submitted_notebook s on g.notebook_id = s.id join submitted_assignment a on s.assignment_id = a.id
    join base_cell n on g.cell_id = n.id order by 1, 2"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("autograde")]


@pytest.fixture
def server() -> Iterator[str]:
    """A server of this test's own, on a socket in a folder of its own. Gives the gradebook's address."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("there is no PostgreSQL server on this machine (Debian's package postgresql has one)")
    owner = {}
    if os.geteuid() == 0:  # it refuses to run as root
        try:
            owner = {"user": pwd.getpwnam("postgres").pw_name}
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and this machine has no user postgres")
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as folder:
        if owner:
            shutil.chown(folder, owner["user"])

        def run(program: str, *args: str) -> None:
            command = [programs[-1] / program, *args]
            # output to nowhere: the server inherits it and would keep a pipe open
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, timeout=60, **owner)

        run("initdb", "-D", f"{folder}/data", "--auth=trust", "--username=grader", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            run("createdb", "-h", folder, "-U", "grader", "gradebook")
            yield f"postgresql+psycopg://grader@/gradebook?host={folder}"
        finally:
            run("pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "-w", "stop")


def graded(course: Course, root: Path, address: str, *command: str) -> list[Any]:
    """The grades of a class of three, graded in a course of its own with the gradebook at this address."""
    shutil.copytree(course.solutions, root / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "notebooks").mkdir()
    own = (course.root / "nbgrader_config.py").read_text() + f"\nget_config().CourseDirectory.db_url = {address!r}\n"
    (root / "nbgrader_config.py").write_text(own)
    for student in ("ada", "carl", "ken"):
        shutil.copytree(SAMPLES / student / LESSON, root / ".grading" / "submitted" / student / LESSON)
    done = subprocess.run([sys.executable, "-m", *command], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(root.rglob("*.db")) == ([root / "grades.db"] if "sqlite" in address else [])
    engine = create_engine(address)
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(QUERY))]
    engine.dispose()
    return rows


def test_a_gradebook_in_postgresql_is_the_same(server: str, course: Course, tmp_path: Path) -> None:
    ours = graded(course, tmp_path / "ours", server, "grader", "autograde", LESSON)
    assert len(ours) == 9
    sqlite = f"sqlite:///{tmp_path / 'sqlite' / 'grades.db'}"
    assert graded(course, tmp_path / "sqlite", sqlite, "nbgrader", "autograde", LESSON) == ours
