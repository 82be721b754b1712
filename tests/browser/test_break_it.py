"""The break-it lab in a browser: nothing is shown before a prediction, by keyboard and by mouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, expect

Open = Callable[..., Any]


def button(view: Locator, name: str) -> Locator:
    return view.get_by_role("button", name=name, exact=True)


def test_predict_then_see(open_notebook: Open) -> None:
    opened = open_notebook("01_mask")
    for text in ("import torch", "break_it("):
        opened.run_cell(text)

    lab = opened.view("Break it")
    expect(lab).to_contain_text("As it should be, it says: le chat noir est petit.")
    expect(lab.locator(".attnlab-canvas:visible")).to_have_count(1)
    opened.press(lab, button(lab, "I have not predicted yet"), "ArrowRight")
    expect(lab).to_contain_text("With the mistake it says: le chat noir est. ")
    expect(lab.locator(".attnlab-canvas:visible")).to_have_count(2)
    opened.picture("break-it", lab)

    opened.click(lab, button(lab, "struck out after"))
    expect(lab.locator(".attnlab-canvas:visible")).to_have_count(1)
    opened.click(lab, button(lab, "the sentence stays"))
    expect(lab).to_contain_text("the sentence stays; as you predicted.")
    expect(lab).to_contain_text("Rows sum to less than 1.")
    opened.click(lab, button(lab, "cross"))
    opened.picture("break-it-after", lab)
    assert opened.complaints == []
