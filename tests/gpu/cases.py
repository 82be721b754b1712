"""Reads cases.txt: what CUDA refuses and what it takes."""

from __future__ import annotations

import copy
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

B, T, D = 2, 5, 8
_NAMES = {"B": B, "T": T, "D": D, "torch": torch, "nn": nn, "F": F, "np": np, "math": math, "copy": copy, "io": io}


@dataclass(frozen=True)
class Case:
    """One case. kind: "refused", "taken" or "unseen". run: its body, a function of x, ids and emb."""

    name: str
    kind: str
    run: Callable[..., Any]


def inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x, ids and emb, on the CPU."""
    random = torch.Generator().manual_seed(0)
    return (
        torch.randn(B, T, D, generator=random),
        torch.randint(10, (B, T), generator=random),
        torch.randn(10, D, generator=random),
    )


def read_cases() -> tuple[Case, ...]:
    """All cases, in the order of the file."""
    blocks = Path(__file__).with_name("cases.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return tuple(map(_case, blocks[2:]))  # what comes before is prose


def _case(block: str) -> Case:
    head, body = block.split("\n", 1)
    kind, name = head.split(": ", 1)
    if kind not in ("refused", "taken", "unseen"):
        raise ValueError(f"cases.txt: no case is {kind!r} ({name})")
    scope = dict(_NAMES)
    exec(compile(f"def run(x, ids, emb):\n{indent(body, '    ')}\n", f"<case {name}>", "exec"), scope)
    return Case(name, kind, scope["run"])
