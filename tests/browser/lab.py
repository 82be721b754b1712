"""JupyterLab and Notebook 7 with the course's notebooks, opened in a real browser as a learner would."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, sync_playwright

from grader.course import Course
from grader.release import release_text
from grader.source import source_notebook, text_of

__all__ = ["Opened", "Server", "chromium", "chromium_path", "context_of", "jupyterlab", "open_notebook"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
START_SECONDS = 120  # a loaded machine takes half a minute to start JupyterLab
PATIENCE = 120_000  # milliseconds that a state may take; nothing waits longer than it has to
QUIET = (  # what the front ends themselves say on a healthy page
    "ResizeObserver loop",
    "Failed to load resource: the server responded with a status of 404",  # optional settings and workspaces
    "Cannot read properties of undefined (reading 'schema')",  # Notebook 7 while it starts, with any notebook
    "Command 'filebrowser:open-path' not registered",  # the same
)
FONTS = (".woff", ".woff2")  # Notebook 7 asks for MathJax's where its server does not have them


CELLS = "window.jupyterapp.shell.currentWidget.content.model.cells"
DRAWN = """view => JSON.stringify([...view.querySelectorAll('.widget-html, .attnlab-line, canvas')].map(
    part => part.tagName === 'CANVAS' ? part.toDataURL() : part.innerHTML))"""
"""What a view shows beside its controls."""


@dataclass
class Opened:
    """A notebook open in a front end, and what went wrong meanwhile."""

    page: Page
    lesson: str
    folder: Path
    pictures: Path
    name: str
    complaints: list[str] = field(default_factory=list)

    def close(self) -> None:
        """Close it, its kernel included."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        self.page.close(run_before_unload=False)

    # cells ------------------------------------------------------------------------------------------------------------

    def run_all(self) -> None:
        """Run every cell and wait until the last has run."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")

    def cell(self, text: str) -> int:
        """The number of the first code cell whose source holds `text`."""
        found = self.page.evaluate(
            f"text => [...{CELLS}].findIndex(c => c.type === 'code' && c.sharedModel.source.includes(text))", text
        )
        assert found >= 0, f"no cell with {text!r}"
        return int(found)

    def run_cell(self, text: str) -> list[dict[str, Any]]:
        """Run one cell and return its outputs."""
        at = self.cell(text)
        self.page.evaluate(
            """at => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = at;
                return window.jupyterapp.commands.execute('notebook:run-cell'); }""",
            at,
        )
        return list(self.page.evaluate(f"at => {CELLS}.get(at).sharedModel.getOutputs()", at))

    def active_cell(self) -> int:
        return int(self.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"))

    def assert_clean(self) -> None:
        """Every code cell ran, none wrote to stderr or raised, and the page had nothing to complain of."""
        cells = self.page.evaluate(
            f"() => [...{CELLS}].filter(c => c.type === 'code')"
            ".map(c => [c.executionCount, c.sharedModel.getOutputs()])"
        )
        assert [count for count, _ in cells if not count] == []
        outputs = [output for _, found in cells for output in found]
        assert [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"] == []
        assert self.complaints == []

    # views ------------------------------------------------------------------------------------------------------------

    def view(self, heading: str) -> Locator:
        """The view with this heading, when it is there and everything in it is drawn."""
        view = self.page.locator(".attnlab-view").filter(has_text=heading).first
        view.scroll_into_view_if_needed()
        self.page.wait_for_function(
            """view => { const shown = [...view.querySelectorAll('.attnlab-canvas')].filter(c => c.checkVisibility());
                return shown.every(canvas => canvas.dataset.drawn)
                    && view.querySelectorAll('[data-lm-suppress-shortcuts]').length > 0; }""",
            arg=view.element_handle(),
        )
        return view

    def changes(self, view: Locator, act: Callable[[], None]) -> None:
        """Do something to a view and wait until it shows something else."""
        before = view.evaluate(DRAWN)
        act()
        handle = view.element_handle()
        self.page.wait_for_function(f"([view, before]) => ({DRAWN})(view) !== before", arg=[handle, before])

    def press(self, view: Locator, control: Locator, key: str) -> None:
        """Give a control the focus and press a key: the view changes, and the notebook's own keys do not hear of it."""
        control.focus()
        at = self.active_cell()
        self.changes(view, lambda: self.page.keyboard.press(key))
        assert self.active_cell() == at
        assert view.evaluate("view => view.contains(document.activeElement)")

    def click(self, view: Locator, control: Locator) -> None:
        """Click on a control: the view changes."""
        self.changes(view, control.click)

    def drag(self, view: Locator, name: str, share: float) -> None:
        """Click on a slider's bar at this share of its length: the view changes."""
        bar = view.get_by_role("slider", name=name, exact=True).locator(
            "xpath=ancestor::*[contains(@class,'noUi-target')]"
        )
        box = bar.bounding_box()
        assert box
        at = {"x": share * box["width"], "y": box["height"] / 2}
        self.changes(view, lambda: bar.click(position=at, force=True))  # the handle may lie over the bar

    def picture(self, name: str, of: Locator | None = None) -> None:
        """Keep a screenshot for a person to look at."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        (of or self.page).screenshot(path=self.pictures / f"{self.name}-{name}.png")


@dataclass(frozen=True)
class Server:
    """A running JupyterLab, which serves Notebook 7 too."""

    url: str
    root: Path


@contextmanager
def jupyterlab(course: Course, home: Path, *, widget_state: bool = False) -> Iterator[Server]:
    """Solved and released notebooks, each with its neighbours, in a JupyterLab that knows nothing of its host.

    home: an empty folder, for everything that it writes
    widget_state: whether saved notebooks hold their widgets' state
    """
    root = home / "notebooks"
    for name, lesson in course.lessons.items():
        for kind, text in (("solved", text_of(source_notebook(lesson))), ("released", release_text(lesson))):
            path = root / kind / name / f"{name}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
    with serve(root, home, folder=home, widget_state=widget_state) as server:
        yield server


@contextmanager
def serve(root: Path, home: Path, *, folder: Path, widget_state: bool = False) -> Iterator[Server]:
    """A JupyterLab that serves the files under `root` and runs in `folder`, whose nbgrader_config.py it reads."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = home / "settings"
    settings.mkdir(parents=True)
    overrides = {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        # else the next test on a slow machine finds outputs whose kernel is gone
        "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
        "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": widget_state},
    }
    (settings / "overrides.json").write_text(json.dumps(overrides))
    folders = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
        "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}",
        "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True", "--LabApp.news_url=None",
        f"--LabApp.app_settings_dir={settings}", f"--JupyterNotebookApp.app_settings_dir={settings}",
        f"--LabApp.workspaces_dir={home / 'workspaces'}", f"--LabApp.user_settings_dir={home / 'user'}",
    ]  # fmt: skip
    environment = {**os.environ, **folders, "OMP_NUM_THREADS": "1", "HOME": str(home)}
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{url}/api", process, home / "log")
        yield Server(url, root)
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # the kernels with it
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)  # between two questions, not instead of one
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


