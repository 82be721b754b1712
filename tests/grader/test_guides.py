"""What the guides tell people to type exists: verbs, options, make targets, nbgrader's commands, files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from nbgrader.apps.nbgraderapp import NbGraderApp

from grader.cli import app
from grader.course import Course

GUIDES = ("README.md", "grader/README.md", "solutions/README.md", "notebooks/README.md")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def commands(text: str) -> Iterator[list[str]]:
    """Every command in code blocks and in code within sentences, as words, comments taken off."""
    blocks = re.findall(r"```\n(.*?)```", text, flags=re.S)
    spans = re.findall(r"`([^`\n]*(?:\n[^`\n]+)?)`", re.sub(r"```.*?```", "", text, flags=re.S))
    for line in (*"\n".join(blocks).splitlines(), *(span.replace("\n", " ") for span in spans)):
        for part in re.split(r"&&|\|\|", re.sub(r"\s#.*", "", line)):
            try:
                yield shlex.split(part)
            except ValueError:  # words of a sentence
                continue


def guides(course: Course) -> Iterator[tuple[str, list[str]]]:
    for guide in GUIDES:
        for words in commands((course.root / guide).read_text(encoding="utf-8")):
            yield guide, words


def test_our_verbs_and_their_options_exist(course: Course) -> None:
    seen = set()
    for guide, words in guides(course):
        if words[:3] != ["python", "-m", "grader"] or len(words) < 4 or words[3] == "VERB":
            continue
        verb = words[3]
        assert verb in COMMANDS, (guide, words)
        known = {option for parameter in COMMANDS[verb].params for option in parameter.opts}
        options = {word.strip("[]").split("=")[0] for word in words[4:] if word.strip("[]").startswith("--")}
        assert options <= known, (guide, words)
        seen.add(verb)
    assert seen >= {"collect", "autograde", "report", "feedback", "publish", "doctor", "score"}


def test_nbgraders_commands_exist(course: Course) -> None:
    known = {re.sub("-", "_", name) for name in NbGraderApp().subcommands}
    used = {words[1] for _, words in guides(course) if words[:1] == ["nbgrader"] and len(words) > 1}
    assert {"autograde", "generate_feedback", "export", "zip_collect", "collect"} <= used <= known


def test_make_targets_exist(course: Course) -> None:
    def targets(path: Path) -> set[str]:
        return set(re.findall(r"(?m)^([a-z]+):", path.read_text(encoding="utf-8")))

    for guide, words in guides(course):
        if words[:1] == ["make"] and len(words) > 1:
            makefile = course.root / ("notebooks" if guide.startswith("notebooks") else "") / "Makefile"
            assert words[1] in targets(makefile), (guide, words)


@pytest.mark.parametrize("guide", GUIDES)
def test_folders_that_are_named_exist(guide: str, course: Course) -> None:
    text = (course.root / guide).read_text(encoding="utf-8")
    bases = (course.root, course.solutions, (course.root / guide).parent)
    named = re.findall(r"`((?:notebooks|solutions|grader|tests|hidden)/[a-z_0-9/.]*)`", text)
    missing = [path for path in named if not any((base / path).exists() for base in bases)]
    assert [path for path in missing if "name" not in path and "NN" not in path] == []  # those stand for any lesson
