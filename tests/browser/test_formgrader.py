"""A teacher's afternoon in a real browser: formgrader over our pipeline, manual grading, validate in JupyterLab."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from grader.build import build
from grader.course import Course
from tests.browser import lab
from tests.grader.hostile_page import RUNS, WORDS

SUBMITTED = Path(__file__).parent.parent / "submissions" / "submitted"
EXPECTED = Path(__file__).parent.parent / "submissions" / "expected"
LESSON = "01_mask"
GRADING = (
    120_000  # milliseconds that a loaded machine may take to grade one submission, server's first imports included
)

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Office:
    """A teacher's own copy of the course, and the JupyterLab that runs in it."""

    course: Course
    server: lab.Server

    def grade(self, student: str, exercise: str) -> tuple[float | None, float | None]:
        """What the gradebook holds: the automatic and the manual score."""
        with sqlite3.connect(self.course.grading / "gradebook.db") as database:
            (found,) = database.execute(
                """SELECT grade.auto_score, grade.manual_score FROM grade
                JOIN base_cell ON base_cell.id = grade.cell_id
                JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
                JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
                WHERE base_cell.name = ? AND submitted_assignment.student_id = ?""",
                (f"test_{exercise}", student),
            )
        return found


def hostile(path: Path) -> None:
    """Hand in a right notebook that shows, prints, raises and says what wants to run in the teacher's browser."""
    notebook = nbformat.read(SUBMITTED / "ada" / LESSON / f"{LESSON}.ipynb", as_version=4)
    shows = "from IPython.display import HTML, Javascript, Markdown, SVG, display"
    notebook.cells.append(nbformat.v4.new_code_cell(f"{shows}\ndisplay(Javascript({RUNS!r}))"))
    for words in WORDS:
        notebook.cells.append(nbformat.v4.new_markdown_cell(words))
        source = f"words = {words!r}\ndisplay(HTML(words), Markdown(words))\nprint(words)\nraise ValueError(words)"
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source += "".join(f"\n# {words}" for words in WORDS)
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def office(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    home = tmp_path_factory.mktemp("office")
    root = home / "course"
    for name in ("solutions", "notebooks"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(course.root / name, root / name, ignore=ignored)
    exchange = home / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)  # as nbgrader wants it: students hand in there
    config = (course.root / "nbgrader_config.py").read_text(encoding="utf-8")
    (root / "nbgrader_config.py").write_text(f"{config}\nget_config().Exchange.root = {str(exchange)!r}\n")
    copy = Course(root)
    build(copy)
    for student in ("ada", "carl"):
        shutil.copytree(SUBMITTED / student / LESSON, copy.grading / "submitted" / student / LESSON)
    hostile(copy.grading / "submitted" / "eve" / LESSON / f"{LESSON}.ipynb")
    with lab.serve(root, home / "jupyter", folder=root) as server:
        yield Office(copy, server)


@pytest.fixture(scope="module")
def page(context: BrowserContext) -> Iterator[Page]:
    """One page for all, as a teacher has it: the tests follow one another."""
    opened = context.new_page()
    expect.set_options(timeout=GRADING)
    yield opened
    expect.set_options(timeout=5_000)  # what others are used to
    opened.close()


@pytest.fixture
def go(office: Office, page: Page) -> Callable[[str], None]:
    def to(path: str) -> None:
        page.goto(f"{office.server.url}/formgrader/{path}")

    return to


def autograde(page: Page, student: str) -> None:
    """Press the button in the student's row and wait for what formgrader says."""
    page.locator("tr").filter(has_text=student).locator(".autograde a").click()
    modal = page.locator(".modal-dialog")
    expect(modal).to_be_visible(timeout=GRADING)
    expect(modal).to_contain_text(f"Successfully autograded '{LESSON}' for student '{student}'")
    modal.get_by_role("button", name="OK").click()
    expect(page.locator(".modal-backdrop")).to_have_count(0)


def points(student: str, exercise: str) -> float:
    ledger = json.loads((EXPECTED / student / f"{LESSON}.json").read_text(encoding="utf-8"))
    return float(next(row["points"] for row in ledger["exercises"] if row["name"] == exercise))


def test_the_lessons_are_listed(office: Office, page: Page, go: Callable[[str], None]) -> None:
    go("manage_assignments")
    for name in office.course.lessons:
        expect(page.locator("tbody tr").filter(has_text=name)).to_have_count(1)
    expect(page.locator("tbody tr").filter(has_text=LESSON).locator(".num-submissions")).to_have_text("3")


def test_its_generate_button_makes_what_the_build_made(office: Office, page: Page, go: Callable[[str], None]) -> None:
    path = office.course.notebooks / LESSON / f"{LESSON}.ipynb"
    built = path.read_bytes()
    path.write_text("spoilt")
    go("manage_assignments")
    page.locator("tbody tr").filter(has_text=LESSON).locator(".assign a").click()
    expect(page.locator(".modal-dialog")).to_contain_text(f"Successfully created the student version of '{LESSON}'")
    assert path.read_bytes() == built


def test_its_button_grades_through_our_pipeline(office: Office, page: Page, go: Callable[[str], None]) -> None:
    go(f"manage_submissions/{LESSON}")
    autograde(page, "carl")
    row = page.locator("tr").filter(has_text="carl")
    expect(row.locator(".status")).to_have_text("graded")
    total = sum(points("carl", name) for name in office.course.lesson(LESSON).exercises)
    expect(row.locator(".score")).to_have_text(f"{total:g} / 16")
    assert office.grade("carl", "masked_softmax") == (points("carl", "masked_softmax"), None)
    assert (office.course.grading / "ledgers" / LESSON / "carl.json").exists()


def test_manual_grading_shows_the_judges_report_and_takes_a_score(
    office: Office, page: Page, go: Callable[[str], None]
) -> None:
    go(f"gradebook/{LESSON}/{LESSON}")
    page.locator("tbody tr a").first.click()
    report = page.locator(".ledger").filter(has_text="masked_softmax:")
    expect(report).to_contain_text("hidden scores were set to -1e9 instead of minus infinity")
    score = page.locator("input.score#test_masked_softmax")
    expect(score).to_have_attribute("placeholder", f"{points('carl', 'masked_softmax'):g}")
    with page.expect_response(lambda answer: "/formgrader/api/grade/" in answer.url and answer.request.method == "PUT"):
        score.fill("7.5")
        score.press("Tab")
    assert office.grade("carl", "masked_softmax") == (points("carl", "masked_softmax"), 7.5)
    page.screenshot(path=lab_pictures() / "formgrader-manual.png")


def test_a_hostile_submission_runs_nothing_in_the_teachers_browser(
    office: Office, page: Page, context: BrowserContext, go: Callable[[str], None]
) -> None:
    go(f"manage_submissions/{LESSON}")
    autograde(page, "eve")
    go(f"gradebook/{LESSON}/{LESSON}")
    expect(page.locator("tbody tr")).to_have_count(2)
    links = {str(link.get_attribute("href")).split("?")[0] for link in page.locator("tbody tr a").all()}
    links = {link for link in links if "/submissions/" in link}
    assert len(links) == 2
    asked: list[str] = []
    for link in links:
        opened = context.new_page()
        opened.on("request", lambda request: asked.append(request.url))
        opened.goto(f"{office.server.url}{link}")
        expect(opened.locator("input.score#test_masked_softmax")).to_be_visible()
        for bait in opened.get_by_text("bait", exact=True).all()[:4]:
            bait.click()
        opened.evaluate("() => document.querySelectorAll('details').forEach(part => part.open = true)")
        assert opened.evaluate("() => document.documentElement.dataset.ran || null") is None
        assert opened.locator("#notebook iframe, #notebook form, #notebook svg").count() == 0
        opened.close()
    assert any("formgrader/submissions" in url for url in asked)
    assert not [url for url in asked if "example.invalid" in url]


def test_a_manual_score_survives_a_regrade(office: Office, page: Page, go: Callable[[str], None]) -> None:
    path = office.course.grading / "submitted" / "carl" / LESSON / f"{LESSON}.ipynb"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")  # else nothing has changed
    go(f"manage_submissions/{LESSON}")
    autograde(page, "carl")
    assert office.grade("carl", "masked_softmax") == (points("carl", "masked_softmax"), 7.5)
    row = page.locator("tr").filter(has_text="carl")
    expect(row.locator(".status")).to_have_text("needs manual grading")


def test_feedback_from_its_button_is_our_page(office: Office, page: Page, go: Callable[[str], None]) -> None:
    go(f"manage_submissions/{LESSON}")
    page.locator("tr").filter(has_text="carl").locator(".generate-feedback a").click()
    expect(page.locator(".modal-dialog")).to_contain_text("Successfully generated feedback")
    text = (office.course.grading / "feedback" / "carl" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    assert "A person gave 7.5 points" in text


def test_the_assignment_list_has_what_was_released(
    office: Office, page: Page, context: BrowserContext, go: Callable[[str], None]
) -> None:
    go("manage_assignments")
    page.locator("tbody tr").filter(has_text=LESSON).locator(".release a").click()
    expect(page.locator(".modal-dialog")).to_contain_text(f"Successfully released '{LESSON}'")
    students = context.new_page()
    students.goto(f"{office.server.url}/lab?reset")
    students.wait_for_function("() => window.jupyterapp?.commands.hasCommand('nbgrader:open-assignment-list')")
    students.evaluate("() => window.jupyterapp.commands.execute('nbgrader:open-assignment-list')")
    expect(students.locator("#released_assignments_list").get_by_text(LESSON).first).to_be_visible()
    students.close()


def test_validate_gives_the_public_result_and_says_so(office: Office, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(f"{office.server.url}/lab/tree/notebooks/{LESSON}/{LESSON}.ipynb?reset")
    page.get_by_role("button", name="Validate").click()
    message = page.locator("#validation-message")
    expect(message).to_contain_text("This is the public result. Marks come from hidden checks")
    expect(message).to_contain_text("causal_mask is not written yet")
    page.screenshot(path=lab_pictures() / "validate.png")
    page.close()


def lab_pictures() -> Path:
    folder = Course.find(Path(__file__).parent).root / ".artefacts" / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
