"""Named faults of lesson greedy_decode."""

from attnlab.fault import Fault

FAULTS: tuple[Fault, ...] = ()
