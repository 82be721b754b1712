"""Named faults of lesson cross_attention."""

from attnlab.fault import Fault

FAULTS: tuple[Fault, ...] = ()
