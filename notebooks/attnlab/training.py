"""What training needs beside the lesson's own functions: first weights, batches, an optimiser."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from attnlab.corpus import ENGLISH, FRENCH, Pair
from attnlab.vocabulary import EOS, PAD

__all__ = ["AdamW", "as_batch", "batches", "by_length", "gradients", "new_weights", "one_thread"]


def new_weights(d: int, encoder_blocks: int, decoder_blocks: int, seed: int) -> dict[str, Tensor]:
    """Random weights under the argument names of encoder_decoder_forward, each asking for gradients.

    Matrices have standard deviation 1/sqrt(d), so that a product of d terms keeps the size of what goes in. Embeddings
    have 1: as large as the positions that are added to them. Slots 10 and 11 of a decoder block are zero and stay so.
    """
    random = torch.Generator().manual_seed(seed)

    def normal(*shape: int, std: float) -> Tensor:
        return torch.randn(*shape, generator=random) * std

    weights = {
        "src_emb": normal(len(ENGLISH), d, std=1.0),  # (V_src, d)
        "tgt_emb": normal(len(FRENCH), d, std=1.0),  # (V_tgt, d)
        "enc_blocks": normal(encoder_blocks, 6, d, d, std=d**-0.5),
        "dec_blocks": normal(decoder_blocks, 12, d, d, std=d**-0.5),
        "w_head": normal(d, len(FRENCH), std=d**-0.5),  # (d, V_tgt)
    }
    weights["dec_blocks"][:, 10:] = 0.0
    return {name: weight.requires_grad_() for name, weight in weights.items()}


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread inside, then as before; also a decorator.

    The matrices are small: further threads wait for each other more than they work. And sums keep their order.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def as_batch(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor]:
    """Pairs as ids: src (N, S), all equally long; tgt (N, T), each ending in </s>, then filled with <pad>.

    Raises ValueError where the sources differ in length: nothing would mask padding there.
    """
    if len(lengths := {len(pair.english) for pair in pairs}) != 1:
        raise ValueError(f"the sources of one batch must be equally long, not {sorted(lengths)} words")
    src = [ENGLISH.encode(pair.english) for pair in pairs]
    tgt = [[*FRENCH.encode(pair.french), EOS] for pair in pairs]
    longest = max(map(len, tgt))
    return torch.tensor(src), torch.tensor([ids + [PAD] * (longest - len(ids)) for ids in tgt])


def by_length(pairs: Sequence[Pair]) -> dict[int, list[Pair]]:
    """Source length to the pairs of that length, shortest first."""
    found: dict[int, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: len(pair.english)):
        found.setdefault(len(pair.english), []).append(pair)
    return found


def batches(pairs: Sequence[Pair], size: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of at most `size` pairs without end: every pair once, shuffled, then all over again."""
    rng = random.Random(seed)
    while True:
        lots = []
        for group in by_length(pairs).values():
            shuffled = rng.sample(group, len(group))
            lots += [shuffled[i : i + size] for i in range(0, len(group), size)]
        yield from map(as_batch, rng.sample(lots, len(lots)))


def gradients(loss: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """How the loss moves with each weight. Raises ValueError where it cannot, and says why."""
    if not loss.requires_grad:
        raise ValueError(
            "The loss has lost its way back to the weights. Look for no_grad, detach, .item() or numpy in your "
            "functions: right numbers, but nothing to learn from."
        )
    found = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
    unused = [name for name, gradient in zip(weights, found, strict=True) if gradient is None]
    if unused:
        raise ValueError(f"The loss does not depend on {', '.join(unused)}: your forward pass never uses it.")
    return {name: gradient for name, gradient in zip(weights, found, strict=True) if gradient is not None}


class AdamW:
    """AdamW, the optimiser: each weight moves against its gradient, in units of how large that gradient usually is.

    The same arithmetic as torch.optim.AdamW, which takes seconds to import.
    """

    def __init__(self, weights: Mapping[str, Tensor], decay: float = 0.01) -> None:
        self._weights, self._decay = weights, decay
        self._mean = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        self._square = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        self._steps = 0

    @torch.no_grad()
    def step(self, gradients: Mapping[str, Tensor], rate: float) -> None:
        """Change the weights in place; `rate` is about how far one entry moves."""
        self._steps += 1
        beta_1, beta_2, eps = 0.9, 0.98, 1e-8  # 0.98 as in the original paper: it forgets the wild first steps soon
        for name, weight in self._weights.items():
            gradient = gradients[name]
            self._mean[name].lerp_(gradient, 1 - beta_1)
            self._square[name].lerp_(gradient**2, 1 - beta_2)
            mean = self._mean[name] / (1 - beta_1**self._steps)
            size = (self._square[name] / (1 - beta_2**self._steps)).sqrt() + eps
            weight.mul_(1 - rate * self._decay).sub_(rate * mean / size)
