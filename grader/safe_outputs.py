"""Make what a student's code showed harmless to whoever opens it: no script, no remote picture, no control characters.

The executed notebook is opened by staff, in a browser that is logged in to the gradebook, and by the student.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import bleach
from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
from nbformat import NotebookNode

__all__ = ["clean_html", "clean_text", "make_safe"]

MAX_HTML = 1 << 16
"""Characters of one piece of HTML; the course's largest has 10,000. The worst takes a second to clean."""

MAX_PROSE = 20_000
"""Characters of one markdown cell, also quadratic in what reads it; the course's longest has 3,000."""

MAX_TOTAL = 1 << 20
"""Characters of HTML, and of prose, in one notebook, so that no feedback takes more than some seconds."""

MAX_DEPTH = 200
"""Elements that lie inside one another; the course's deepest have 12. A browser stops at some hundreds, and the parser
takes the square of it in time."""

_TEXT_TAGS = ("a", "abbr", "b", "br", "code", "del", "em", "i", "img", "kbd", "mark", "q", "small", "span", "strong")
_BLOCK_TAGS = ("blockquote", "details", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "p", "pre", "summary")
_LIST_TAGS = ("dd", "dl", "dt", "li", "ol", "ul", "sub", "sup", "u")
_TABLE_TAGS = ("caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr")
_TAGS = [*_TEXT_TAGS, *_BLOCK_TAGS, *_LIST_TAGS, *_TABLE_TAGS]

_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "th": {"scope", "colspan", "rowspan", "align"},
    "td": {"colspan", "rowspan", "align"},
    "ol": {"start"},
    "details": {"open"},
}

_SIDES = ("", "-bottom", "-left", "-right", "-top")
_STYLES = CSSSanitizer(
    allowed_css_properties=[
        *ALLOWED_CSS_PROPERTIES,
        *(f"{name}{side}" for name in ("border", "margin", "padding") for side in _SIDES),
        *("background", "border-radius", "flex-wrap", "gap", "max-width", "min-width", "opacity"),
    ]
)
"""Nothing that takes an element out of its place: no `position`."""

_CODE = re.compile(r"<(script|style|template)\b.*?(</\1\s*>|\Z)", re.I | re.S)
_FETCHES = re.compile(r"url|image|src|@|\\", re.I)  # what can make a style ask another machine; \ spells anything
_PICTURE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*\Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+\Z")
_CLASS = re.compile(r"(?!.*mermaid)[a-z][a-z0-9 -]*\Z")  # highlighted code, tables; nothing that a page brings to life

_COLOUR = r"\x1b\[[0-9;]*m"
_CONTROL = re.compile(
    rf"({_COLOUR})|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?"
    r"|[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
"""Colours, which are kept; then what sets titles and clipboards, moves the cursor, and other control characters."""

_SHOWN_ELSEWHERE = "[This output is interactive. Run the notebook to see it.]"


def clean_html(text: Any) -> str:
    """HTML that runs nothing and fetches nothing: text, tables, plain styles, pictures that it holds itself.

    Called by nbconvert, too, for markdown cells and outputs, in place of its own filter of this name, which shows
    headings and paragraphs as their source.
    """
    return _cleaned(str(text))


@lru_cache(maxsize=100)  # of a class, most show the same; the largest pages together take some megabytes
def _cleaned(text: str) -> str:
    if len(text) > MAX_HTML or _depth(text) > MAX_DEPTH:
        return f"<pre>{bleach.clean(text[:MAX_HTML], tags=[])}</pre>"
    text = _CODE.sub("", text)  # bleach would leave as text what these hold
    return bleach.clean(
        text, tags=_TAGS, attributes=_allowed, protocols=["http", "https", "mailto", "data"], css_sanitizer=_STYLES,
        strip=True,
    )  # fmt: skip


def clean_text(text: str) -> str:
    """Text without control characters, but for line ends, tabs, backspaces and colours."""
    return _CONTROL.sub(lambda found: found.group(1) or "", text)


def make_safe(notebook: NotebookNode) -> None:
    """Make an executed notebook harmless to look at, in place.

    What stays of outputs: text, plain pictures, errors, and HTML as `clean_html` leaves it. Prose stays as it is, for
    nbconvert to clean, and is cut where no person wrote so much.
    """
    pages, prose = _Allowance(MAX_TOTAL), _Allowance(MAX_TOTAL)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            if not prose.covers(len(cell.source), MAX_PROSE):
                cell.source = cell.source[:1000] + "\n\n[The rest of this text is too long to be shown.]"
            continue
        for output in cell.outputs:
            _clean(output, pages)


@dataclass
class _Allowance:
    """Characters that a notebook may still spend."""

    left: int

    def covers(self, size: int, most: int) -> bool:
        """Whether a piece of this size is affordable and not larger than `most`; it is spent if so."""
        if size > min(self.left, most):
            return False
        self.left -= size
        return True


def _clean(output: NotebookNode, pages: _Allowance) -> None:
    if output.output_type == "stream":
        output.text = clean_text(output.text)
    elif output.output_type == "error":
        output.ename, output.evalue = clean_text(output.ename), clean_text(output.evalue)
        output.traceback = [clean_text(line) for line in output.traceback]
    else:
        output.data = _data(output.data, pages)
        output.metadata = NotebookNode({mime: size for mime in output.data if (size := _size(output.metadata, mime))})


def _data(data: NotebookNode, pages: _Allowance) -> NotebookNode:
    kept = NotebookNode()
    for mime, value in data.items():
        if not isinstance(value, str):
            continue
        if mime in ("text/plain", "text/latex"):  # LaTeX is shown escaped, and typeset by a MathJax that takes no links
            kept[mime] = clean_text(value)
        elif mime == "text/html":
            if pages.covers(len(value), MAX_HTML):
                kept[mime] = clean_html(value)
        elif mime in ("image/png", "image/jpeg") and _BASE64.match(value):
            kept[mime] = value
    if not kept and data:
        kept["text/plain"] = _SHOWN_ELSEWHERE
    return kept


def _size(metadata: Any, mime: str) -> dict[str, int]:
    """Width and height of a picture; they end up in the page without quotation marks."""
    said = metadata.get(mime) if isinstance(metadata, dict) else None
    if not isinstance(said, dict) or not mime.startswith("image/"):
        return {}
    return {name: said[name] for name in ("width", "height") if type(said.get(name)) is int}


def _allowed(tag: str, name: str, value: str) -> bool:
    """Called by bleach for each attribute, after it has looked at the protocols of links."""
    if name == "style":
        return not _FETCHES.search(value)
    if name == "class":
        return bool(_CLASS.match(value))
    if name not in _ATTRIBUTES.get(tag, ()):
        return False
    if name == "src":
        return bool(_PICTURE.match(value))
    return name != "href" or not value.strip().lower().startswith("data:")


def _depth(text: str) -> int:
    """At most how many elements lie inside one another."""
    depth = deepest = 0
    for tag in re.finditer(r"<(/?)[a-zA-Z]", text):
        depth = depth - 1 if tag.group(1) else depth + 1
        depth = max(depth, 0)
        deepest = max(deepest, depth)
    return deepest
