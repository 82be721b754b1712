"""Placeholder until the real module lands in this session."""
from typing import Any


def check(function: Any) -> Any:
    raise NotImplementedError
