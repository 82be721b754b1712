"""Take functions out of a saved notebook: its definitions, and of those only the ones that a wanted name needs."""

from __future__ import annotations
import __future__

import ast
import json
import linecache
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

__all__ = ["Definition", "Definitions", "UnreadableError", "read_definitions"]


class UnreadableError(Exception):
    """The file is not a notebook. Says why in a few words."""


@dataclass(frozen=True)
class Definition:
    """One statement that binds names and has no other purpose.

    binds: the names it binds
    reads: the names it may read, now or when it is called
    """

    node: ast.stmt
    label: str
    binds: frozenset[str]
    reads: frozenset[str]


def read_definitions(name: str, text: str) -> Definitions:
    """The definitions of the notebook `text`, in order. Raises UnreadableError where it is none.

    Imports, functions, classes and assignments to plain names are taken from its code cells. Left out are cells that
    are not Python, lines for IPython alone, and the course's own tests cells.
    """
    try:
        cells = json.loads(text)["cells"]
        sources = [(n, _source(cell)) for n, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError("it is not a notebook, or not completely saved") from error
    found: list[Definition] = []
    flags = 0
    for number, source in sources:
        label = f"<{name}, cell {number}>"
        for node in _statements(source):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                flags |= _flags(node)
            elif binds := frozenset(_bound(node)):
                found.append(Definition(node, label, binds, frozenset(_read(node))))
        linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)  # for error messages
    return Definitions(name, tuple(found), flags)


class Definitions:
    """A notebook's definitions, run into a module of their own when a name asks for them, each at most once."""

    def __init__(self, name: str, found: tuple[Definition, ...], flags: int) -> None:
        self._found = found
        self._flags = flags
        self._ran: dict[int, Exception | None] = {}  # number of a definition to what it raised
        self._module = ModuleType(f"notebook_{name}")
        sys.modules[self._module.__name__] = self._module  # dataclasses look their module up there

    def __contains__(self, name: str) -> bool:
        return any(name in definition.binds for definition in self._found)

    def value(self, name: str) -> Any:
        """What `name` is bound to in the end.

        Raises what its last definition raised; what others raise is let be, for they may not matter.
        """
        for n in sorted(self._needed(name) - self._ran.keys()):
            self._ran[n] = self._run(self._found[n])
        last = max(n for n, definition in enumerate(self._found) if name in definition.binds)
        if error := self._ran[last]:
            raise error
        return vars(self._module)[name]

    def under(self, name: str) -> tuple[Any, ...]:
        """What the definitions that `name` rests on have bound, its own included, as far as they have run."""
        bound = {b for n in self._needed(name) for b in self._found[n].binds}
        return tuple(vars(self._module)[b] for b in sorted(bound) if b in vars(self._module))

    def _run(self, definition: Definition) -> Exception | None:
        tree = ast.Module([definition.node], type_ignores=[])
        try:
            exec(compile(tree, definition.label, "exec", self._flags, dont_inherit=True), vars(self._module))
        except Exception as error:
            return error
        return None

    def _needed(self, name: str) -> set[int]:
        """Numbers of the definitions that `name` rests on, its own included."""
        needed: set[int] = set()
        names, seen = [name], {name}
        while names:
            wanted = names.pop()
            for n, definition in enumerate(self._found):
                if n not in needed and not definition.binds.isdisjoint((wanted, "*")):
                    needed.add(n)
                    names += definition.reads - seen
                    seen |= definition.reads
        return needed


_ON_PYTHON = re.compile(r"%%(time|timeit|capture|prun)\b")  # cell magics whose cell is Python of the notebook
_FOR_IPYTHON = re.compile(r"\s*([%!?]|\w+\s*=\s*[%!])|.*\?\s*$")


def _source(cell: Any) -> str:
    """The text of a code cell; "" for a tests cell of the course, which is no work of the learner's."""
    marks = cell["metadata"].get("nbgrader", {})
    if marks.get("grade") and not marks.get("solution"):
        return ""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _statements(source: str) -> list[ast.stmt]:
    """The statements of a cell; none where it is not Python."""
    first = source.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and not _ON_PYTHON.match(first):
        return []
    for text in (source, "\n".join("" if _FOR_IPYTHON.match(line) else line for line in source.splitlines())):
        try:
            return ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return []


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names that a definition binds; nothing for any other statement. "*" for a star import."""
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (a.asname or a.name.split(".")[0] for a in names)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets) if all(map(_is_plain, targets)):
            yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name


def _flags(node: ast.ImportFrom) -> int:
    """The compiler flags of a `from __future__ import`, which in a notebook holds for all later cells."""
    return sum(getattr(__future__, a.name).compiler_flag for a in node.names if hasattr(__future__, a.name))


def _is_plain(target: ast.expr) -> bool:
    """Whether an assignment binds names only, and changes no object."""
    plain = ast.Name | ast.Tuple | ast.List | ast.Starred | ast.expr_context
    return all(isinstance(n, plain) for n in ast.walk(target))


def _read(node: ast.stmt) -> Iterator[str]:
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
