"""Inputs for decoding: tables that fix every choice by hand, and one small model whose words tell its state apart.

A table is a model without blocks: w_head is the identity, and the target embedding of a word holds the scores of the
words after it. All its scores are small whole numbers, so every style computes them exactly.

The model's target words point in so many directions of a space of so few dimensions that a small change of the last
hidden state changes the word chosen. It is always the same model, with its words numbered anew by the trial: what a
mistake does to it does not depend on the seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

from attnlab.trial import Trial

__all__ = ["Decoding", "chain", "log_table", "model", "table"]

BASE_SEED = 4793
"""Draws the model: the first seed with which every choice leads by GAP, none falls on a small id, and every fault that
changes what the model computes changes a word."""

GAP = 2e-3
"""How far the best word leads the second: right styles move a score by 1e-5 at most. Rounded to
bfloat16 the best word leads too, so that not even the fault of rounding depends on the trial."""

WORDS = 200
"""Target words of the model: about 0.2 rad apart on the sphere on which a normalised token of four features lies."""

SMALL = 8
"""Ids below this are kept for words that are never chosen: an answer that takes 0 or 2 for special fails elsewhere."""


@dataclass(frozen=True)
class Decoding:
    """The arguments of seq2seq_greedy_decode, and the width for beam_search."""

    src_ids: torch.Tensor
    src_emb: torch.Tensor
    tgt_emb: torch.Tensor
    enc_pos_embed: torch.Tensor
    dec_pos_embed: torch.Tensor
    enc_blocks: torch.Tensor
    dec_blocks: torch.Tensor
    w_head: torch.Tensor
    num_heads: int
    start: int
    eos: int
    budget: int
    width: int | None = None

    @property
    def args(self) -> tuple[Any, ...]:
        """Positional arguments; of beam_search where a width is set."""
        given = tuple(getattr(self, name) for name in self.__dataclass_fields__)
        return given if self.width is not None else given[:-1]

    @property
    def with_empty_blocks(self) -> Decoding:
        """The same choices from one encoder and one decoder block of zeros, for answers that need a block.

        Such a block normalises each token three times, which keeps the order of its scores.
        """
        d = self.tgt_emb.shape[1]
        return replace(
            self, enc_blocks=self.tgt_emb.new_zeros(1, 6, d, d), dec_blocks=self.tgt_emb.new_zeros(1, 12, d, d)
        )

    def to(self, dtype: torch.dtype) -> Decoding:
        """The same with parameters and ids of another dtype."""
        other: dict[str, Any] = {k: v.to(dtype) for k, v in vars(self).items() if isinstance(v, torch.Tensor)}
        return replace(self, **other)


# tables ---------------------------------------------------------------------------------------------------------------


def table(
    trial: Trial,
    scores: torch.Tensor,
    positions: torch.Tensor,
    *,
    start: int,
    eos: int,
    budget: int,
    encoder_blocks: int = 0,
) -> Decoding:
    """A model without decoder blocks that scores the word after w at position p with scores[w] + positions[p].

    scores: (V, V), positions: (P, V)
    """
    V = scores.shape[0]
    S, V_src = 3, 5  # any source will do: without decoder blocks it has no effect
    return Decoding(
        trial.ids(S, high=V_src), trial.normal(V_src, V), scores, trial.normal(S, V), positions,
        trial.normal(encoder_blocks, 6, V, V, scale=0.5), torch.zeros(0, 12, V, V, dtype=torch.float64),
        torch.eye(V, dtype=torch.float64), 1, start, eos, budget,
    )  # fmt: skip


def chain(trial: Trial, follows: Mapping[int, int], vocabulary: int, eos: int) -> torch.Tensor:
    """Scores (V, V), all negative and a whole number apart, in which follows[w] is the best word after w.

    The words of the chain, and EOS, are the last choice wherever they are not due, so that no mixture of rows chooses
    them: a wrong turn leads to a word outside the chain, which is followed by itself. At least one word is outside.
    """
    inside = [*{*follows, *follows.values(), eos}]
    rows = []
    for word in range(vocabulary):
        row = -2.0 - torch.randperm(vocabulary, generator=trial.random).to(torch.float64)
        row[inside] -= 30.0  # more than the others are apart
        row[follows.get(word, word)] = -1.0
        rows.append(row)
    return torch.stack(rows)


def log_table(rows: Sequence[Sequence[float]]) -> torch.Tensor:
    """Scores (V, V) that are log-probabilities: the logarithms of rows of weights, each row made to sum to 1."""
    weights = torch.tensor(rows, dtype=torch.float64)
    return (weights / weights.sum(dim=-1, keepdim=True)).log()


# the model ------------------------------------------------------------------------------------------------------------


@cache
def _base() -> Decoding:
    """The model before its words are renumbered: d = 4, h = 2, E = L = 2, S = 5, P = 6, 8 source words."""
    random = torch.Generator().manual_seed(BASE_SEED)

    def normal(*shape: int, scale: float = 1.0) -> torch.Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64) * scale

    d, S, P, V_src = 4, 5, 6, 8
    directions = normal(d, WORDS)
    directions = directions - directions.mean(dim=0)  # a normalised token has no mean for a head to read
    enc_blocks, dec_blocks = normal(2, 6, d, d), normal(2, 12, d, d)
    dec_blocks[:, 10:] = 0.0
    return Decoding(
        torch.tensor([1.0, 2.0, 3.0, 4.0, 2.0], dtype=torch.float64), normal(V_src, d, scale=2.0),
        normal(WORDS, d, scale=2.0), normal(S, d), normal(P, d), enc_blocks, dec_blocks,
        directions / directions.norm(dim=0), 2, SMALL, 1, 4,
    )  # fmt: skip


def model(
    trial: Trial, *, encoder_blocks: int = 2, decoder_blocks: int = 2, budget: int = 4, noisy: bool = False
) -> Decoding:
    """The model with its first blocks and its words numbered anew; one source word becomes 0. EOS is never chosen.

    noisy: slots 10 and 11 hold noise instead of zeros
    """
    base = _base()
    source = torch.randperm(base.src_emb.shape[0], generator=trial.random)
    small, others = (torch.randperm(n, generator=trial.random) for n in (SMALL, WORDS - SMALL))
    target = torch.cat([small, others + SMALL])
    zero = (source == 0).nonzero()[0, 0]
    middle = int(base.src_ids[1])
    source[zero], source[middle] = source[middle].clone(), 0
    dec_blocks = base.dec_blocks[:decoder_blocks].clone()
    if noisy:  # the same noise for every trial, so that its effect does not depend on the seed
        random = torch.Generator().manual_seed(BASE_SEED)
        dec_blocks[:, 10:] = torch.randn(dec_blocks[:, 10:].shape, generator=random, dtype=torch.float64)
    return replace(
        base,
        src_ids=source[base.src_ids.long()].to(torch.float64),
        src_emb=base.src_emb[source.argsort()],
        tgt_emb=base.tgt_emb[target.argsort()],
        w_head=base.w_head[:, target.argsort()],
        enc_blocks=base.enc_blocks[:encoder_blocks],
        dec_blocks=dec_blocks,
        start=int(target[base.start]),
        eos=int(target[base.eos]),
        budget=budget,
    )
