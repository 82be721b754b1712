"""Named faults of lesson mask."""

from attnlab.fault import Fault

FAULTS: tuple[Fault, ...] = ()
