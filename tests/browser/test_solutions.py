"""Every lesson with its solutions, in both front ends: it runs clean, and each widget answers keyboard and mouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.parametrize("front", ["lab", "notebook"])

Open = Callable[..., Any]


def slider(view: Locator, name: str) -> Locator:
    return view.get_by_role("slider", name=name, exact=True)


def button(view: Locator, name: str) -> Locator:
    return view.get_by_role("button", name=name, exact=True)


def test_lesson_1(open_notebook: Open, front: str) -> None:
    opened = open_notebook("01_mask", front=front)
    opened.run_all()

    contrast = opened.view("Contrast")
    opened.press(contrast, button(contrast, "plain"), "ArrowRight")
    expect(button(contrast, "masked")).to_have_attribute("aria-pressed", "true")
    opened.click(contrast, button(contrast, "large"))
    opened.picture("contrast", contrast)

    lab = opened.view("Mask lab")
    expect(lab.locator(".attnlab-canvas")).to_have_count(3)
    opened.picture("mask-lab", lab)
    opened.press(lab, slider(lab, "words of padding"), "ArrowRight")
    expect(slider(lab, "words of padding")).to_have_attribute("aria-valuetext", "1")
    opened.click(lab, button(lab, "after it"))
    expect(lab).to_contain_text("not to 1")
    opened.picture("mask-lab-after", lab)

    probe = opened.view("Leak probe")
    opened.press(probe, slider(probe, "changed token"), "ArrowRight")
    expect(probe).to_contain_text("Token 1 'the' changes: outputs 1, 2, 3, 4 and 5 move, and none before it.")
    opened.drag(probe, "changed token", 0.6)
    opened.picture("leak-probe", probe)
    opened.assert_clean()


def test_lesson_2(open_notebook: Open, front: str) -> None:
    opened = open_notebook("02_cross_attention", front=front)
    opened.run_all()

    contrast = opened.view("Contrast")
    opened.press(contrast, button(contrast, "narrow"), "ArrowRight")
    opened.click(contrast, button(contrast, "mixed values"))
    opened.picture("contrast", contrast)

    cross = opened.view("Cross-attention: who asks whom")
    opened.press(cross, slider(cross, "query"), "ArrowRight")
    expect(cross).to_contain_text("query 1 'aime' looks most at key 1 'love'")
    opened.press(cross, slider(cross, "source padding"), "ArrowRight")
    opened.picture("cross-view", cross)
    opened.click(cross, button(cross, "source asks target"))
    expect(cross).to_contain_text("The map is 5 by 3")
    opened.assert_clean()


def test_lesson_3(open_notebook: Open, front: str) -> None:
    opened = open_notebook("03_decoder_block", front=front)
    opened.run_all()

    contrast = opened.view("Contrast")
    opened.press(contrast, slider(contrast, "example of the batch"), "ArrowRight")
    opened.drag(contrast, "example of the batch", 0.02)
    opened.picture("contrast", contrast)

    trace = opened.view("Block trace")
    opened.press(trace, slider(trace, "step"), "ArrowRight")
    expect(trace).to_contain_text("Step 1, self-attention")
    opened.click(trace, button(trace, "before the sublayer"))
    opened.click(trace, button(trace, "with cross-attention"))
    opened.picture("block-trace", trace)

    probe = opened.view("Leak probe")
    opened.press(probe, slider(probe, "changed token"), "ArrowRight")
    opened.drag(probe, "changed token", 0.98)
    opened.picture("leak-probe", probe)
    opened.assert_clean()


def test_lesson_4(open_notebook: Open, front: str) -> None:
    opened = open_notebook("04_full_forward", front=front)
    opened.run_all()

    heads = opened.view("Attention: who looks at whom")
    opened.press(heads, heads.get_by_role("application"), "ArrowDown")
    expect(heads.get_by_role("status")).to_contain_text("query 1 'black' looks most at")
    opened.click(heads, button(heads, "cross"))
    opened.click(heads, button(heads, "head 2"))
    expect(button(heads, "head 2")).to_have_attribute("aria-pressed", "true")
    opened.press(heads, slider(heads, "query"), "ArrowRight")
    opened.press(heads, button(heads, "linear"), "ArrowRight")
    opened.changes(heads, lambda: heads.locator(".attnlab-canvas").click(position={"x": 120, "y": 30}))
    expect(heads.get_by_role("status")).to_contain_text("query 0 '<s>' looks most at")
    opened.picture("attention-view", heads)

    probe = opened.view("Leak probe")
    opened.press(probe, slider(probe, "changed token"), "ArrowRight")
    opened.drag(probe, "changed token", 0.98)

    shift = opened.view("Shift view")
    opened.press(shift, button(shift, "0: shifted once"), "ArrowLeft")
    expect(shift).to_contain_text("each position is fed its own label")
    opened.click(shift, button(shift, "padding"))
    expect(shift).to_contain_text("not counted")
    opened.picture("shift-view", shift)
    opened.assert_clean()


def test_lesson_5(open_notebook: Open, front: str) -> None:
    opened = open_notebook("05_greedy_decode", front=front)
    opened.run_all()

    stepper = opened.view("Decode stepper")
    opened.press(stepper, button(stepper, "Step"), "Enter")
    expect(stepper).to_contain_text("Word 2 will be 'chat'")
    opened.click(stepper, button(stepper, "Step"))
    expect(stepper).to_contain_text("Word 3 will be 'noir'")
    opened.press(stepper, button(stepper, "noir"), "ArrowRight")
    expect(stepper).to_contain_text("overruled")
    opened.click(stepper, button(stepper, "Step"))
    opened.picture("decode-stepper", stepper)
    opened.click(stepper, button(stepper, "Reset"))
    opened.click(stepper, button(stepper, "play or pause"))
    expect(stepper).to_contain_text(
        "It stopped because </s>, the end sign, was chosen. It says: le chat noir est petit",
        timeout=60_000,  # six words of 0.9 seconds, and the kernel may still be running later cells
    )

    heads = opened.view("Attention: who looks at whom")
    opened.press(heads, heads.get_by_role("application"), "ArrowRight")
    opened.click(heads, button(heads, "decoder"))
    opened.click(heads, button(heads, "1"))
    opened.picture("attention-view", heads)
    opened.assert_clean()
