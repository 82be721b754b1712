"""Turn a kernel's messages into a cell's outputs: only what nbformat knows, only text and plain data, only so much."""

from __future__ import annotations

import json
import math
from typing import Any

from nbformat import NotebookNode

__all__ = ["Budget", "CellOutputs", "error_output"]

MAX_DEPTH = 32  # of JSON in an output; a figure has about 8
_LINE = 14  # bytes that each further line of a text costs: nbformat writes it on a line of its own, indented
MAX_MIME = 100  # characters of a type's name
_JSON_TYPES = ("application/json", "+json")


class Budget:
    """How many bytes of output a notebook may still store."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.left = total

    def take(self, size: int) -> bool:
        """Whether so many bytes fit; they are gone if they do."""
        if size > self.left:
            return False
        self.left -= size
        return True


class CellOutputs:
    """Collects the outputs of one cell.

    displays: outputs by display id, of the whole notebook, so that a later cell can update an earlier one's
    """

    def __init__(self, budget: Budget, displays: dict[str, list[NotebookNode]]) -> None:
        self._budget = budget
        self._displays = displays
        self._outputs: list[NotebookNode] = []
        self._parts: list[str] = []  # of the last output, while that is a stream
        self._clear_next = False
        self._cut = False

    def take(self, kind: Any, content: Any) -> None:
        """Add what one message says. Whatever is not an output, or not well formed, is passed over."""
        if not isinstance(content, dict):
            return
        match kind:
            case "stream":
                self._stream(content.get("name"), content.get("text"))
            case "display_data" | "execute_result" | "error":
                self._add(kind, content)
            case "update_display_data":
                self._update(content)
            case "clear_output":
                if content.get("wait"):
                    self._clear_next = True
                else:
                    self._clear()

    def add(self, output: NotebookNode) -> None:
        """Add an output of our own, whatever the budget."""
        self._flush()
        self._outputs.append(output)

    def left_out(self) -> None:
        """Note that something of this cell's output did not arrive."""
        self._cut = True

    def finished(self) -> list[NotebookNode]:
        """The outputs, with a note where some were left out."""
        self._flush()
        if self._cut:
            size = f"{self._budget.total / (1 << 20):.3g} MiB"
            note = f"[The rest of this output was left out: a notebook may store {size} of output.]\n"
            self._outputs.append(NotebookNode(output_type="stream", name="stderr", text=note))
        return self._outputs

    def _stream(self, name: Any, text: Any) -> None:
        if name not in ("stdout", "stderr") or not isinstance(text, str):
            return
        self._clear_if_waiting()
        text = _text(text)
        fitting = _beginning(text, self._budget.left)
        self._cut |= len(fitting) < len(text)
        self._budget.take(_stored(fitting))
        last = self._outputs[-1] if self._outputs else None
        if last is None or last.output_type != "stream" or last.name != name:
            self._flush()
            if not fitting:
                return
            self._outputs.append(NotebookNode(output_type="stream", name=name, text=""))
        self._parts.append(fitting)

    def _add(self, kind: str, content: dict[str, Any]) -> None:
        output = _output(kind, content)
        if output is None:
            return
        self._clear_if_waiting()
        self._flush()
        if not self._budget.take(_size(output)):
            self._cut = True
            return
        self._outputs.append(output)
        if name := _display_id(content):
            self._displays.setdefault(name, []).append(output)

    def _update(self, content: dict[str, Any]) -> None:
        new = _output("display_data", content)
        if new is None:
            return
        for output in self._displays.get(_display_id(content) or "", ()):
            if self._budget.take(max(_size(new) - _size(output), 0)):
                output.data, output.metadata = new.data, new.metadata
            else:
                self._cut = True

    def _clear_if_waiting(self) -> None:
        if self._clear_next:
            self._clear()

    def _clear(self) -> None:
        self._parts.clear()
        self._outputs.clear()
        self._clear_next = False

    def _flush(self) -> None:
        """Write the collected parts of a stream into it."""
        if self._parts:
            self._outputs[-1].text += "".join(self._parts)
            self._parts.clear()


def error_output(name: str, words: str) -> NotebookNode:
    """An output that says what befell a cell."""
    return NotebookNode(output_type="error", ename=name, evalue=words, traceback=[words])


def _output(kind: str, content: dict[str, Any]) -> NotebookNode | None:
    if kind == "error":
        name, value, lines = content.get("ename"), content.get("evalue"), content.get("traceback")
        if not isinstance(lines, list):
            lines = []
        return NotebookNode(
            output_type="error", ename=_text(str(name)[:200]), evalue=_text(str(value)[:10_000]),
            traceback=[_text(line) for line in lines if isinstance(line, str)],
        )  # fmt: skip
    data = content.get("data")
    if not isinstance(data, dict):
        return None
    bundle = {_text(k): v for k, v in ((k, _of_type(k, v)) for k, v in data.items()) if v is not None}
    metadata = _plain(content.get("metadata"), 0)
    output = NotebookNode(output_type=kind, data=bundle, metadata=metadata if isinstance(metadata, dict) else {})
    if kind == "execute_result":
        count = content.get("execution_count")
        output.execution_count = count if type(count) is int and 0 <= count < 1 << 31 else None
    return output


def _of_type(mime: str, value: Any) -> Any:
    """A MIME bundle's value as nbformat wants it, or None: JSON for JSON types, text for all others."""
    if len(mime) > MAX_MIME:
        return None
    if mime.endswith(_JSON_TYPES):
        return _plain(value, 0)
    return _text(value) if isinstance(value, str) else None


def _plain(value: Any, depth: int) -> Any:
    """Plain data that can be written as JSON text; None in place of what cannot."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_plain(v, depth + 1) for v in value]
    if isinstance(value, dict):
        return {_text(k): _plain(v, depth + 1) for k, v in value.items() if isinstance(k, str)}
    return value if value is None or isinstance(value, bool | int) else None


def _text(text: str) -> str:
    """Text that can be stored as UTF-8: lone surrogates are replaced."""
    return text.encode("utf-8", "replace").decode()


def _size(output: NotebookNode) -> int:
    text = json.dumps(output)
    return len(text) + _LINE * text.count("\\n")


def _stored(text: str) -> int:
    """Bytes of a text in a notebook's file."""
    return len(json.dumps(text)) + _LINE * text.count("\n")


def _beginning(text: str, most: int) -> str:
    """As much of a text as is stored in so many bytes, or a little less."""
    text = text[:most]
    while text and (size := _stored(text)) > most:
        text = text[: len(text) * most // size * 9 // 10]
    return text


def _display_id(content: dict[str, Any]) -> str | None:
    transient = content.get("transient")
    name = transient.get("display_id") if isinstance(transient, dict) else None
    return name if isinstance(name, str) else None
