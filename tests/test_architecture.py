"""Imports go one way: tests -> grader -> attnlab, and solutions -> attnlab."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course import Course

LOADED_BY_NAME = {"solutions"}  # the grader loads hidden modules by name, one a lesson; nobody else may


@pytest.mark.xdist_group("together")
def test_groups_stay_in_one_worker(request: pytest.FixtureRequest) -> None:
    """Tests that share a server or a folder count on it; pytest-xdist says so by the test's id."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("there is only one process; 'make test' has two")
    assert request.node.nodeid.endswith("@together"), "this pytest and this pytest-xdist do not know groups together"


def imported(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize(
    ("folder", "never"),
    [
        ("notebooks/attnlab", {"grader", "solutions", "tests", "nbgrader"}),
        ("solutions", {"grader", "tests", "nbgrader"}),
        ("grader", {"tests", "solutions"}),
    ],
)
def test_imports_go_one_way(folder: str, never: set[str], course: Course) -> None:
    wrong = {
        str(path.relative_to(course.root)): bad
        for path in sorted((course.root / folder).rglob("*.py"))
        if (bad := never.intersection(imported(path)))
    }
    assert wrong == {}


def test_no_star_imports_and_no_path_tricks(course: Course) -> None:
    wrong = []
    for folder in ("notebooks/attnlab", "solutions", "grader", "tests"):
        for path in sorted((course.root / folder).rglob("*.py")):
            if path.is_relative_to(course.root / "tests" / "attacks"):
                continue  # what those submissions hold need not be Python at all
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                star = isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
                trick = isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.path"
                if star or trick:
                    wrong.append(f"{path.relative_to(course.root)}:{node.lineno}")
    assert wrong == []


@pytest.mark.parametrize("folder", ["notebooks/attnlab", "grader"])
def test_public_surface_is_named(folder: str, course: Course) -> None:
    """Every module with definitions says in __all__ what others may use, and defines what it names."""
    wrong = []
    for path in sorted((course.root / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        definitions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        surface = [n for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"]
        if definitions and not surface and "public" not in path.parts:
            wrong.append(f"{path.relative_to(course.root)}: no __all__")
        names = {t.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) for t in [n]}
        names |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        names |= {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        for statement in surface:
            missing = set(ast.literal_eval(statement.value)) - names
            if missing:
                wrong.append(f"{path.relative_to(course.root)}: names {sorted(missing)}, which are not there")
    assert wrong == []
