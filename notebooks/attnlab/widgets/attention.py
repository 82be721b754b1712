"""The record of one attention, and what it says in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from attnlab.pictures import Table

__all__ = ["AXES", "NEAR_ONE", "Attention", "Kind", "as_weights", "numbered", "quoted", "tokens_of"]

Kind = Literal["encoder", "decoder", "cross"]

NAMES: dict[Kind, str] = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}
AXES: dict[Kind, tuple[str, str]] = {
    "encoder": ("query (source position, attends)", "key (source position, attended to)"),
    "decoder": ("query (decoder position, attends)", "key (decoder position, attended to)"),
    "cross": ("query (decoder position, attends)", "key (source position, attended to)"),
}
"""Titles of the axes: queries down, keys across."""

NEAR_ONE = 1e-3  # a row of half-precision weights is off by less
TOLD = 3  # rows that a sentence names; more are counted


@dataclass(frozen=True, eq=False)
class Attention:
    """The weights of one attention, as some function made them.

    kind, layer: where in the model; layers count from 0
    weights: (h, T, S), float64 on the CPU
    queries, keys: T and S words
    allowed: bool (T, S), True where the key may be read; None where nothing is hidden, or nobody knows
    made_by: whose function made them, for the title
    """

    kind: Kind
    weights: torch.Tensor
    layer: int = 0
    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    allowed: torch.Tensor | None = None
    made_by: str = ""

    def __post_init__(self) -> None:
        _, T, S = self.weights.shape
        for words, length, axis in ((self.queries, T, "query"), (self.keys, S, "key")):
            if words and len(words) != length:
                raise ValueError(
                    f"Weights of shape {tuple(self.weights.shape)} want {length} {axis} words; there are {len(words)}."
                )
        object.__setattr__(self, "queries", self.queries or tokens_of(None, T))
        object.__setattr__(self, "keys", self.keys or tokens_of(None, S))

    @property
    def title(self) -> str:
        """Which tensor this is and its shape, so that nobody takes one attention for another."""
        h, T, S = self.weights.shape
        block = "encoder" if self.kind == "encoder" else "decoder"
        by = f", {self.made_by}" if self.made_by else ""
        return f"{NAMES[self.kind]}, {block} block {self.layer}: weights (h={h}, T={T}, S={S}){by}"

    def window(self, first_query: int, first_key: int, length: int) -> Attention:
        """At most `length` queries and keys, from these on."""
        q, k = slice(first_query, first_query + length), slice(first_key, first_key + length)
        allowed = None if self.allowed is None else self.allowed[q, k]
        return replace(self, weights=self.weights[:, q, k], allowed=allowed, queries=self.queries[q], keys=self.keys[k])

    def query(self, t: int) -> str:
        return f"query {t} {quoted(self.queries[t])}"

    def key(self, s: int) -> str:
        return f"key {s} {quoted(self.keys[s])}"

    def strongest(self, head: int, t: int, count: int = 2) -> list[tuple[int, float]]:
        """The keys that query t reads most, with their weights; none where the row is zero or not a number."""
        row = self.weights[head, t]
        best = row.nan_to_num(-1.0).argsort(descending=True, stable=True)[:count]
        return [(int(s), float(row[s])) for s in best if row[s] > 0]

    def line(self, head: int, t: int) -> str:
        """One row in words."""
        row = self.weights[head, t]
        if row.isnan().any():
            return f"{self.query(t)}: its weights are not numbers (NaN)."
        read = self.strongest(head, t)
        if not read:
            return f"{self.query(t)} reads nothing: all its weights are 0."
        (s, weight), *others = read
        more = "".join(f", then at {self.key(o)} ({w:.2f})" for o, w in others)
        return f"{self.query(t)} looks most at {self.key(s)} ({weight:.2f}){more}."

    def table(self, head: int) -> Table:
        """The strongest keys of each query."""
        rows = []
        for t, word in enumerate(self.queries):
            read = [f"{s} {self.keys[s]}" for s, _ in self.strongest(head, t)]
            weights = [f"{w:.2f}" for _, w in self.strongest(head, t)]
            pairs = [cell for pair in zip(read, weights, strict=True) for cell in pair]
            rows.append((f"{t} {word}", *pairs, *[""] * (4 - len(pairs))))
        return Table(("query", "looks most at", "weight", "then at", "weight"), tuple(rows))

    def leaks(self) -> torch.Tensor:
        """bool (h, T, S), True where a hidden key has a weight all the same."""
        if self.allowed is None:
            return torch.zeros_like(self.weights, dtype=torch.bool)
        return ~self.allowed & (self.weights != 0)  # NaN among them

    def warnings(self) -> tuple[str, ...]:
        """What no attention may do, each named by its row."""
        sums, many = self.weights.sum(dim=-1), len(self.weights) > 1
        nan = self.weights.isnan().any(dim=-1)
        off = ~nan & ((sums - 1).abs() > NEAR_ONE) & (self.weights != 0).any(dim=-1)
        told = [*self._rows(nan, many, lambda *_: "is NaN, not a number")]
        told += self._rows(off, many, lambda h, t: f"sums to {float(sums[h, t]):.3g}, not to 1")
        told += self._rows((self.weights < 0).any(dim=-1), many, lambda *_: "has a weight below 0")

        def leak(h: int, t: int) -> str:
            s = int(self.leaks()[h, t].nonzero()[0])
            return f"reads {self.key(s)}, which is hidden ({float(self.weights[h, t, s]):.2g})"

        return (*told, *self._rows(self.leaks().any(dim=-1) & ~nan, many, leak))

    def _rows(self, which: torch.Tensor, many: bool, what: Any) -> list[str]:
        """Rows (h, T) in words; the first few by name."""
        found = which.nonzero().tolist()
        told = [f"{f'head {h}, ' if many else ''}{self.query(t)} {what(h, t)}." for h, t in found[:TOLD]]
        if len(found) > TOLD:
            told[-1] = told[-1].removesuffix(".") + f"; and {len(found) - TOLD} rows more like it."
        return told


def as_weights(values: Any, what: str = "weights") -> torch.Tensor:
    """Weights (T, S), (h, T, S) or (L, h, T, S), torch or nested lists, as (L, h, T, S) float64 on the CPU.

    Raises ValueError in words for anything else.
    """
    try:
        tensor = values if isinstance(values, torch.Tensor) else torch.as_tensor(values, dtype=torch.float64)
        tensor = tensor.detach().to("cpu", torch.float64)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{what}: rows of equally many numbers are wanted, not {type(values).__name__}.") from None
    if not 2 <= tensor.dim() <= 4:
        raise ValueError(
            f"{what}: the shape (T, S), (h, T, S) or (L, h, T, S) is wanted; this one is {tuple(tensor.shape)}."
        )
    if not tensor.numel():
        raise ValueError(f"{what}: there is nothing to see in the shape {tuple(tensor.shape)}.")
    return tensor.reshape((1,) * (4 - tensor.dim()) + tuple(tensor.shape))


def quoted(word: str) -> str:
    """A word in quotation marks that it does not hold itself."""
    return f'"{word}"' if "'" in word else f"'{word}'"


def numbered(words: Sequence[str], first: int = 0) -> tuple[str, ...]:
    """Words with their positions before them; a word that is its position stands alone."""
    return tuple(word if word == str(n) else f"{n} {word}" for n, word in enumerate(words, first))


def tokens_of(words: Sequence[str] | str | None, length: int) -> tuple[str, ...]:
    """These words, or those of a sentence, or position numbers where there are none."""
    if words is None:
        return tuple(map(str, range(length)))
    return tuple(map(str, words.split() if isinstance(words, str) else words))
