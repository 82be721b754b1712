"""Named faults of lesson decoder_block, one module an exercise."""

from __future__ import annotations

from attnlab.fault import Fault
from solutions.hidden.faults.decoder_block import decoder_block, feed_forward, gelu, layer_norm

FAULTS: tuple[Fault, ...] = (
    *layer_norm.FAULTS,
    *gelu.FAULTS,
    *feed_forward.FAULTS,
    *decoder_block.FAULTS,
)
