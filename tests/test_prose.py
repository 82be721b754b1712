"""What is written in sentences: spelt right, and every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import codespell_lib
import pytest
from spellchecker import SpellChecker

from grader.course import Course
from tests.prose import lesson_prose, markdown_files, plain, python_files, told

KNOWN = Path(__file__).parent / "words.txt"


def test_no_known_misspelling_in_any_file(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(path) for path in (*markdown_files(course), *python_files(course))]
    assert len(files) > 100
    codespell_lib.main("--ignore-words-list", "rouge,mange", *files)  # French
    assert capsys.readouterr().out == ""


def words(text: str) -> set[str]:
    """Words of three letters and more, in small letters, without a genitive's s."""
    found = re.findall(r"[^\W\d_]{3,}(?:['’][^\W\d_]+)?", plain(text).replace("-", " "))
    return {re.sub(r"['’]s$", "", word.lower()) for word in found}


def test_every_word_that_a_learner_reads_is_a_word(course: Course) -> None:
    """A word that is right and in no dictionary goes into words.txt."""
    known, dictionary = set(KNOWN.read_text(encoding="utf-8").split()), SpellChecker()
    wrong = {where: sorted(dictionary.unknown(words(text) - known)) for where, text in told(course)}
    assert {where: found for where, found in wrong.items() if found} == {}


def test_the_spell_check_sees_a_mistake() -> None:
    assert SpellChecker().unknown(words("The flurb hides the **grobnik**; `notaword` and $x^{foo}$ do not count.")) == {
        "flurb", "grobnik",
    }  # fmt: skip


def test_the_list_of_words_is_sorted() -> None:
    listed = KNOWN.read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed))


# links ----------------------------------------------------------------------------------------------------------------


def pages(course: Course) -> Iterator[tuple[Path, str]]:
    """Every text with links, and the folder that relative ones start from."""
    for path in markdown_files(course):
        yield path, path.read_text(encoding="utf-8")
    for lesson in course.lessons:
        yield course.notebooks / lesson / f"{lesson}.ipynb", lesson_prose(course, lesson)


def links(text: str) -> list[str]:
    text = re.sub(r"```.*?```|`[^`]*`|\$[^$]*\$", " ", text, flags=re.S)
    return re.findall(r"\]\(([^)\s]*)[^)]*\)", text) + re.findall(r'(?:href|src)="([^"]*)"', text)


def problem(target: str, page: Path, text: str) -> str:
    """What is wrong with a link; "" where nothing is."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:  # another site: whether it answers today is no test's business
        host = parts.hostname or ""
        names = r"(?:[a-z0-9-]+\.)+[a-z]{2,}"
        return "" if parts.scheme == "https" and re.fullmatch(names, host) else "not a full https address"
    if target.startswith("/"):
        return "absolute path"
    if parts.path and not (page.parent / parts.path).exists():
        return "no such file"
    if parts.fragment:
        other = (page.parent / parts.path).read_text(encoding="utf-8") if parts.path else text
        if parts.fragment not in {anchor(heading) for heading in re.findall(r"(?m)^#+ (.*)$", other)}:
            return "no such heading"
    return ""


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def test_every_link_leads_somewhere(course: Course) -> None:
    wrong, seen = [], 0
    for page, text in pages(course):
        for target in links(text):
            seen += 1
            if why := problem(target, page, text):
                wrong.append(f"{page.relative_to(course.root)}: {target}: {why}")
    assert wrong == []
    assert seen > 1  # the README's, at least


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("README.md", ""),
        ("README.md#two-commands", ""),
        ("#on-binder", ""),
        ("https://pytorch.org/docs", ""),
        ("NOTHING.md", "no such file"),
        ("README.md#nowhere", "no such heading"),
        ("/etc/passwd", "absolute path"),
        ("http://pytorch.org", "not a full https address"),
        ("https://localhost:8888/lab", "not a full https address"),
        ("file:///tmp/x", "not a full https address"),
    ],
)
def test_the_link_check_sees(target: str, said: str, course: Course) -> None:
    page = course.root / "README.md"
    assert links(f"See [this]({target}).") == [target]
    assert problem(target, page, page.read_text(encoding="utf-8")) == said
