"""Named faults of lesson greedy_decode, one module a kind."""

from __future__ import annotations

from attnlab.fault import Fault
from solutions.hidden.faults.greedy_decode import (
    beam_search,
    budget,
    choice,
    form,
    model,
    next_token,
    prefixes,
    stopping,
)

FAULTS: tuple[Fault, ...] = (
    *next_token.FAULTS,
    *stopping.FAULTS,
    *budget.FAULTS,
    *choice.FAULTS,
    *prefixes.FAULTS,
    *model.FAULTS,
    *form.FAULTS,
    *beam_search.FAULTS,
)
