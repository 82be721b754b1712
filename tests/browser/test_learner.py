"""What a learner meets: an unwritten notebook, a dark theme, a page made of the notebook without any kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, expect

Open = Callable[..., Any]

MOST = 1_000_000  # bytes of a saved notebook with all its widgets, without their state


def test_a_stub_is_filled_by_typing_and_its_check_turns_green(open_notebook: Open) -> None:
    opened = open_notebook("01_mask", kind="released")
    page = opened.page
    opened.run_cell("from attnlab import")
    opened.run_cell("def causal_mask")
    assert "causal_mask is not written yet" in opened.run_cell("check(causal_mask)")[0]["data"]["text/html"]
    opened.picture("unwritten")

    stub = (
        page.locator(".jp-CodeCell")
        .filter(has_text="def causal_mask")
        .locator(".cm-line", has_text="NotImplementedError")
    )
    stub.scroll_into_view_if_needed()
    stub.click()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+End")
    page.keyboard.type("position = torch.arange(length, device=device)\n")
    page.keyboard.type("return position[:, None] >= position[None, :]")
    page.keyboard.press("Shift+Enter")  # runs it, and goes to the check below
    page.keyboard.press("Shift+Enter")
    report = page.locator(".jp-OutputArea-output").filter(has_text="causal_mask: 4 of 4 points")
    expect(report).to_be_visible()
    expect(report).to_contain_text("All public checks pass")
    expect(report).not_to_contain_text("✗")
    opened.picture("written", report)
    assert opened.complaints == []


def test_views_of_unwritten_functions_are_calm(open_notebook: Open) -> None:
    opened = open_notebook("01_mask", kind="released")
    for text in ("from attnlab import chapter", "def causal_mask", "def padding_mask", "def masked_softmax"):
        opened.run_cell(text)
    for text in ("contrast_view(masked_softmax)", "mask_lab(masked_softmax", "leak_probe(lambda"):
        assert [output["output_type"] for output in opened.run_cell(text)] == ["execute_result"]
    lab = opened.view("Mask lab")
    expect(lab).to_contain_text("causal_mask is not written yet, nor are padding_mask and masked_softmax. Write them")
    opened.picture("mask-lab", lab)
    assert opened.complaints == []


def set_theme(opened: Any, name: str) -> None:
    command = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme: `JupyterLab ${theme}`})"
    opened.page.evaluate(command, name)
    opened.page.wait_for_function(
        "light => document.body.dataset.jpThemeLight === light", arg=str(name == "Light").lower()
    )


def test_a_dark_theme_redraws_the_maps_and_the_saved_notebook_reads_without_a_kernel(
    open_notebook: Open, browser: Browser, tmp_path: Path
) -> None:
    opened = open_notebook("04_full_forward")
    opened.run_all()
    heads = opened.view("Attention: who looks at whom")

    opened.changes(heads, lambda: set_theme(opened, "Dark"))
    opened.picture("dark-attention-view", heads)
    opened.picture("dark-leak-probe", opened.view("Leak probe"))
    opened.picture("dark-shift-view", opened.view("Shift view"))
    set_theme(opened, "Light")  # a theme is the user's, and the other tests' too

    saved = opened.folder / f"{opened.lesson}.ipynb"
    fresh = saved.read_text(encoding="utf-8")
    opened.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    assert saved.stat().st_size < MOST
    notebook = nbformat.read(saved, as_version=4)
    saved.write_text(fresh, encoding="utf-8")  # others open it too
    assert "widgets" not in notebook.metadata
    page, _ = HTMLExporter(embed_images=False).from_notebook_node(notebook)
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1100, "height": 900})
    shown = context.new_page()
    shown.goto(path.as_uri())
    for text in ("Attention: who looks at whom", "Leak probe", "Shift view", "looks most at", "Run the cell to move"):
        expect(shown.get_by_text(text).first).to_be_visible()
    still = shown.locator(".jp-OutputArea-output").filter(has_text="Attention: who looks at whom").first
    opened.picture("page-without-kernel", still)
    context.close()
