"""What every browser test may ask for. Skipped with one line where there is no browser; required in CI."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from grader.course import Course
from tests.browser import lab
from tests.browser.lab import Opened, Server


@pytest.hookimpl(tryfirst=True)  # before xdist looks for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the browser tests with one line where there is no browser; in CI that is an error."""
    here = Path(__file__).parent
    mine = [item for item in items if here in item.path.parents]
    for item in mine:
        item.add_marker(pytest.mark.browser)
        item.add_marker(pytest.mark.xdist_group("browser"))
    if mine and not lab.chromium_path() and not os.environ.get("CI"):
        for item in mine:
            item.add_marker(pytest.mark.skip(reason="no Chromium on this machine: install it to run the browser tests"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, course: Course) -> Iterator[Server]:
    with lab.jupyterlab(course, tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = lab.chromium_path()
    assert path, "no Chromium on this machine, and CI must run the browser tests"
    with lab.chromium(path) as launched:
        yield launched


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    with lab.context_of(browser) as made:
        yield made


@pytest.fixture
def open_notebook(server: Server, context: BrowserContext, course: Course) -> Iterator[Callable[..., Opened]]:
    """Open a lesson: kind "solved" or "released", front "lab" or "notebook". Closed, kernel included, afterwards."""
    opened: list[Opened] = []

    def opens(lesson: str, kind: str = "solved", front: str = "lab") -> Opened:
        pictures = course.root / ".artefacts" / "browser"
        opened.append(lab.open_notebook(server, context, pictures, lesson, kind, front))
        return opened[-1]

    yield opens
    for notebook in opened:
        notebook.close()
