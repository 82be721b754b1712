"""Named faults of lesson full_forward, one module an exercise."""

from __future__ import annotations

from attnlab.fault import Fault
from solutions.hidden.faults.full_forward import (
    encode,
    encoder_block,
    encoder_decoder_forward,
    parameter_count,
    positional_encoding,
    sequence_loss,
    shift_right,
)

FAULTS: tuple[Fault, ...] = (
    *positional_encoding.FAULTS,
    *shift_right.FAULTS,
    *encoder_block.FAULTS,
    *encode.FAULTS,
    *encoder_decoder_forward.FAULTS,
    *sequence_loss.FAULTS,
    *parameter_count.FAULTS,
)