def chromium_path() -> str | None:
    """Where the system's browser lies."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """The browser, without a window."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield launched
        launched.close()


@contextmanager
def context_of(browser: Browser) -> Iterator[BrowserContext]:
    """A context for all pages: what a front end has loaded once is not loaded again."""
    made = browser.new_context(viewport={"width": 1280, "height": 1000}, device_scale_factor=1)
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


def open_notebook(
    server: Server, context: BrowserContext, pictures: Path, lesson: str, kind: str = "solved", front: str = "lab"
) -> Opened:
    """Open a lesson and wait for its kernel. kind: "solved" or "released"; front: "lab" or "notebook"."""
    page = context.new_page()
    notebook = Opened(page, lesson, server.root / kind / lesson, pictures, f"{lesson}-{kind}-{front}")
    _listen(page, notebook.complaints, server.url)
    tree = {"lab": "lab/tree", "notebook": "notebooks"}[front]
    page.goto(f"{server.url}/{tree}/{kind}/{lesson}/{lesson}.ipynb{'?reset' if front == 'lab' else ''}")
    page.wait_for_function(
        """() => { const at = window.jupyterapp?.shell?.currentWidget; const kernel = at?.sessionContext;
            return at?.content?.model && kernel?.isReady && kernel.session?.kernel?.status === 'idle'; }"""
    )
    return notebook


def _listen(page: Page, complaints: list[str], url: str) -> None:
    """Note what a healthy page does not do: errors on the console, requests to anywhere else."""

    def complain(where: str, text: str) -> None:
        if not any(known in text for known in QUIET):
            complaints.append(f"{where}: {text}")

    def console(message: ConsoleMessage) -> None:
        if message.type == "error" and not message.location["url"].endswith(FONTS):
            complain("console", message.text)

    def request(asked: Request) -> None:
        if not asked.url.startswith((url, url.replace("http", "ws"), "data:", "blob:", "about:")):
            complaints.append(f"off-site: {asked.url}")

    page.on("console", console)
    page.on("pageerror", lambda error: complain("page", str(error)))
    page.on("request", request)
