"""`sign_off`: run the whole chain, from the mask to a French sentence, on the learner's own code alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from attnlab.chain import take
from attnlab.deadline import TooLongError, deadline
from attnlab.examine import quiet
from attnlab.house import box, div
from attnlab.progressing import Progress, progress
from attnlab.recording import record
from attnlab.translator import Translator, load_translator

__all__ = ["SENTENCES", "SignOff", "sign_off"]

SENTENCES = {
    "the black cat is small": "le chat noir est petit",
    "the weather is lovely today": "le temps est magnifique aujourd'hui",
}
"""Two sentences that the translator never trained on, and what is right."""

_HEADS = ("you ask", "your code says")
_DECODE = ("05_greedy_decode", "seq2seq_greedy_decode")
_SECONDS = 20.0  # two translations take well under one; noted operation by operation, several


@dataclass(frozen=True, repr=False)
class SignOff:
    """Whether the translator is the learner's from end to end, and what is not yet.

    said: each sentence with what the learner's own functions made of it
    """

    signed: bool
    headline: str
    lines: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return "\n".join([self.headline, *(f"  {a}  ->  {b}" for a, b in self.said), *self.lines])

    def _repr_html_(self) -> str:
        """Called by Jupyter."""
        rows = "".join(
            f'<tr><th scope="row" lang="en" style="text-align:left;font-weight:400;">{escape(a)}</th>'
            f'<td lang="fr" style="text-align:left;">{escape(b)}</td></tr>'
            for a, b in self.said
        )
        head = (
            "<thead><tr>"
            + "".join(f'<th scope="col" style="text-align:left;">{h}</th>' for h in _HEADS)
            + "</tr></thead>"
        )
        table = f'<table style="margin:0.4em 0;">{head}<tbody>{rows}</tbody></table>' if rows else ""
        parts = [div("font-weight:600;", escape(self.headline)), table]
        return box("".join([*parts, *(div("margin-top:0.3em;", escape(line)) for line in self.lines)]))


def sign_off() -> SignOff:
    """Translate through the learner's own functions alone, as they are saved, and sign off where all are theirs.

    Raises nothing but KeyboardInterrupt.
    """
    so_far = progress()
    if not so_far.complete:
        return _not_yet(so_far)
    began = time.monotonic()
    try:
        with quiet(), deadline(_SECONDS), torch.no_grad():
            said, borrowed = _translated(take(*_DECODE).function, load_translator())
    except TooLongError:
        return _stuck(f"it ran for more than {_SECONDS:g} seconds")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the learner's functions may do anything
        if time.monotonic() - began >= _SECONDS:  # rung inside PyTorch, the alarm comes back as another error
            return _stuck(f"it ran for more than {_SECONDS:g} seconds")
        return _stuck(f"it raised {type(error).__name__}")
    wrong = [english for english, french in said if french != SENTENCES[english]]
    if borrowed:
        return SignOff(False, f"Not signed yet: the library's {', '.join(borrowed)} ran on the way.", said=said)
    if wrong:
        help = "All public checks pass, so the mistake is a fine one. Lesson 5 says what each symptom means: Break it."
        return SignOff(False, f"Not signed yet: {wrong[0]!r} came out wrong.", (help,), said)
    steps = f"{len(so_far.graded)} functions, {so_far.points:g} points by the public checks"
    return SignOff(
        True,
        "Signed off: every step from the mask to the sentence is yours.",
        (f"{steps}, and no function of the library's in the place of one of yours.",),
        said,
    )


def _translated(decode: Any, translator: Translator) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Each sentence with its translation, and the stand-ins that ran meanwhile."""
    said, ran = [], set()
    for english in SENTENCES:
        outcome = record(decode, translator.arguments(english))
        ran |= {name.removeprefix("stand_in:") for name in outcome.library if name.startswith("stand_in:")}
        said.append((english, translator.text(outcome.value)))
    return tuple(said), sorted(ran)


def _stuck(why: str) -> SignOff:
    return SignOff(False, f"Not signed yet: your seq2seq_greedy_decode did not translate; {why}.")


def _not_yet(so_far: Progress) -> SignOff:
    """Kind words: what there is already, then what is left."""
    if so_far.alone:
        return SignOff(False, repr(so_far))
    passing = [step.exercise.name for step in so_far.graded if step.passes]
    left = [step.exercise.name for step in so_far.graded if not step.passes]
    lines = [f"Yours already: {', '.join(passing)}."] if passing else []
    lines += [f"Not yet: {', '.join(left)}."] if left else []
    many = f"{len(left)} of {len(so_far.graded)} steps are" if len(left) != 1 else "one step is"
    what = f"{many} left" if left else "a stand-in still runs somewhere"
    closing = "Until then the library stands in wherever a later lesson needs a step that is left."
    return SignOff(False, f"Not signed yet: {what}. Take your time.", (*lines, so_far.next, closing))
