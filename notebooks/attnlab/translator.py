"""The trained translator: weights that are shipped, ready for the learner's own seq2seq_greedy_decode."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor

from attnlab.corpus import ENGLISH, FRENCH
from attnlab.vocabulary import BOS, EOS

__all__ = ["Translator", "load_translator"]


@dataclass(frozen=True)
class Translator:
    """A trained model.

    weights: by the argument names of encoder_decoder_forward, float32; the two position tables hold as many rows as
        the longest sentence may have words
    num_heads: h
    losses: the loss at each step of the run that made the weights
    """

    weights: dict[str, Tensor]
    num_heads: int
    losses: tuple[float, ...]

    @property
    def longest(self) -> int:
        """How many words a source may have, and how many may be appended."""
        return min(len(self.weights["enc_pos_embed"]), len(self.weights["dec_pos_embed"]))

    def source(self, text: str) -> Tensor:
        """The ids of an English sentence, (S,), as floats. Raises ValueError in words for what it cannot read."""
        ids = ENGLISH.encode(text)
        if len(ids) > self.longest:
            raise ValueError(f"This sentence has {len(ids)} words; I read at most {self.longest}.")
        return torch.tensor(ids, dtype=torch.float32)

    def arguments(self, text: str, max_new_tokens: int | None = None) -> tuple[Any, ...]:
        """The twelve arguments of seq2seq_greedy_decode for an English sentence."""
        src_ids, w = self.source(text), self.weights
        budget = self.longest if max_new_tokens is None else max_new_tokens
        return (
            src_ids, w["src_emb"], w["tgt_emb"], w["enc_pos_embed"][: len(src_ids)], w["dec_pos_embed"],
            w["enc_blocks"], w["dec_blocks"], w["w_head"], self.num_heads, BOS, EOS, budget,
        )  # fmt: skip

    def text(self, ids: Iterable[int] | Tensor) -> str:
        """French ids as a sentence, as far as the first </s>."""
        return FRENCH.decode(ids.tolist() if isinstance(ids, Tensor) else ids)

    def words(self, ids: Iterable[int] | Tensor) -> list[str]:
        """French ids as words, one each, <s> and </s> among them."""
        return [FRENCH.words[int(i)] for i in (ids.tolist() if isinstance(ids, Tensor) else ids)]


def load_translator() -> Translator:
    """The translator whose weights are shipped with this package."""
    tensors = load((files("attnlab") / "weights" / "translator.safetensors").read_bytes())
    losses, num_heads = tensors.pop("losses"), int(tensors.pop("num_heads"))
    return Translator(tensors, num_heads, tuple(losses.tolist()))
