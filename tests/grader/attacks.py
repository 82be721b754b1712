"""Hostile and broken submissions as data: read an attack's file, make its submission, compare its ledger.

The format is described in tests/attacks/README.md.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from attnlab.verdict import Verdict
from grader.collect import Unreadable, read_notebook, recognise, take_one
from grader.course import Course
from grader.grade import Grader, ungraded
from grader.hidden import hidden_checks
from grader.ledger import Graded, Ledger

ATTACKS = Path(__file__).parent.parent / "attacks"
KINDS = ("forging", "stealing", "denial", "accidents")
LESSON = "01_mask"

LETTERS = dict(zip(Verdict, "?" * len(Verdict), strict=True)) | {
    Verdict.PASSED: ".",
    Verdict.FAILED: "F",
    Verdict.ERRORED: "E",
    Verdict.TIMED_OUT: "T",
    Verdict.OUT_OF_MEMORY: "M",
    Verdict.BLOCKED: "X",
    Verdict.SKIPPED: "S",
    Verdict.BROKEN: "B",
}

_FACT = re.compile(r"# (expect|landlock|prints|hides|also|limits|base): (.+)")
_PART = re.compile(r'(\[markdown\] )?(?:(before|after|replace)="(\w+)"|(first|last|notebook|bytes|folder))')


@dataclass(frozen=True)
class Part:
    """What stands under one `# %%` line.

    what: before, after, replace, first, last, notebook, bytes or folder
    place: the cell's name, for the first three
    """

    what: str
    place: str
    prose: bool
    text: str


@dataclass(frozen=True)
class Attack:
    """One file of tests/attacks."""

    path: Path
    words: str
    facts: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...] = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Attack:
        """Raises ValueError at anything that the format does not know."""
        head, *bodies = re.split(r"^# %% ", path.read_bytes().decode(), flags=re.M)
        words, facts = [], []
        for line in head.splitlines():
            if found := _FACT.fullmatch(line):
                facts.append((found.group(1), found.group(2)))
            elif re.match(r"# \w+:", line) or (line and not line.startswith("#")):
                raise ValueError(f"{path}: what is this? {line}")
            elif line.strip("# "):
                words.append(line.strip("# "))
        if not words:
            raise ValueError(f"{path} does not say what it tries")
        return cls(path, " ".join(words), tuple(facts), tuple(_part(path, body) for body in bodies))

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def kind(self) -> str:
        return self.path.parent.name

    def all(self, fact: str) -> list[str]:
        return [value for name, value in self.facts if name == fact]

    @cached_property
    def limits(self) -> dict[str, float]:
        pairs = (pair.split("=") for line in self.all("limits") for pair in line.split())
        return {name: float(number) if "." in number else int(number) for name, number in pairs}

    def also(self, how: str) -> bool:
        """Whether it is run in this way too."""
        return self.kind == "stealing" or how in self.all("also")

    def make(self, folder: Path, whole: dict[str, Any], release: dict[str, Any], names: Mapping[str, Any]) -> None:
        """Write what is handed in into an empty folder.

        whole: the lesson as a right notebook
        release: the lesson as students get it
        names: what the words in capitals stand for
        """
        tree: dict[str, Any] = json.loads(json.dumps(whole if "whole" in self.all("base") else only_named(whole)))
        parts = [Part(p.what, p.place, p.prose, _filled(p.text, names)) for p in self.parts]
        for part in parts:
            _change(tree, part)
        cells = {"cell": lambda name: find(tree, name), "released": lambda name: find(release, name)}
        _run(parts, "notebook", {"notebook": tree, **cells})
        data = _run(parts, "bytes", {"data": json.dumps(tree).encode(), "notebook": tree})["data"]
        file = folder / f"{LESSON}.ipynb"
        file.write_bytes(data)
        _run(parts, "folder", {"folder": folder, "file": file})


def grade_folder(grader: Grader, folder: Path, *, seed: int) -> tuple[Graded, int]:
    """Grade what was handed in, as nbgrader's autograde step has it done. Also returns the notebook's size in bytes."""
    lessons = grader.course.lessons

    def likeness(data: bytes) -> int:
        try:
            return int(recognise(read_notebook(data), lessons) == LESSON)
        except Unreadable:
            return 0

    try:
        data = take_one(folder, LESSON, likeness)
    except Unreadable as reason:
        return ungraded(grader.masters[LESSON], grader.course.lesson(LESSON), str(reason)), 0
    return grader.grade(data, LESSON, seed=seed), len(data)


def attacks() -> list[Attack]:
    return [Attack.read(path) for kind in KINDS for path in sorted((ATTACKS / kind).glob("*.py"))]


def only_named(tree: dict[str, Any]) -> dict[str, Any]:
    """A notebook with only the cells that nbgrader knows."""
    return {**tree, "cells": [cell for cell in tree["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id")]}


def find(tree: dict[str, Any], name: str) -> dict[str, Any]:
    """The cell of this name. Raises StopIteration where there is none."""
    return next(cell for cell in tree["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name)


def summary(ledger: Ledger) -> list[str]:
    """What a ledger says, in the form of `expect` lines: every exercise's points and each check's verdict."""
    if ledger.reason:
        return [f"ungraded {ledger.reason}"]
    return [
        f"{row.name} {row.points:g}/{row.max_points:g} {''.join(LETTERS[check.verdict] for check in row.checks)}"
        for row in ledger.exercises
    ]


def expected(attack: Attack, course: Course, mode: str) -> list[str]:
    """The summary that the attack's ledger must have."""
    wanted = attack.all(mode) or attack.all("expect")
    lines = {}
    for name in course.lesson(LESSON).exercises:
        checks = hidden_checks(name)
        most = f"{sum(check.points for check in checks):g}"
        lines[name] = f"{name} {most}/{most} {'.' * len(checks)}"
    for line in wanted:
        if line.startswith("ungraded "):
            return [line]
        if line.split()[0] not in lines:
            raise ValueError(f"{attack.path}: there is no exercise {line.split()[0]}")
        lines[line.split()[0]] = line
    return list(lines.values())


