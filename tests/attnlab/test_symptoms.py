"""The table of symptoms in lesson 4 is measured: what a mistake does to the loss of the lesson's own training."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from attnlab.training import batches, new_weights
from attnlab.translator import load_translator
from grader.course import Course

REFERENCE = Course.find(Path(__file__).parent).reference
RIGHT = load_translator().losses


def losses(steps: int, changed: Mapping[str, str]) -> list[float]:
    """The first losses of the full run, with other text for the exercises in `changed`."""
    lesson: Mapping[str, Any] = REFERENCE.namespaces(changed)["04_full_forward"]
    weights = new_weights(lesson["WIDTH"], lesson["BLOCKS"], lesson["BLOCKS"], lesson["SEED"])
    some = list(islice(batches(lesson["SENTENCES"].train, lesson["BATCH"], lesson["SEED"]), steps))
    found: list[float] = lesson["train"](weights, some, lesson["FULL_RUN"])
    return found


def edited(exercise: str, old: str, new: str) -> dict[str, str]:
    source = REFERENCE.sources[exercise]
    assert source.count(old) == 1, f"{exercise} no longer holds {old!r}"
    return {exercise: source.replace(old, new)}


def test_a_missing_normalisation_starts_high() -> None:
    first = losses(1, edited("layer_norm", "return centred / torch.sqrt(variance + 1e-5)", "return x"))
    assert first[0] > 10 > 6 > RIGHT[0] > 4


@pytest.mark.slow
def test_an_unshifted_target_is_learned_too_well() -> None:
    copied = losses(100, edited("shift_right", "torch.cat([first, ids[:, :-1]], dim=1)", "ids"))
    assert sum(copied[-5:]) / 5 < 0.05 < 0.5 < sum(RIGHT[95:100]) / 5 < 1.5


@pytest.mark.slow
def test_an_unread_source_leaves_the_price_of_french() -> None:
    alone = losses(240, edited("decoder_block", "dec + read_source", "dec + 0 * read_source"))
    assert 1.4 < sum(alone[-20:]) / 20 < 2.0
    assert sum(RIGHT[220:240]) / 20 < 0.1
