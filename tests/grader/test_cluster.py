"""Grading on a real Dask scheduler with two worker processes, one of which is killed on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from grader.autograde import autograde
from grader.course import Course, CourseError

SAMPLES = Path(__file__).parent.parent / "submissions"
LESSON = "01_mask"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("autograde"),
    pytest.mark.filterwarnings("ignore::ResourceWarning:distributed.*"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # a killed worker's open sockets
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a scheduler with two workers, each a process of its own."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    environment = {**os.environ, "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "false"}
    started = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{role}", "--scheduler-file", str(file), *options],
            cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        for role, options in (
            ("scheduler", ["--port", "0", "--no-dashboard"]),
            ("worker", ["--nthreads", "1", "--no-dashboard", "--no-nanny"]),
            ("worker", ["--nthreads", "1", "--no-dashboard", "--no-nanny"]),
        )
    ]  # fmt: skip
    try:
        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield str(address)
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def a_class(course: Course, root: Path) -> Course:
    shutil.copytree(course.solutions, root / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "notebooks").mkdir()
    for student in ("ada", "barbara", "carl", "grace", "ken"):
        shutil.copytree(SAMPLES / "submitted" / student / LESSON, root / ".grading" / "submitted" / student / LESSON)
    return Course(root)


def points(rows: object) -> dict[str, float]:
    return {row.student: row.ledger.points for row in rows}  # type: ignore[attr-defined]


def test_a_cluster_grades_the_same_and_outlives_a_worker(course: Course, cluster: str, tmp_path: Path) -> None:
    here = points(autograde(a_class(course, tmp_path / "here"), [LESSON], jobs=1))
    there = a_class(course, tmp_path / "there")
    with Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
    killed = threading.Event()

    def kill_one(_: object) -> None:
        if not killed.is_set():  # after the first result: the others are under way or wait
            killed.set()
            os.kill(pids[0], signal.SIGKILL)

    assert points(autograde(there, [LESSON], dask=cluster, stored=kill_one)) == here
    assert killed.is_set()


def test_a_worker_with_another_course_is_refused(course: Course, cluster: str, tmp_path: Path) -> None:
    other = a_class(course, tmp_path)
    lesson = other.solutions / f"{LESSON}.py"
    lesson.write_text(lesson.read_text(encoding="utf-8") + "\n# %% [markdown]\n# Another end.\n", encoding="utf-8")
    with pytest.raises(CourseError, match="is not used: it has another 01_mask"):
        autograde(Course(other.root), [LESSON], dask=cluster)


def test_no_cluster_is_said(course: Course, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no Dask cluster"):
        autograde(a_class(course, tmp_path), [LESSON], dask="tcp://127.0.0.1:9")
