"""Reading what students hand in: every accident gives cells or a reason, never an exception of another kind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.collect import MAX_BYTES, Unreadable, read_file, read_notebook, recognise, take_one
from grader.course import Course
from grader.release import release_text

CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": "# Hello"},
    {
        "cell_type": "code",
        "metadata": {"nbgrader": {"grade_id": "causal_mask"}},
        "source": ["def causal_mask(n):\n", "    pass"],
    },
]
V4 = {"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
V3 = {"worksheets": [{"cells": [{"cell_type": "code", "input": "def causal_mask(n):\n    pass"}]}], "nbformat": 3}


def sources(data: bytes) -> list[str]:
    return [cell.source for cell in read_notebook(data) if cell.is_code]


WANTED = ["def causal_mask(n):\n    pass"]
TEXT = json.dumps(V4)


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        json.dumps(V3).encode(),
        json.dumps({**V4, "nbformat": 5}).encode(),
        json.dumps({**V4, "metadata": {"kernelspec": "nonsense", "language_info": 7}}).encode(),
        TEXT.replace("\\n", "\\r\\n").encode(),
        TEXT.replace("pass", "pass\\u0000").encode(),
    ],
    ids=["plain", "byte-order mark", "utf-16", "nbformat 3", "nbformat 5", "bad metadata", "windows", "null byte"],
)
def test_reads_what_editors_leave_behind(data: bytes) -> None:
    assert sources(data) == WANTED


def test_reads_latin_1() -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": "x = 'café'"}]}, ensure_ascii=False)
    assert sources(text.encode("latin-1")) == ["x = 'café'"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\0\0\0", "empty"),
        (b"<html>sign in</html>", "not JSON"),
        (TEXT.encode()[:50], "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"[1, 2]", "holds no cells"),
        (b'{"cells": 7}', "holds no cells"),
        (json.dumps({"cells": [{}] * 1001}).encode(), "1001 cells"),
        (json.dumps({"cells": [{"cell_type": "code", "source": "x" * 2_000_000}]}).encode(), "characters"),
        (b" " * (MAX_BYTES + 1), "MB"),
    ],
)
def test_says_why_not(data: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read_notebook(data)


KEYS = st.sampled_from(
    ["cells", "source", "metadata", "nbgrader", "grade_id", "id", "cell_type", "worksheets", "input"]
)
TREES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.just("code"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.binary(max_size=200) | TREES.map(lambda tree: json.dumps({"cells": tree}).encode()))
@settings(max_examples=300, deadline=None)
def test_anything_else_is_cells_or_a_reason(data: bytes) -> None:
    try:
        cells = read_notebook(data)
    except Unreadable as reason:
        assert str(reason)
    else:
        assert all(isinstance(cell.source, str) for cell in cells)


def test_recognises_a_lesson_by_its_cells(course: Course) -> None:
    for name, lesson in course.lessons.items():
        data = release_text(lesson).encode()
        assert recognise(read_notebook(data), course.lessons) == name
        bare = json.loads(data)
        for cell in bare["cells"]:
            cell["metadata"] = {}
            cell.pop("id")
        assert recognise(read_notebook(json.dumps(bare).encode()), course.lessons) == name
    empty = nbformat.writes(nbformat.v4.new_notebook()).encode()
    assert recognise(read_notebook(empty), course.lessons) is None


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    with (tmp_path / "big.ipynb").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    for name, words in {
        "link": "link",
        "pipe": "plain file",
        "folder": "plain file",
        "big": "MB",
        "none": "no such",
    }.items():
        with pytest.raises(Unreadable, match=words):
            read_file(tmp_path / f"{name}.ipynb")


def test_takes_exactly_one_notebook(tmp_path: Path) -> None:
    like = {b"a": 0, b"b": 1, b"c": 1}
    with pytest.raises(Unreadable, match="No notebook"):
        take_one(tmp_path, "01_mask", lambda d: like[d])
    (tmp_path / "notes.txt").write_bytes(b"z")
    (tmp_path / "a.ipynb").write_bytes(b"a")
    assert take_one(tmp_path, "01_mask", lambda d: like[d]) == b"a"
    (tmp_path / "c.ipynb").write_bytes(b"c")
    (tmp_path / "b (1).ipynb").write_bytes(b"b")
    assert take_one(tmp_path, "01_mask", lambda d: like[d]) == b"b"
    (tmp_path / "01_mask.ipynb").write_bytes(b"a")
    assert take_one(tmp_path, "01_mask", lambda d: like[d]) == b"a"
