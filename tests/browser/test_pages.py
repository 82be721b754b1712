"""Pages that staff and learners open from a file: they read on a phone and in the dark, and nothing in them runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from grader.class_facts import class_facts
from grader.class_page import class_page
from grader.course import Course
from grader.feedback_page import Given, feedback_page
from tests.grader.classroom import HOSTILE, MARKUP, hostile, kept, store
from tests.grader.hostile_page import RUNS, hostile_notebook

LESSON = "02_cross_attention"
PHONE = {"width": 360, "height": 740}
RAN = "() => document.documentElement.dataset.ran || document.body.dataset.ran || null"
CONTRAST = 4.5  # between letters and what is behind them, for everyone's eyes

Opens = Callable[..., Page]


@pytest.fixture
def opens(browser: Browser, tmp_path: Path) -> Iterator[Opens]:
    """Open the text of a page as a file; `asked` on the result lists what it asked of any network."""
    contexts = []

    def opened(text: str, **settings: Any) -> Page:
        context = browser.new_context(viewport=PHONE, color_scheme="dark", **settings)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.dialogs = [], []  # type: ignore[attr-defined]
        page.on("request", lambda asked: page.asked.append(asked.url))  # type: ignore[attr-defined]
        page.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))  # type: ignore[attr-defined]
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(text, encoding="utf-8")
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


def touch_everything(page: Page) -> None:
    """Do what a reader may do: unfold, move over, follow what can be followed."""
    page.evaluate("() => document.querySelectorAll('details').forEach(part => part.open = true)")
    for bait in page.get_by_text("bait", exact=True).all()[:6]:
        bait.click()
    page.evaluate(
        """() => { for (const part of document.body.querySelectorAll('*'))
            for (const kind of ['mouseover', 'focus', 'toggle', 'error', 'load', 'click'])
                if (!['A', 'SUMMARY'].includes(part.tagName)) part.dispatchEvent(new Event(kind)); }"""
    )


def fits(page: Page) -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


def faintest(page: Page) -> float:
    """The smallest contrast of any words on the page."""
    return float(
        page.evaluate(
            """() => {
            const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
                .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = part => { for (; part; part = part.parentElement) {
                const colour = numbers(getComputedStyle(part).backgroundColor);
                if (colour.length === 3 || colour[3] > 0.5) return colour; } return [255, 255, 255]; };
            let least = 21;
            const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) {
                const part = walk.currentNode.parentElement;
                if (!walk.currentNode.data.trim() || part.closest('script, svg') || !part.checkVisibility()) continue;
                const [a, b] = [light(numbers(getComputedStyle(part).color)), light(behind(part))];
                least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
            }
            return least; }"""
        )
    )


@pytest.mark.parametrize("walls", ["with its policy", "without its policy"])
def test_a_hostile_submission_runs_nothing(walls: str, opens: Opens, course: Course) -> None:
    """Escaping and cleaning hold by themselves; the page's policy is a second wall."""
    given = Given(1.0, {"attention": 2.0}, {"attention": MARKUP})
    text = feedback_page(LESSON, MARKUP, hostile(kept(LESSON)["fay"]), hostile_notebook(course, LESSON), given)
    if walls == "without its policy":
        text, taken = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        assert taken == 1
    page = opens(text)
    touch_everything(page)
    assert page.evaluate(RAN) is None
    assert page.evaluate("() => document.scripts.length + document.querySelectorAll('iframe, svg, form').length") == 0
    assert {url.split("#")[0] for url in page.asked} == {page.url.split("#")[0]}  # type: ignore[attr-defined]
    assert page.dialogs == []  # type: ignore[attr-defined]
    expect(page.get_by_role("heading", name=f"Feedback: {LESSON}")).to_be_visible()
    expect(page.get_by_role("heading", name="cross_attention: ").last).to_be_visible()
    assert fits(page)


def test_these_tests_would_see_it_run(opens: Opens) -> None:
    page = opens(f"<!DOCTYPE html><body><script>{RUNS}</script><img src='https://example.invalid/a.png'>", offline=True)
    assert page.evaluate(RAN) == "yes"
    assert "https://example.invalid/a.png" in page.asked  # type: ignore[attr-defined]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_feedback_reads_on_a_phone_by_day_and_night(scheme: str, opens: Opens, course: Course) -> None:
    ledger = kept(LESSON)["fay"]
    clean = hostile_notebook(course, LESSON)
    clean.cells = [cell for cell in clean.cells if not cell.id.startswith("added-")]
    page = opens(feedback_page(LESSON, "fay", ledger, clean, Given(comments={"attention": "Well done."})))
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.get_by_role("link", name="merge_heads").click()
    expect(page.get_by_role("heading", name="merge_heads: 1 of 3 points")).to_be_in_viewport()
    assert fits(page)
    assert faintest(page) >= CONTRAST
    page.screenshot(path=course.root / ".artefacts" / "browser" / f"feedback-{scheme}.png", full_page=True)


def test_the_class_report_draws_itself_without_a_network(opens: Opens, course: Course, tmp_path: Path) -> None:
    ledgers = kept(LESSON)
    ledgers[HOSTILE] = hostile(ledgers["fay"])
    ledgers["<b>bold<br>"] = ledgers["dora"]
    store(course, tmp_path / ".grading", LESSON, ledgers)
    page = opens(class_page(class_facts(course, LESSON, tmp_path / ".grading")), offline=True)
    page.wait_for_function("() => document.body.dataset.drawn === 'yes'")
    expect(page.locator("[data-figure][role=img]")).to_have_count(3)
    assert page.locator(".main-svg").count() >= 3
    assert page.evaluate(RAN) is None
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []  # type: ignore[attr-defined]
    expect(page.get_by_text("<b>bold<br>").first).to_be_visible()
    assert fits(page)
    assert faintest(page) >= CONTRAST
    page.screenshot(path=course.root / ".artefacts" / "browser" / "class-report.png", full_page=True)
