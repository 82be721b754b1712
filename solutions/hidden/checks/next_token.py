"""Hidden checks of `next_token`."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.placement import stays_on_device
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import readable, untouched
from solutions.hidden.decoding import INTEGERS


@check_of("next_token", points=0.375, kind="contract")
def token_depends_on_the_scores(trial: Trial) -> None:
    """An id of the vocabulary that follows the scores, the same on every call."""
    V = 256  # so many, and so near each other, that a draw never falls on the same word three times
    found = []
    for best in (200, 200, 200, 7, 90):
        scores = torch.zeros(V, dtype=torch.float64)
        scores[best] = 1.0
        found.append(_id(trial.call(scores), V))
    if len(set(found[:3])) != 1:
        raise Failed("Calls with the same scores gave different ids.", "Greedy decoding never samples.")
    if len(set(found)) != 3:
        raise Failed("Different scores gave the same id.", "The id is the index of the largest score.")


def _id(value: Any, vocabulary: int) -> int:
    if readable(value) and value.numel() == 1:
        value = value.reshape(()).item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Failed(f"It returned {describe(value)}; one id is wanted.", "Return int(...) of an index.")
    if value != int(value if abs(value) < 2**53 else -1) or not 0 <= value < vocabulary:  # beyond 2^53 no id, nor NaN
        raise Failed(
            "It returned a number that is no id of the vocabulary.", "An index, not a score, and counted from 0."
        )
    return int(value)


@check_of("next_token", points=0.75)
def token_has_the_largest_score(trial: Trial) -> None:
    """The index of the largest score, wherever it stands."""
    for best in (0, 3, 6):
        scores = torch.randperm(7, generator=trial.random).to(torch.float64) - 3.0
        scores[best] = 4.0
        agrees(trial, scores, help="The first and the last id are ids like any other.")


@check_of("next_token", points=0.375)
def token_of_negative_scores(trial: Trial) -> None:
    """Scores may all be negative, and small in size is not large."""
    for best in (2, 5):  # never id 0, at which a search from 0 would stay
        scores = -5.0 - torch.randperm(6, generator=trial.random).to(torch.float64)
        scores[best] = -4.0
        agrees(trial, scores, help="Begin the search with the first score, not with 0.")
    agrees(
        trial, torch.tensor([2.0, -9.0, 3.0, -4.0], dtype=torch.float64), help="A large negative score is a small one."
    )


@check_of("next_token", points=0.75)
def token_of_a_tie_is_the_smallest(trial: Trial) -> None:
    """Of exactly equal scores the smallest index is taken."""
    lift = float(torch.randint(1, 5, (), generator=trial.random))
    for pattern in _TIES:
        agrees(
            trial,
            torch.tensor(pattern, dtype=torch.float64) + lift,
            help="argmax and max() keep the first; topk and sort need not.",
        )


_TIES: tuple[tuple[int, ...], ...] = (
    (0, 2, 1, 2, 2),
    (1, 1),
    (3, 0, 1, 2, 3, 0, 3),
    (0,) * 40,
    (0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1),
)
"""Patterns of ties, with two and with many winners. topk takes a later one in some of them, and so does any search that
lets an equal score win."""


@check_of("next_token", points=0.5)
def token_of_close_scores(trial: Trial) -> None:
    """Close scores are no tie, however close."""
    for low, high in ((1.0, 1.001), (1e-17, 2e-17), (-2e-17, -1e-17)):
        scores = torch.tensor([low - 1.0, low, high, low - 2.0], dtype=torch.float64)
        agrees(
            trial,
            scores,
            help="Compare the scores as they are: softmax, rounding and short dtypes make ties of close ones.",
        )


@check_of("next_token", points=0.375)
def token_of_extreme_scores(trial: Trial) -> None:
    """Scores near the limits of their dtype are compared like others."""
    for dtype in (torch.float64, torch.float32):
        most = torch.finfo(dtype).max
        agrees(trial, torch.tensor([-most, most / 2, most, 0.0], dtype=dtype), help="exp of such a score overflows.")
        agrees(
            trial, torch.tensor([-most, -most / 2, -most / 4, -most], dtype=dtype), help="No fixed number is lowest."
        )


@check_of("next_token", points=0.25, needs=("token_depends_on_the_scores",))
def token_of_one_word(trial: Trial) -> None:
    """A vocabulary of one word has one answer."""
    agrees(trial, trial.normal(1), help="Do not squeeze the only axis away.")


@check_of("next_token", points=0.375, kind="contract", needs=("token_depends_on_the_scores",))
def token_is_an_integer(trial: Trial) -> None:
    """The id is an int, or a 0-dim tensor of integers on the scores' device."""
    value = trial.call(trial.normal(6))
    whole = isinstance(value, torch.Tensor) and value.shape == () and value.dtype in INTEGERS
    if not whole and (isinstance(value, bool | torch.Tensor) or not isinstance(value, int)):
        raise Failed(
            f"It returned {describe(value)}; an int is wanted.", "int(...) makes one of a tensor of one entry."
        )
    stays_on_device(trial, trial.normal(6))


@check_of("next_token", points=0.25, kind="contract", needs=("token_depends_on_the_scores",))
def token_leaves_scores_alone(trial: Trial) -> None:
    """The scores are unchanged afterwards."""
    untouched(trial, trial.normal(6))
