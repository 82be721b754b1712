"""The widgets, driven in JupyterLab as a learner would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect


def test_mask_lab(open_notebook: Callable[..., Any]) -> None:
    lab = open_notebook("01_mask")
    lab.run_all()
    view = lab.view("Mask lab")
    view.scroll_into_view_if_needed()
    expect(view.locator("canvas[data-drawn]")).to_have_count(3)
    lab.picture("mask-lab", view)
    assert lab.complaints == []
