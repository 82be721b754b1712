"""Named faults of lesson mask, one module an exercise."""

from __future__ import annotations

from attnlab.fault import Fault
from solutions.hidden.faults.mask import causal_mask, masked_softmax, padding_mask

FAULTS: tuple[Fault, ...] = (
    *causal_mask.FAULTS,
    *padding_mask.FAULTS,
    *masked_softmax.FAULTS,
)
