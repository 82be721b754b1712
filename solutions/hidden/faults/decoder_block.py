"""Named faults of lesson decoder_block."""

from attnlab.fault import Fault

FAULTS: tuple[Fault, ...] = ()