def sound(ledger: Ledger, course: Course) -> None:
    """Every check of every exercise has its row, with its own points or none: what `summary` does not say."""
    assert [row.name for row in ledger.exercises] == list(course.lesson(LESSON).exercises)
    for row in ledger.exercises:
        checks = hidden_checks(row.name)
        assert [check.name for check in row.checks] == [check.name for check in checks]
        for found, check in zip(row.checks, checks, strict=True):
            full = found.verdict in (Verdict.PASSED, Verdict.BROKEN)
            assert (found.points, found.max_points, found.hidden) == (check.points if full else 0, check.points, True)


def record(attack: Attack, lines: list[str], full: list[str], fact: str = "expect") -> None:
    """Write an attack's `expect` lines anew, in place of those it has."""
    text = attack.path.read_bytes().decode()
    head, *rest = re.split(r"^(?=# %% )", text, maxsplit=1, flags=re.M)
    wanted = [f"# {fact}: {line}" for line in lines if line not in full]
    kept = [line for line in head.rstrip("\n").splitlines() if not line.startswith(f"# {fact}: ")]
    first = next((i for i, line in enumerate(kept) if _FACT.fullmatch(line)), len(kept))
    if first == len(kept) and wanted:
        kept.append("#") if kept[-1] != "#" else None
        first = len(kept)
    kept[first:first] = wanted
    attack.path.write_text("\n".join(kept) + "\n\n" + "".join(rest))


def _part(path: Path, body: str) -> Part:
    line, _, text = body.partition("\n")
    found = _PART.fullmatch(line.strip())
    if not found:
        raise ValueError(f"{path}: no such part: {line}")
    prose, what, place, alone = found.groups()
    return Part(what or alone, place or "", bool(prose), text.strip("\n"))


def _filled(text: str, names: Mapping[str, Any]) -> str:
    for name, value in names.items():
        text = text.replace(f"${name}", str(value))
    return text


def _change(tree: dict[str, Any], part: Part) -> None:
    """Put a cell of the student's into its place."""
    if part.what in ("notebook", "bytes", "folder"):
        return
    cells = tree["cells"]
    if part.what == "replace":
        find(tree, part.place)["source"] = part.text
        return
    made: dict[str, Any] = {"id": f"own-{len(cells)}", "metadata": {}, "source": part.text}
    made |= {"cell_type": "markdown"} if part.prose else {"cell_type": "code", "outputs": [], "execution_count": None}
    ends = {"first": 0, "last": len(cells)}
    at = ends[part.what] if part.what in ends else cells.index(find(tree, part.place)) + (part.what == "after")
    cells.insert(at, made)


def _run(parts: list[Part], what: str, names: dict[str, Any]) -> dict[str, Any]:
    for part in parts:
        if part.what == what:
            exec(compile(textwrap.dedent(part.text), what, "exec"), names)
    return names
