"""Read a lesson: one py:percent text with five cell kinds, and refuse whatever would leak or break."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["KINDS", "Cell", "Lesson", "LessonError", "read_lesson"]

KINDS = ("prose", "given", "solution", "tests", "show")
"""prose: markdown. given: locked code. solution: the reference, released as a stub. tests: locked, `check(NAME)`.
show: code that the learner may run and change."""

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
STUB = "raise NotImplementedError"

_KEYS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "prose": {"exercise": str, "minutes": int, "difficulty": int},
    "given": {"name": str},
    "solution": {"exercise": str},
    "tests": {"exercise": str, "points": (int, float)},
    "show": {},
}
_REQUIRED = {"given": {"name"}, "solution": {"exercise"}, "tests": {"exercise", "points"}}
_DIFFICULTIES = range(1, 5)  # four dots are what a header has room for


class LessonError(Exception):
    """A lesson's text is refused. Says which file and line, what is wrong and what to do."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}")
        self.path, self.line, self.what = path, line, what


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson.

    line: where it begins in the text, from 1
    name: grade id for given, solution and tests cells; "" for the others
    exercise: the exercise that it belongs to, or ""
    """

    kind: str
    source: str
    line: int
    name: str = ""
    exercise: str = ""
    points: float = 0.0
    minutes: int = 0
    difficulty: int = 0


@dataclass(frozen=True)
class Lesson:
    """A lesson as its author wrote it."""

    name: str
    path: Path
    text: str
    cells: tuple[Cell, ...]

    def of_kind(self, *kinds: str) -> Iterator[Cell]:
        """Its cells of these kinds, in order."""
        return (cell for cell in self.cells if cell.kind in kinds)

    @property
    def exercises(self) -> tuple[str, ...]:
        """The names of its exercises, in order."""
        return tuple(cell.exercise for cell in self.of_kind("solution"))

    @property
    def points(self) -> dict[str, float]:
        """Exercise to the points of its tests cell."""
        return {cell.exercise: cell.points for cell in self.of_kind("tests")}


def read_lesson(path: Path) -> Lesson:
    """Parse and check the lesson at `path`. Raises LessonError at the first thing that is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LessonError(path, 1, "there is no such lesson") from None
    except UnicodeDecodeError as error:
        raise LessonError(path, 1, f"not UTF-8 text ({error.reason}); save it as UTF-8") from None
    cells = tuple(_cells(path, text))
    _check_names(path, cells)
    _check_exercises(path, cells)
    return Lesson(path.stem, path, text, cells)


def _cells(path: Path, text: str) -> Iterator[Cell]:
    starts = [n for n, line in enumerate(text.splitlines(), 1) if re.match(r"# ?%%", line)]
    if not starts:
        raise LessonError(path, 1, "no cells; a cell begins with a line '# %%'")
    if before := "".join(text.splitlines()[: starts[0] - 1]).strip():
        raise LessonError(path, 1, f"text before the first cell: {before[:40]!r}; put it into a cell")
    import jupytext  # not above: it takes in a server, for those who read no lesson, too

    notebook = jupytext.reads(text, fmt="py:percent")
    if len(notebook.cells) != len(starts):
        raise LessonError(path, starts[0], "a line '# %%' inside a cell; cells cannot be nested")
    for raw, line in zip(notebook.cells, starts, strict=True):
        cell = _cell(path, line, raw)
        _check_markers(path, cell)
        if cell.kind != "prose":
            _check_code(path, cell)
        yield cell


def _cell(path: Path, line: int, raw: Any) -> Cell:
    given = {k: v for k, v in raw.metadata.items() if k not in ("lines_to_next_cell", "title")}
    kind = given.pop("kind", "prose" if raw.cell_type == "markdown" else None)
    if kind is None:
        raise LessonError(path, line, f'a code cell without a kind; write kind="..." ({", ".join(KINDS[1:])})')
    if kind not in KINDS:
        raise LessonError(path, line, f"unknown cell kind {kind!r}; the kinds are {', '.join(KINDS)}")
    if (kind == "prose") != (raw.cell_type == "markdown"):
        raise LessonError(path, line, f"a {kind} cell cannot be {raw.cell_type}")
    keys = _KEYS[kind]
    for key, value in given.items():
        if key not in keys:
            raise LessonError(path, line, f"a {kind} cell has no {key!r}; it may have {', '.join(keys) or 'nothing'}")
        if not isinstance(value, keys[key]) or isinstance(value, bool):
            raise LessonError(path, line, f"{key}={value!r} is of the wrong type")
    for key in _REQUIRED.get(kind, set()) - given.keys():
        raise LessonError(path, line, f"a {kind} cell without {key}")
    exercise = given.get("exercise", "")
    name = {"given": f"given_{given.get('name')}", "solution": exercise, "tests": f"test_{exercise}"}.get(kind, "")
    if given.get("points", 0) < 0:
        raise LessonError(path, line, "points below zero")
    return Cell(
        kind, raw.source.strip("\n"), line, name, exercise,
        float(given.get("points", 0)), given.get("minutes", 0), given.get("difficulty", 0),
    )  # fmt: skip


