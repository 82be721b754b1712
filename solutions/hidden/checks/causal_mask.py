"""Hidden checks of `causal_mask`."""

from __future__ import annotations

from contextlib import suppress

from attnlab.checking import check_of
from attnlab.compare import difference
from attnlab.placement import heeds_device
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    agrees,
    plain,
)
from solutions.hidden.masks import is_bool, only_tensor

_TABLE = (trace.mask_values, trace.turned_round, trace.only_one_row)


@check_of("causal_mask", points=0.5, kind="contract")
def mask_says_yes_and_no(trial: Trial) -> None:
    """The mask says yes to some pairs and no to others."""
    length = 6
    table = only_tensor(trial.call(length))
    if (table == table.flatten()[0]).all():
        raise Failed("Every entry is the same.", "Compare the position of the query with that of the key.")
    if difference(trial.call(length), plain(table)):
        raise Failed("Two calls with the same length gave different tables.")


@check_of("causal_mask", points=2.0)
def mask_reads_the_past(trial: Trial) -> None:
    """Entry [t, s] is True exactly when s <= t: a query reads its own position and all earlier ones."""
    # 2 is the shortest length with a future; 33 is longer than any table that one would write down
    for length in (2, 5, 33):
        agrees(trial, length, look=_TABLE, help="Which way does the comparison point, and is the diagonal in?")


@check_of("causal_mask", points=0.5, needs=("mask_says_yes_and_no",))
def mask_of_one_position(trial: Trial) -> None:
    """A single position may read itself."""
    agrees(trial, 1, help="Length 1 gives a table of one entry, True.")


@check_of("causal_mask", points=0.5, kind="contract", needs=("mask_says_yes_and_no",))
def mask_is_bool(trial: Trial) -> None:
    """The mask holds True and False, dtype bool."""
    is_bool(only_tensor(trial.call(4)))


@check_of("causal_mask", points=0.5, kind="contract", needs=("mask_says_yes_and_no",))
def mask_is_where_asked(trial: Trial) -> None:
    """The mask is made on the device that the caller names."""
    with suppress(AnswerError):  # for the diagnosis, which does not see the calls on the pretend GPU
        trial.outcome(4, device="meta")
    heeds_device(trial, 4)
