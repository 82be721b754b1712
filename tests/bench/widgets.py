"""The widgets in a real browser: how soon the first map is there and a slider repaints, what a notebook weighs."""

from __future__ import annotations

import json
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

from grader.course import Course
from tests.browser import lab

__all__ = ["Widgets", "widgets"]

LESSON = "01_mask"
LARGE = "6 blocks, 8 heads, 64 by 64"
CELL = """
from attnlab.widgets.attention import Attention
from attnlab.widgets.heads import AttentionView
AttentionView([Attention("encoder", torch.rand(8, 64, 64).softmax(-1), layer=n) for n in range(6)])
"""
LISTEN = """() => { window.busy = {}; window.kernelTime = 0;
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    kernel.iopubMessage.connect((_, message) => {
        if (message.header.msg_type !== 'status' || message.parent_header.msg_type !== 'execute_request') return;
        const id = message.parent_header.msg_id, at = Date.parse(message.header.date);
        if (message.content.execution_state === 'busy') window.busy[id] = at;
        else if (window.busy[id]) window.kernelTime += at - window.busy[id];
    }); }"""
FIRST_MAP = """() => new Promise(resolve => { const begun = Date.now();
    const look = () => document.querySelector('.attnlab-canvas[data-drawn]')
        ? resolve([Date.now() - begun, window.kernelTime]) : requestAnimationFrame(look);
    window.jupyterapp.commands.execute('notebook:run-all-cells'); look(); })"""
REPAINT = """handle => new Promise(resolve => {
    const canvas = handle.closest('.attnlab-view').querySelector('.attnlab-canvas');
    const before = canvas.dataset.drawn, begun = performance.now();
    handle.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', code: 'ArrowRight', bubbles: true}));
    const look = () => canvas.dataset.drawn !== before
        ? resolve(performance.now() - begun) : requestAnimationFrame(look);
    look(); })"""
MOVES = 30


@dataclass(frozen=True)
class Widgets:
    """Seconds and bytes.

    first_map: from run-all to the first drawn map, less what the kernel was busy for until then
    repaint: median and longest from a key on a slider to the repainted map, of LARGE
    sizes: lesson to the bytes of its saved notebook, without and with the widgets' state
    """

    first_map: float
    repaint: tuple[float, float]
    sizes: dict[str, tuple[int, int]]


def widgets(course: Course) -> Widgets | None:
    """None where there is no browser."""
    path = lab.chromium_path()
    if path is None:
        return None
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as home,
        lab.jupyterlab(course, Path(home), widget_state=True) as server,
        lab.chromium(path) as browser,
        lab.context_of(browser) as context,
    ):
        _with_large_view(server)
        lab.open_notebook(server, context, Path(home), LESSON).close()  # what a front end loads once
        first, repaint = _speed(server, context, Path(home))
        return Widgets(first, repaint, {name: _sizes(server, context, Path(home), name) for name in course.lessons})


def _with_large_view(server: lab.Server) -> None:
    """Lesson 1 with one more cell, under a name of its own."""
    notebook = json.loads((server.root / "solved" / LESSON / f"{LESSON}.ipynb").read_text(encoding="utf-8"))
    cell: dict[str, Any] = {"cell_type": "code", "id": "large", "metadata": {}, "outputs": [], "execution_count": None}
    notebook["cells"].append({**cell, "source": CELL})
    path = server.root / "large" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def _speed(server: lab.Server, context: BrowserContext, home: Path) -> tuple[float, tuple[float, float]]:
    opened = lab.open_notebook(server, context, home, LESSON, "large")
    opened.page.evaluate(LISTEN)
    whole, busy = opened.page.evaluate(FIRST_MAP)
    view = opened.view("Attention: who looks at whom")
    handle = view.get_by_role("slider", name="query", exact=True).element_handle()
    moves = [opened.page.evaluate(REPAINT, handle) for _ in range(MOVES)]
    opened.close()
    return (whole - busy) / 1000, (statistics.median(moves) / 1000, max(moves) / 1000)


def _sizes(server: lab.Server, context: BrowserContext, home: Path, lesson: str) -> tuple[int, int]:
    opened = lab.open_notebook(server, context, home, lesson)
    opened.run_all()
    opened.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    path = opened.folder / f"{lesson}.ipynb"
    saved = json.loads(path.read_text(encoding="utf-8"))
    opened.close()
    whole = path.stat().st_size
    return whole - len(json.dumps(saved["metadata"].pop("widgets"), indent=1)), whole
