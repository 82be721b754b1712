"""Whole pages: one file that fetches nothing, reads on a phone and in the dark, and runs only what it was given."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["Html", "document", "heading", "rows"]


class Html(str):
    """A piece of a page that is HTML already. Everything else is text and is escaped."""

    __slots__ = ()


_STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --paper: #ffffff; --faint: #5c5c60; --line: #c9c9cd; --well: #f4f4f6;
  --link: #0b5fa5; --jp-ui-font-color1: var(--ink); --jp-ui-font-color2: var(--faint);
  --jp-border-color2: var(--line); }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --paper: #17181b; --faint: #a9a9b2; --line: #45464d;
  --well: #222327; --link: #7db8ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 56rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
.faint { color: var(--faint); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; overflow-wrap: break-word; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
pre { background: var(--well); border-radius: 4px; padding: 0.6rem; overflow-x: auto; overflow-wrap: normal;
  font: 0.85rem/1.45 ui-monospace, monospace; }
img { max-width: 100%; height: auto; background: #ffffff; }
summary { cursor: pointer; }
details { margin: 0.5rem 0; }
@media (max-width: 30rem) { body { padding: 0.6rem; } th, td { padding: 0.25rem 0.35rem; } }
@media print { pre { white-space: pre-wrap; } }
"""


def document(title: str, body: Html, *, style: str = "", scripts: Sequence[str] = ()) -> str:
    """A page as the text of its file.

    scripts: program text that the page may run; without any it runs nothing at all, whatever `body` holds
    """
    nonce = secrets.token_urlsafe(16)
    may_run = f"script-src 'nonce-{nonce}'" if scripts else "script-src 'none'"
    nothing_else = "default-src 'none'; base-uri 'none'; form-action 'none'"
    policy = f"{nothing_else}; {may_run}; style-src 'unsafe-inline'; img-src data:"
    run = "".join(f'<script nonce="{nonce}">{script}</script>' for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>\n<body>{body}{run}</body></html>\n"
    )


def heading(level: int, words: str, *, id: str = "") -> Html:
    """A heading; `id` is what links to it name."""
    return Html(f"<h{level}{f' id={chr(34)}{escape(id)}{chr(34)}' if id else ''}>{escape(words)}</h{level}>")


def rows(names: Sequence[str], lines: Iterable[Sequence[str | float]], *, caption: str = "") -> Html:
    """A table. Numbers stand at the right; text is escaped unless it is Html."""
    body = [list(line) for line in lines]
    numeric = [all(isinstance(line[i], int | float) for line in body) and bool(body) for i in range(len(names))]
    kind = [' class="number"' if number else "" for number in numeric]
    head = "".join(f'<th scope="col"{k}>{escape(name)}</th>' for name, k in zip(names, kind, strict=True))
    cells = "".join(
        f"<tr>{''.join(f'<td{k}>{_cell(value)}</td>' for value, k in zip(line, kind, strict=True))}</tr>"
        for line in body
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return Html(f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div>')


def _cell(value: str | float) -> str:
    if isinstance(value, Html):
        return value
    return escape(value) if isinstance(value, str) else f"{round(value, 2):g}"