def _check_markers(path: Path, cell: Cell) -> None:
    """Only nbgrader's four marker lines, balanced, each where it belongs."""
    inside, seen = "", False
    for offset, raw in enumerate(cell.source.splitlines(), 1):
        line, at = raw.strip(), cell.line + offset
        # nbgrader looks for these words anywhere in a line, prose included, so they are refused anywhere else
        words = re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TEST|MARK SCHEME)|AUTOTEST|HASHED AUTOTEST", line)
        is_marker = line in (BEGIN_SOLUTION, END_SOLUTION, BEGIN_HIDDEN, END_HIDDEN)
        if (words or (cell.kind != "prose" and line.startswith("###"))) and not is_marker:
            raise LessonError(path, at, f"unknown marker line {line!r}; it would be released as it stands")
        if not is_marker:
            continue
        wanted = "solution" if "SOLUTION" in line else "tests"
        if cell.kind != wanted:
            raise LessonError(path, at, f"{line!r} in a {cell.kind} cell; it belongs into a {wanted} cell")
        if line.startswith("### BEGIN"):
            if inside:
                raise LessonError(path, at, f"{line!r} inside {inside!r}; markers cannot be nested")
            if seen:
                raise LessonError(path, at, f"a second {line!r} in one cell; one stub a cell")
            inside, seen = line, True
        else:
            if inside != line.replace("END", "BEGIN"):
                raise LessonError(path, at, f"{line!r} without its begin")
            inside = ""
    if inside:
        raise LessonError(path, cell.line, f"{inside!r} is never ended; the solution would be released")
    if cell.kind == "solution" and not seen:
        raise LessonError(
            path, cell.line, f"solution cell {cell.exercise!r} without a stub: no {BEGIN_SOLUTION!r} line"
        )


def _check_code(path: Path, cell: Cell) -> None:
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        raise LessonError(path, cell.line + (error.lineno or 1), f"syntax error: {error.msg}") from None
    if cell.kind == "tests" and not _is_check(tree, cell.exercise):
        raise LessonError(path, cell.line, f"a tests cell holds 'check({cell.exercise})' and nothing else")
    if cell.kind not in ("given", "solution"):
        return
    for node in tree.body:
        if not isinstance(node, _HARMLESS) and not _is_docstring(node):
            raise LessonError(
                path, cell.line + node.lineno,
                f"a side effect in a {cell.kind} cell; the grader runs it, so only imports, definitions and "
                "assignments may stand here. Move it into a show cell",
            )  # fmt: skip
    if cell.kind == "solution":
        _check_stub(path, cell, tree)


_HARMLESS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_check(tree: ast.Module, exercise: str) -> bool:
    return [ast.unparse(node) for node in tree.body] == [f"check({exercise})"]


def _check_stub(path: Path, cell: Cell, tree: ast.Module) -> None:
    """The solution is the body of the exercise's function, under a docstring that the stub keeps."""
    function = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == cell.exercise), None)
    if function is None:
        raise LessonError(path, cell.line, f"the solution cell of {cell.exercise!r} does not define it")
    if not ast.get_docstring(function):
        what = f"{cell.exercise!r} has no docstring; its stub would say nothing"
        raise LessonError(path, cell.line + function.lineno, what)
    try:
        stub = ast.parse(released(cell.source))
    except SyntaxError as error:
        raise LessonError(path, cell.line + (error.lineno or 1), "the stub that is left would not be Python") from None
    body = next(n for n in stub.body if isinstance(n, ast.FunctionDef) and n.name == cell.exercise).body
    if [ast.unparse(node) for node in body[1:]] != [STUB]:
        what = f"what is left of {cell.exercise!r} is more than a stub; begin the solution right after the docstring"
        raise LessonError(path, cell.line, what)


def released(source: str) -> str:
    """What a learner is given of a solution cell: the stub in place of the solution."""
    lines, inside = [], False
    for line in source.splitlines():
        if line.strip() == BEGIN_SOLUTION:
            inside = True
            lines.append(line[: len(line) - len(line.lstrip())] + STUB)
        elif line.strip() == END_SOLUTION:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def _check_names(path: Path, cells: tuple[Cell, ...]) -> None:
    seen: dict[str, int] = {}
    for cell in cells:
        if not cell.name:
            continue
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", cell.name):
            raise LessonError(path, cell.line, f"{cell.name!r} cannot be an id; use letters, digits and _")
        if cell.name in seen:
            raise LessonError(path, cell.line, f"duplicate id {cell.name!r}, first used in line {seen[cell.name]}")
        seen[cell.name] = cell.line


def _check_exercises(path: Path, cells: tuple[Cell, ...]) -> None:
    """Every exercise is set by one prose cell, then one solution cell, then one tests cell, in this order."""
    by_kind = {kind: [c for c in cells if c.kind == kind and c.exercise] for kind in ("prose", "solution", "tests")}
    for cell in by_kind["prose"]:
        if cell.minutes <= 0 or cell.difficulty not in _DIFFICULTIES:
            what = f"exercise {cell.exercise!r} wants minutes above 0 and difficulty 1 to 4"
            raise LessonError(path, cell.line, what)
    order = [c.exercise for c in by_kind["solution"]]
    for kind in ("prose", "tests"):
        for cell in by_kind[kind]:
            if cell.exercise not in order:
                raise LessonError(path, cell.line, f"a {kind} cell of {cell.exercise!r}, which has no solution cell")
        if [c.exercise for c in by_kind[kind]] != order:
            line = by_kind["solution"][0].line if order else 1
            what = f"each exercise wants one {kind} cell of its own, in the order of the solution cells"
            raise LessonError(path, line, what)
    for prose, solution, tests in zip(by_kind["prose"], by_kind["solution"], by_kind["tests"], strict=True):
        if not prose.line < solution.line < tests.line:
            what = f"{solution.exercise!r}: first the prose that sets it, then the solution, then the tests"
            raise LessonError(path, solution.line, what)
