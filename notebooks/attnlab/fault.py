"""A named fault: one change to the text of the reference, and the words for whoever makes the same mistake."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Edit", "Fault", "fault"]


@dataclass(frozen=True)
class Edit:
    """Replace `before`, which stands exactly once in the solution cell of `exercise`, by `after`."""

    exercise: str
    before: str
    after: str


@dataclass(frozen=True)
class Fault:
    """One wrong behaviour, made from the reference by a switch and not by a copy.

    id: short and stable, letters, digits and _
    words: completes the sentence "Your output is what one gets if ..."
    help: what to look at or change, in one or two sentences
    symptom: what the learner sees when it happens to them
    """

    id: str
    edits: tuple[Edit, ...]
    words: str
    help: str
    symptom: str

    @property
    def exercise(self) -> str:
        """The exercise whose text it changes first."""
        return self.edits[0].exercise


def fault(id: str, exercise: str, before: str, after: str, *, words: str, help: str, symptom: str) -> Fault:
    """A fault of one edit, which is nearly all of them."""
    return Fault(id, (Edit(exercise, before, after),), words, help, symptom)
