"""A submission whose every word wants to run in the browser of whoever reads its feedback."""

from __future__ import annotations

import nbformat
from nbformat import NotebookNode

from grader.course import Course
from grader.release import release_text

RUNS = "document.documentElement.dataset.ran='yes'"
"""What all of it would do."""

WORDS = (
    f"<script>{RUNS}</script>",
    f'<img src=x onerror="{RUNS}">',
    f'<svg onload="{RUNS}"><script>{RUNS}</script></svg>',
    f"<iframe srcdoc=\"<script>parent.{RUNS}</script>\"></iframe>",
    f'</code></pre></div></details><body onload="{RUNS}">',
    f'<a href="javascript:{RUNS}" id="bait">bait</a>',
    f'<details open ontoggle="{RUNS}">x</details>',
    f'"><input autofocus onfocus="{RUNS}">',
    f'<form action="https://example.invalid/"><button formaction="javascript:{RUNS}">x</button></form>',
    '<meta http-equiv="refresh" content="0;url=https://example.invalid/">',
    '<link rel="stylesheet" href="https://example.invalid/a.css"><img src="https://example.invalid/a.png">',
    "<style>body { background: url(https://example.invalid/b.png); display: none }</style>",
    '<p style="background:url(https://example.invalid/c.png);position:fixed;inset:0">x</p>',
    f"<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror={RUNS}&gt;\">",
    f"<noscript><p title=\"</noscript><img src=x onerror={RUNS}>\">",
    f"]]>\x1b[31m\x1b]0;title\x07<plaintext onmouseover={RUNS}>",
)  # fmt: skip


def hostile_notebook(course: Course, lesson: str) -> NotebookNode:
    """An executed notebook of this lesson with these words wherever a student's own may stand."""
    notebook = nbformat.reads(release_text(course.lesson(lesson)), as_version=4)
    new_output = nbformat.v4.new_output
    for i, words in enumerate(WORDS):
        outputs = [
            new_output("stream", name="stdout", text=words),
            new_output("stream", name="stderr", text=words),
            new_output("error", ename=words, evalue=words, traceback=[words]),
            new_output("display_data", data={"text/html": words, "text/plain": words}),
            new_output("display_data", data={"text/plain": words, "application/javascript": RUNS}),
            new_output("display_data", data={"image/svg+xml": words, "text/markdown": words, "text/latex": words}),
            new_output("display_data", data={"image/png": f'x" onerror="{RUNS}'}),
            new_output("display_data", data={"text/html": [words]}),
        ]
        notebook.cells.append(nbformat.v4.new_code_cell(words, id=f"added-{i}", outputs=outputs))
        notebook.cells.append(nbformat.v4.new_markdown_cell(words, id=f"added-{i}-prose"))
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = "\n".join(WORDS)
            cell.outputs = [new_output("display_data", data={"text/html": words}) for words in WORDS]
    return notebook
