"""Proof that what learners get holds nothing hidden: no line of a solution, none of a hidden check.

It compares texts and trusts no list of what may be given away: whatever lies under `solutions/` and is not in a
released notebook counts as hidden.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from grader.course import Course
from grader.lesson import Cell, released

__all__ = ["Leak", "leaks"]

TELLING = 40
"""Characters from which one line alone can be nobody else's; shorter lines count in pairs."""

PAIR = 30
"""Characters of two lines that follow one another, together."""

SHOWN = frozenset(
    {
        "scores = scores.masked_fill(~allowed, -torch.inf)",
        "causal = causal_mask(dec.shape[1], device=dec.device)",
        "N, T, S = x_q.shape[0], x_q.shape[1], x_kv.shape[1]",
        'return value.detach().to("cpu", torch.float64)',
    }
)
"""Lines that attnlab has too and may have: there is one way to write them."""

_EVERYWHERE = ("import ", "from ", "def ", "class ", "@", ")", "#", '"""', "symptom=")
"""Beginnings of lines that tell nothing; a symptom is what a learner sees anyway."""

_MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN HIDDEN TEST", "solutions.hidden", "from solutions")


@dataclass(frozen=True)
class Leak:
    """Something hidden in a file that learners get.

    file: where it was found, within the bundle
    what: the hidden words
    origin: whose they are, within the course
    """

    file: str
    what: str
    origin: str

    def __str__(self) -> str:
        return f"{self.file}: holds {self.what!r}, which is hidden in {self.origin}"


def leaks(course: Course, bundle: Mapping[str, bytes]) -> tuple[Leak, ...]:
    """Everything hidden that a bundle (path to contents) holds. Empty where nothing is."""
    single, pairs = _hidden(course)
    found = []
    for file, data in bundle.items():
        if {"solutions", "hidden", "grader", "tests"} & set(PurePosixPath(file).parts):
            found.append(Leak(file, file, "a folder that stays with the teacher"))
        text = _text(file, data)
        found += [Leak(file, marker, "the lessons' text") for marker in _MARKERS if marker in text]
        found += [Leak(file, line, single[line]) for line in _lines(text) if line in single]
        found += [Leak(file, " / ".join(pair), pairs[pair]) for pair in _pairs(text) if pair in pairs]
    return tuple(dict.fromkeys(found))


def _hidden(course: Course) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Hidden lines that tell by themselves, and pairs of lines that do together; each with its origin."""
    public = {line for lesson in course.lessons.values() for cell in lesson.cells for line in _public(cell)}
    single: dict[str, str] = {}
    pairs: dict[tuple[str, str], str] = {}
    for origin, text in _origins(course):
        for line in _lines(text):
            telling = len(line) >= TELLING and not line.startswith(_EVERYWHERE)
            if (telling or "canary" in line.lower()) and line not in public | SHOWN:
                single[line] = origin
        pairs.update({pair: origin for pair in _pairs(text) if not (public | SHOWN).intersection(pair)})
    return single, pairs


def _origins(course: Course) -> Iterator[tuple[str, str]]:
    """What is hidden, in pieces: the inside of every solution, and every file under `hidden/`."""
    for lesson in course.lessons.values():
        for cell in lesson.of_kind("solution"):
            stub = set(released(cell.source).splitlines())
            kept = [line for line in cell.source.splitlines() if line not in stub]
            yield f"solutions/{lesson.path.name}, {cell.exercise}", "\n".join(kept)
    for path in sorted((course.solutions / "hidden").rglob("*")):
        if path.suffix in (".py", ".json", ".txt"):
            yield str(path.relative_to(course.root)), path.read_text(encoding="utf-8")


def _public(cell: Cell) -> Iterator[str]:
    yield from _lines(released(cell.source) if cell.kind == "solution" else cell.source)


def _lines(text: str) -> Iterator[str]:
    """Lines that say something, each with its white space evened out; one with a comment also without it."""
    for line in text.splitlines():
        if even := " ".join(line.split()):
            yield even
            if (bare := _bare(line)) and bare != even:
                yield bare


def _bare(line: str) -> str:
    return " ".join(line.split("  #")[0].split())


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    lines = [bare for line in text.splitlines() if (bare := _bare(line))]
    for pair in pairwise(lines):
        if sum(map(len, pair)) >= PAIR and not any(line.startswith(_EVERYWHERE) for line in pair):
            yield pair


def _text(file: str, data: bytes) -> str:
    """What a person reads in a file; of a notebook the cells, whose lines JSON keeps apart."""
    text = data.decode("utf-8", "replace")
    if not file.endswith(".ipynb"):
        return text
    cells = json.loads(text)["cells"]
    return "\n".join(f"{''.join(cell['source'])}\n{json.dumps(cell.get('outputs', []))}" for cell in cells)
