"""What is loaded once lives as long as its process, and in all that are forked from it: nothing for the collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["loading"]


@contextmanager
def loading() -> Iterator[None]:
    """For a block that imports much: the collector looks at none of it, in the block or ever after.

    It would take a sixth of the time of the imports, look at all of it again whenever as much has been made since,
    and by that write to pages that forks share.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
