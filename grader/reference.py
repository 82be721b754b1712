"""The reference: every lesson's given and solution cells, run into modules in memory. There is no second copy."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.lesson import Lesson

__all__ = ["Reference"]


@dataclass(frozen=True)
class Reference:
    """The course's functions as the lessons' solution cells define them.

    `sources` maps an exercise to the text of its solution cell, so that a named fault can change one.
    """

    lessons: tuple[Lesson, ...]

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """Exercise to the text of its solution cell."""
        return {cell.exercise: cell.source for lesson in self.lessons for cell in lesson.of_kind("solution")}

    @cached_property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Exercise to its function."""
        return self.build({})

    def build(self, changed: Mapping[str, str]) -> Mapping[str, Callable[..., Any]]:
        """Run the cells anew, with other text for the exercises in `changed`. Returns exercise to function.

        A lesson's `NAME = earlier(LESSON, NAME)` is bound to the function built here, never to a stand-in.
        """
        spaces = self.namespaces(changed)
        return {name: spaces[lesson.name][name] for lesson in self.lessons for name in lesson.exercises}

    def namespaces(self, changed: Mapping[str, str]) -> Mapping[str, Mapping[str, Any]]:
        """As `build`, but returns lesson name to all that its given and solution cells define."""
        functions: dict[str, Callable[..., Any]] = {}
        spaces: dict[str, Mapping[str, Any]] = {}
        for lesson in self.lessons:
            namespace: dict[str, Any] = {"__name__": f"reference_{lesson.name}"}
            for cell in lesson.of_kind("given", "solution"):
                source = changed.get(cell.exercise, cell.source)
                code, taken = self._compiled(source, f"{lesson.path.name}:{cell.name}")
                namespace.update((name, functions[wanted]) for name, wanted in taken)
                exec(code, namespace)
            functions.update((name, namespace[name]) for name in lesson.exercises)
            spaces[lesson.name] = namespace
        return spaces

    def place(self, exercise: str) -> str:
        """File and line of the exercise's solution cell."""
        cells = ((lesson, cell) for lesson in self.lessons for cell in lesson.of_kind("solution"))
        return next(f"{lesson.path}:{cell.line}" for lesson, cell in cells if cell.exercise == exercise)

    def uses(self, exercise: str) -> tuple[str, ...]:
        """The exercises whose functions this one calls, itself or through others; nearest first, then course order."""
        found: dict[str, None] = {}
        ring = [exercise]
        while ring:
            named = {name for one in ring for name in self._calls[one]}
            ring = [name for name in self._calls if name in named and name not in found and name != exercise]
            found.update(dict.fromkeys(ring))
        return tuple(found)

    @cached_property
    def _calls(self) -> dict[str, frozenset[str]]:
        """Exercise to the exercises that its own text names."""
        calls: dict[str, frozenset[str]] = {}
        for lesson in self.lessons:
            bound: dict[str, frozenset[str]] = {}  # a name at the lesson's top level, to the exercises behind it
            for cell in lesson.of_kind("given", "solution"):
                for node in ast.parse(cell.source).body:
                    if taken := _earlier(node):
                        bound[taken[0]] = frozenset({taken[1]})
                    elif isinstance(node, ast.FunctionDef):
                        behind = frozenset().union(*(bound.get(name, ()) for name in _global_names(node)))
                        if node.name == cell.exercise:
                            calls[node.name] = behind
                        bound[node.name] = frozenset({node.name}) if node.name == cell.exercise else behind
        return calls

    @cached_property
    def _cache(self) -> dict[str, tuple[Any, tuple[tuple[str, str], ...]]]:
        return {}

    def _compiled(self, source: str, label: str) -> tuple[Any, tuple[tuple[str, str], ...]]:
        """Code of a cell without its `earlier` assignments, and those as (name, exercise)."""
        if source not in self._cache:
            tree = ast.parse(source)
            taken = tuple(_taken(tree.body))
            tree.body = [node for node in tree.body if _earlier(node) is None]
            self._cache[source] = compile(tree, label, "exec"), taken
        return self._cache[source]


def _taken(body: Iterable[ast.stmt]) -> Iterable[tuple[str, str]]:
    return (found for node in body if (found := _earlier(node)) is not None)


def _global_names(function: ast.FunctionDef) -> set[str]:
    """Names that the function reads and never binds: an own variable called like an exercise is not that exercise."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - own


def _earlier(node: ast.stmt) -> tuple[str, str] | None:
    """(name, exercise) where the statement is `name = earlier("lesson", "exercise")`."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Name(id="earlier"), args=[ast.Constant(), ast.Constant(value=str(exercise))]),
        ):
            return name, exercise
    return None
