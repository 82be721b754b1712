"""`progress` and `sign_off`: what the saved notebooks hold, whose code runs, what is next; and they never raise."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest

from attnlab import chain, progress, sign_off
from attnlab.exercises import EXERCISES, LESSONS
from attnlab.progressing import Progress, Step
from attnlab.signing import SENTENCES
from grader.course import Course

Write = Callable[..., None]
STRETCH = "beam_search"
DECODE = "seq2seq_greedy_decode"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worked: Write) -> Write:
    """Writes the worked notebooks beside each other, where `progress` then looks; answers as in `worked`."""
    monkeypatch.setenv(chain.FOLDER, str(tmp_path))
    return lambda answers=None: worked(tmp_path, answers)


def step(seen: Progress, name: str) -> Step:
    return next(step for step in seen.steps if step.exercise.name == name)


def changed(course: Course, exercise: str, old: str, new: str) -> Mapping[str, str]:
    source = course.reference.sources[exercise]
    assert source.count(old) == 1
    return {exercise: source.replace(old, new)}


def test_everything_is_the_learners(write: Write) -> None:
    write({STRETCH: None})
    seen = progress()
    assert seen.complete
    assert (seen.points, seen.max_points) == (100.0, 100.0)
    assert all(step.own and step.runs_on == "your own code alone" for step in seen.graded)
    assert seen.next.startswith("Every exercise passes, on your own code alone. beam_search is left")
    write()
    assert "beam_search" not in progress().next


def test_nothing_is_written(write: Write) -> None:
    write(dict.fromkeys(EXERCISES))
    seen = progress()
    assert not seen.complete
    assert seen.points == 0
    assert seen.headline == "0 of 100 points by the public checks; 0 of 21 exercises pass."
    assert seen.next == "Next: write causal_mask in 01_mask. Its 4 checks say what it must do."


def test_a_stand_in_is_named_however_deep_it_lies(write: Write) -> None:
    write({"masked_softmax": None})
    seen = progress()
    assert step(seen, "masked_softmax").mark.word == "open"
    assert step(seen, "split_heads").own  # rests on nothing
    for name in ("attention", "multi_head_attention", "cross_attention", "decoder_block", DECODE):
        assert step(seen, name).passes and not step(seen, name).own
        assert step(seen, name).taken.stand_ins == ("masked_softmax",)
    assert step(seen, DECODE).runs_on == "your code, with the library's masked_softmax under it"
    assert seen.points == 92


def test_points_of_a_half_right_answer_count(write: Write, course: Course) -> None:
    write(changed(course, "causal_mask", "device=device", "device=None"))
    half = step(progress(), "causal_mask")
    assert (half.points, half.mark.word) == (3.5, "not yet")
    assert half.taken.findings
    seen = next(result for result in half.taken.findings.results if result.name == "made_on_the_device")
    said = f"Yours does not pass yet: made_on_the_device. {seen.rationale} {seen.help}"
    assert seen.rationale and progress().next == f"Next: causal_mask in 01_mask. {said}"


BROKEN = {
    "no notebook": "{",
    "not a notebook": '{"cells": 3}',
    "cells that are none": '{"cells": [{}]}',
    "nothing": "",
    "no text": "\x00",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_notebook_costs_its_lesson_only(text: str, write: Write, tmp_path: Path) -> None:
    write()
    (tmp_path / "02_cross_attention" / "02_cross_attention.ipynb").write_text(text)
    seen = progress()
    assert [s.passes for s in seen.steps if s.exercise.lesson == "02_cross_attention"] == [False] * 5
    assert all(s.passes for s in seen.steps if s.exercise.lesson != "02_cross_attention")
    assert "cannot be read" in seen.next
    assert step(seen, "decoder_block").taken.stand_ins == ("multi_head_attention", "cross_attention")


def test_folders_and_bytes_in_the_place_of_notebooks(write: Write, tmp_path: Path) -> None:
    write()
    (tmp_path / "01_mask" / "01_mask.ipynb").write_bytes(b"\xff\xfe")
    path = tmp_path / "03_decoder_block" / "03_decoder_block.ipynb"
    path.unlink()
    path.mkdir()
    seen = progress()
    assert not step(seen, "causal_mask").passes and not step(seen, "gelu").passes
    assert step(seen, "next_token").own


def test_answers_that_raise_exit_or_do_not_end(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_SECONDS", 2.0)
    write(
        {
            "causal_mask": "def causal_mask(length, device=None):\n    while True: pass",
            "padding_mask": "padding_mask = exit(3)",
            "masked_softmax": "def masked_softmax(scores, allowed=None): return 1 / 0",
            "gelu": "def gelu(u) return u",
            "merge_heads": "del merge_heads",
        }
    )
    seen = progress()
    assert "ran for more than" in step(seen, "causal_mask").runs_on
    assert "its cells raise SystemExit" in step(seen, "padding_mask").runs_on
    assert step(seen, "masked_softmax").mark.word == "not yet"
    assert "does not define it" in step(seen, "gelu").runs_on
    assert not step(seen, "merge_heads").passes


def test_what_does_not_end_is_waited_for_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_SECONDS", 2.0)
    tries: list[int] = []
    monkeypatch.setattr(builtins, "_tries", tries, raising=False)
    write({"masked_softmax": "def masked_softmax(scores, allowed=None):\n    _tries.append(1)\n    while True: pass"})
    seen = progress()
    assert len(tries) == 1  # and not once more for the lesson that takes it
    assert step(seen, DECODE).taken.stand_ins == ("masked_softmax",)
    assert seen.next == "Next: masked_softmax in 01_mask. Yours ran for more than 2 seconds."
    progress()
    assert len(tries) == 2  # but each time anew


def test_no_notebooks_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chain.FOLDER, str(tmp_path))
    said = "No notebooks of the course lie beside this one. To see how far you are, open"
    assert repr(progress()).startswith(said)
    monkeypatch.setenv(chain.FOLDER, "")  # as in grading, where nobody should read "0 of 100 points"
    assert repr(progress()).startswith(said) and "points" not in progress()._repr_html_()
    assert not sign_off().signed and repr(sign_off()) == repr(progress())


class _Outline(HTMLParser):
    """Tags, scopes of heads, and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scopes: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.scopes += [value or "" for name, value in attrs if name == "scope"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_both_forms_say_the_same_and_the_page_is_accessible(write: Write) -> None:
    write({"masked_softmax": None, "gelu": "def gelu(u): raise ValueError('<script>alert(1)</script>')"})
    seen = progress()
    page = _Outline()
    page.feed(seen._repr_html_())
    assert page.tags.count("tr") == 1 + len(LESSONS) + len(EXERCISES)
    assert page.tags.count("caption") == 1 and "script" not in page.tags
    assert (page.scopes.count("col"), page.scopes.count("row")) == (4, len(EXERCISES))
    assert page.scopes.count("rowgroup") == len(LESSONS)
    for words in (seen.headline, seen.next, *(s.runs_on for s in seen.steps), *(s.mark.word for s in seen.steps)):
        assert words in page.text
        assert words in " ".join(repr(seen).split())
    assert max(map(len, repr(seen).splitlines())) <= 100


# the last cell of the course ------------------------------------------------------------------------------------------


def test_signs_off_on_the_learners_own_code(write: Write) -> None:
    write()
    signed = sign_off()
    assert signed.signed
    assert dict(signed.said) == SENTENCES
    assert "every step from the mask to the sentence is yours" in repr(signed)
    assert all(french in repr(signed) for french in SENTENCES.values())


def test_does_not_sign_where_a_step_is_left(write: Write) -> None:
    write({"masked_softmax": None})
    unsigned = sign_off()
    assert not unsigned.signed and not unsigned.said
    assert unsigned.headline == "Not signed yet: one step is left. Take your time."
    assert "Not yet: masked_softmax." in unsigned.lines
    assert not re.search("wrong|fail|mistake", repr(unsigned))


def test_does_not_sign_a_stand_in_that_came_by_another_way(write: Write) -> None:
    """Called by its full name, no definition of the notebook holds it; but it notes that it ran."""
    borrowed = (
        "def layer_norm_of_others(x):\n    import attnlab.stand_ins as s\n    return s.STAND_INS['layer_norm'](x)\n\n"
        "def encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads):\n"
        "    enc = src_emb[src_ids.long()] + enc_pos_embed\n"
        "    for b in enc_blocks:\n"
        "        enc = layer_norm_of_others(enc + multi_head_attention(enc, enc, *b[:4], num_heads))\n"
        "        enc = layer_norm_of_others(enc + feed_forward(enc, b[4], b[5]))\n"
        "    return enc"
    )
    write({"encode": borrowed})
    assert progress().complete
    assert sign_off().headline == "Not signed yet: the library's layer_norm ran on the way."


def test_says_so_where_the_translation_is_wrong_or_does_not_end(
    write: Write, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_big = changed(
        course,
        DECODE,
        "seq = [start_token_id]",
        "seq = [start_token_id]\n    dec_pos_embed = dec_pos_embed if len(src_emb) < 20 else 0 * dec_pos_embed",
    )
    write(only_big)  # small examples do not show it
    wrong = sign_off()
    assert not wrong.signed and wrong.said and "came out wrong" in wrong.headline
    monkeypatch.setattr("attnlab.signing._SECONDS", 2.0)
    write(
        changed(course, DECODE, "seq = [start_token_id]", "seq = [start_token_id]\n    while len(src_emb) > 20: pass")
    )
    assert "it ran for more than" in sign_off().headline
    write(changed(course, DECODE, "seq = [start_token_id]", "seq = [start_token_id]\n    1 / (len(src_emb) < 20)"))
    assert "it raised ZeroDivisionError" in sign_off().headline
