"""Inputs of the recorded examples. The same numbers on every machine: integers are mixed, nothing is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["EXAMPLES", "Example", "ids", "numbers", "table_model"]

F64 = torch.float64


@dataclass(frozen=True)
class Example:
    """One call whose right value is on record.

    inputs: makes the arguments, anew each time
    """

    exercise: str
    inputs: Callable[[], tuple[Any, ...]]


def numbers(seed: int, *shape: int, scale: float = 1.0) -> torch.Tensor:
    """Numbers without visible order, mean 0 and standard deviation `scale`, float64."""
    mixed = _mixed(seed, shape) / 2**32  # 0 ... 1
    return (2.0 * mixed.to(F64) - 1.0) * math.sqrt(3.0) * scale  # even on (-sqrt(3), sqrt(3)): variance 1


def ids(seed: int, *shape: int, high: int) -> torch.Tensor:
    """Ids 0 ... high - 1 without visible order, held as floats."""
    return (_mixed(seed, shape) % high).to(F64)


def _mixed(seed: int, shape: tuple[int, ...]) -> torch.Tensor:
    """Whole numbers 0 ... 2^32 - 1: counters, scrambled by two rounds of multiply and shift as hash functions do."""
    n = torch.arange(math.prod(shape), dtype=torch.int64) + 7919 * seed  # a prime, so that seeds do not overlap soon
    for odd in (2654435761, 2246822519):  # large odd multipliers spread neighbours over all 32 bits
        n = (n * odd) % 2**32
        n = n ^ (n >> 15)
    return n.reshape(shape)


def _block(seed: int, slots: int, d: int) -> torch.Tensor:
    """Weights (slots, d, d), strong enough that every fault shows."""
    return numbers(seed, slots, d, d, scale=1.5 / math.sqrt(d))


def _decoder_slots(seed: int, d: int) -> torch.Tensor:
    """A decoder block (12, d, d) whose unused slots hold zeros."""
    return torch.cat([_block(seed, 10, d), torch.zeros(2, d, d, dtype=F64)])


def _weights(seed: int, d: int, E: int, L: int, V_src: int, V_tgt: int, S: int, P: int) -> tuple[torch.Tensor, ...]:
    """src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head."""
    enc_blocks = (
        torch.stack([_block(seed + 10 + e, 6, d) for e in range(E)]) if E else torch.zeros(0, 6, d, d, dtype=F64)
    )
    dec_blocks = (
        torch.stack([_decoder_slots(seed + 20 + b, d) for b in range(L)]) if L else torch.zeros(0, 12, d, d, dtype=F64)
    )
    return (
        numbers(seed, V_src, d),
        numbers(seed + 1, V_tgt, d),
        numbers(seed + 2, S, d),
        numbers(seed + 3, P, d),
        enc_blocks,
        dec_blocks,
        numbers(seed + 4, d, V_tgt),
    )


def _forward(seed: int, E: int, L: int) -> tuple[Any, ...]:
    """Arguments of the forward pass: N = 2, S = 3, T = 4, d = 8, two heads, vocabularies of 6 and 5, id 0 present."""
    src_ids = torch.tensor([[0, 5, 2], [3, 1, 0]], dtype=F64)
    tgt_ids = torch.tensor([[1, 0, 4, 2], [2, 2, 3, 0]], dtype=F64)
    return (src_ids, tgt_ids, *_weights(seed, 8, E, L, 6, 5, 3, 4), 2)


def _decode(seed: int) -> tuple[Any, ...]:
    """Arguments of the greedy decode: S = 3, d = 8, two heads, two blocks a side, seven tokens at most.

    Seed 3973 gives a lively sentence: six different words, another one without the causal mask, another best beam.
    """
    src_ids = torch.tensor([0, 5, 2], dtype=F64)
    return (src_ids, *_weights(seed, 8, 2, 2, 6, 9, 3, 7), 2, 1, 8, 7)


def table_model(scores: torch.Tensor, positions: int) -> tuple[Any, ...]:
    """The first nine arguments of a decode by look-up: no blocks, row a of `scores` (V, V) scores what follows id a."""
    V = scores.shape[0]
    return (
        torch.tensor([1.0, 0.0], dtype=F64),
        numbers(1, 2, V),
        scores.to(F64),
        numbers(2, 2, V),
        torch.zeros(positions, V, dtype=F64),
        torch.zeros(0, 6, V, V, dtype=F64),
        torch.zeros(0, 12, V, V, dtype=F64),
        torch.eye(V, dtype=F64),
        1,
    )


def _detour() -> tuple[Any, ...]:
    """A look-up model whose best first word (1) leads nowhere good, and whose second best (2) leads to a sure end."""
    likely = torch.full((5, 5), 0.02, dtype=F64)  # the rest of each row, so that no probability is zero
    likely[0, 1], likely[0, 2] = 0.5, 0.4
    likely[1] = torch.tensor([0.21, 0.19, 0.22, 0.2, 0.18], dtype=F64)
    likely[2, 4] = 0.9
    likely[3, 4] = 0.5
    return (*table_model((likely / likely.sum(1, keepdim=True)).log(), 3), 0, 4, 3)


_pad = torch.tensor([[5, 2, 0, 0], [0, 3, 3, 1]], dtype=F64)
_allowed = torch.tensor([[True, True, False, True], [False, True, True, False], [True, False, False, False]])

EXAMPLES: dict[str, Example] = {
    "causal_mask/four": Example("causal_mask", lambda: (4,)),
    "padding_mask/three": Example("padding_mask", lambda: (_pad.long(), 3)),
    "masked_softmax/plain": Example("masked_softmax", lambda: (numbers(1, 3, 4), None)),
    "masked_softmax/masked": Example("masked_softmax", lambda: (numbers(2, 3, 4), _allowed.clone())),
    "masked_softmax/large": Example("masked_softmax", lambda: (numbers(3, 3, 4, scale=1e3), None)),
    "split_heads/two": Example("split_heads", lambda: (numbers(1, 2, 3, 8), 2)),
    "merge_heads/two": Example("merge_heads", lambda: (numbers(1, 2, 2, 3, 4),)),
    "attention/narrow": Example("attention", lambda: (numbers(1, 2, 1), numbers(2, 3, 1), numbers(3, 3, 1), None)),
    "attention/wide": Example("attention", lambda: (numbers(4, 3, 6), numbers(5, 5, 6), numbers(6, 5, 2), None)),
    "attention/masked": Example(
        "attention", lambda: (numbers(7, 3, 1), numbers(8, 4, 1), numbers(9, 4, 2), _allowed.clone())
    ),
    "multi_head_attention/one": Example(
        "multi_head_attention",
        lambda: (numbers(1, 2, 3, 4), numbers(2, 2, 4, 4), *_block(3, 4, 4), 1, None),
    ),
    "multi_head_attention/two": Example(
        "multi_head_attention",
        lambda: (numbers(4, 2, 3, 6), numbers(5, 2, 4, 6), *_block(6, 4, 6), 2, None),
    ),
    "cross_attention/two": Example(
        "cross_attention", lambda: (numbers(1, 2, 3, 6), numbers(2, 2, 4, 6), _decoder_slots(3, 6), 2)
    ),
    "layer_norm/plain": Example("layer_norm", lambda: (numbers(1, 2, 3, 6, scale=2.0) + 1.0,)),
    # a variance of 1e-5, as large as eps itself
    "layer_norm/faint": Example("layer_norm", lambda: (numbers(2, 2, 3, 6, scale=3e-3) + 0.5,)),
    "gelu/near": Example("gelu", lambda: (torch.linspace(-0.5, 0.5, 9, dtype=F64),)),
    "gelu/far": Example("gelu", lambda: (torch.linspace(-3.5, -1.5, 9, dtype=F64),)),
    "feed_forward/wide": Example("feed_forward", lambda: (numbers(1, 2, 3, 4), numbers(2, 4, 7), numbers(3, 7, 4))),
    "decoder_block/two": Example(
        "decoder_block", lambda: (numbers(1, 2, 4, 8), numbers(2, 2, 3, 8), _decoder_slots(3, 8), 2)
    ),
    "positional_encoding/even": Example("positional_encoding", lambda: (5, 6)),
    "positional_encoding/odd": Example("positional_encoding", lambda: (4, 5)),
    "shift_right/four": Example("shift_right", lambda: (torch.tensor([[1, 4, 2, 5], [6, 0, 3, 2]], dtype=F64), 1)),
    "encoder_block/two": Example("encoder_block", lambda: (numbers(1, 2, 3, 8), _block(2, 6, 8), 2)),
    "encode/none": Example("encode", lambda: _encode(1, 0)),
    "encode/two": Example("encode", lambda: _encode(1, 2)),
    "encoder_decoder_forward/none": Example("encoder_decoder_forward", lambda: _forward(40, 0, 0)),
    "encoder_decoder_forward/two": Example("encoder_decoder_forward", lambda: _forward(80, 2, 2)),
    "sequence_loss/plain": Example("sequence_loss", lambda: (numbers(1, 2, 3, 5), ids(2, 2, 3, high=5))),
    "sequence_loss/padded": Example(
        "sequence_loss", lambda: (numbers(3, 2, 3, 5), torch.tensor([[4, 2, 0], [1, 0, 0]], dtype=F64), 0)
    ),
    "sequence_loss/large": Example("sequence_loss", lambda: (numbers(5, 2, 3, 5, scale=1e3), ids(6, 2, 3, high=5))),
    "parameter_count/encoder": Example("parameter_count", lambda: (8, 24, 1, 0)),
    "parameter_count/decoder": Example("parameter_count", lambda: (8, 24, 0, 1)),
    "parameter_count/paper": Example("parameter_count", lambda: (512, 2048, 6, 6)),
    "seq2seq_greedy_decode/model": Example("seq2seq_greedy_decode", lambda: _decode(3973)),
    "beam_search/one": Example("beam_search", lambda: (*_decode(3973), 1)),
    "beam_search/detour": Example("beam_search", lambda: (*_detour(), 2)),
    "beam_search/model": Example("beam_search", lambda: (*_decode(3973), 3)),
}
"""Name (exercise/what is special about it) to example."""


def _encode(seed: int, E: int) -> tuple[Any, ...]:
    """Arguments of encode: N = 2, S = 3, d = 8, two heads, a vocabulary of 6."""
    src_emb, _, enc_pos_embed, _, enc_blocks, _, _ = _weights(seed, 8, E, 0, 6, 5, 3, 1)
    return torch.tensor([[0, 5, 2], [3, 1, 0]], dtype=F64), src_emb, enc_pos_embed, enc_blocks, 2
