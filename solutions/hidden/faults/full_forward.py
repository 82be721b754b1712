"""Named faults of lesson full_forward."""

from attnlab.fault import Fault

FAULTS: tuple[Fault, ...] = ()
