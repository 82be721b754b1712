"""Named faults of lesson cross_attention, one module an exercise."""

from __future__ import annotations

from attnlab.fault import Fault
from solutions.hidden.faults.cross_attention import (
    attention,
    cross_attention,
    merge_heads,
    multi_head_attention,
    split_heads,
)

FAULTS: tuple[Fault, ...] = (
    *split_heads.FAULTS,
    *merge_heads.FAULTS,
    *attention.FAULTS,
    *multi_head_attention.FAULTS,
    *cross_attention.FAULTS,
)
