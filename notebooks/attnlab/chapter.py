"""The textbook chapter's four printed figures, computed anew in the chapter's own convention.

The chapter's programs are in C. Their convention is not the course's, and the lessons say so: weights are stored
(out, in) and used as `W x`, so `x @ W.T` here; RMSNorm stands in front of each sublayer (pre-norm); there is one head,
narrower than the model; hidden keys get the score -1e9. All numbers are float32, as in C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = [
    "Attention",
    "CrossAttentionExample",
    "Decoder",
    "DecoderBlockExample",
    "Encoder",
    "Model",
    "NormPlace",
    "attention",
    "causal_tables",
    "cross_attention_example",
    "decoder_block",
    "decoder_block_example",
    "draw_model",
    "encoder_block",
    "full_forward",
    "full_forward_example",
    "microsoft_rand",
    "rms_norm",
]

NormPlace = Literal["pre", "post"]
"""pre: x + f(norm(x)), the chapter's. post: norm(x + f(x)), the original paper's and this course's."""

HIDDEN_SCORE = -1e9  # the chapter's stand-in for minus infinity
RAND_MAX = 0x7FFF  # Microsoft's; glibc's is 2^31 - 1
SEED = 42  # both of the chapter's random programs call srand(42)


@dataclass(frozen=True)
class Attention:
    """One head: w_q, w_k, w_v are (d_k, d), w_o is (d, d_k)."""

    w_q: Tensor
    w_k: Tensor
    w_v: Tensor
    w_o: Tensor


@dataclass(frozen=True)
class Encoder:
    """An encoder block: w_1 is (d_ff, d), w_2 is (d, d_ff)."""

    self_attention: Attention
    w_1: Tensor
    w_2: Tensor


@dataclass(frozen=True)
class Decoder:
    """A decoder block: w_1 is (d_ff, d), w_2 is (d, d_ff)."""

    self_attention: Attention
    cross_attention: Attention
    w_1: Tensor
    w_2: Tensor


@dataclass(frozen=True)
class Model:
    """A whole model: one embedding (V, d) for both languages, blocks, and the output matrix w_out (V, d)."""

    embedding: Tensor
    encoders: tuple[Encoder, ...]
    decoders: tuple[Decoder, ...]
    w_out: Tensor


@dataclass(frozen=True)
class CrossAttentionExample:
    """enc (5, 6) and dec (3, 6), a word for each row; w_q, w_k, w_v (4, 6), chosen by hand so that the words align."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    enc: Tensor
    dec: Tensor
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor


@dataclass(frozen=True)
class DecoderBlockExample:
    """enc (4, 6) and dec (3, 6), a word for each row of dec; the block's weights, d_k = 3 and d_ff = 12."""

    target: tuple[str, ...]
    enc: Tensor
    dec: Tensor
    weights: Decoder


def microsoft_rand(seed: int) -> Iterator[int]:
    """What `rand()` of the Microsoft C runtime gives after `srand(seed)`: integers 0 ... RAND_MAX, without end.

    The printed figures come from this generator: with glibc's the same programs print other numbers.
    """
    state = seed
    while True:
        state = (state * 214013 + 2531011) % 2**32
        yield (state >> 16) & RAND_MAX


def rms_norm(x: Tensor) -> Tensor:
    """x (..., d) over its root mean square; unlike layer norm it subtracts no mean."""
    return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)


def attention(x_q: Tensor, x_kv: Tensor, weights: Attention, *, causal: bool = False) -> Tensor:
    """One head: queries from x_q (T, d), keys and values from x_kv (S, d). Returns (T, d)."""
    q, k, v = x_q @ weights.w_q.T, x_kv @ weights.w_k.T, x_kv @ weights.w_v.T  # (T, d_k), (S, d_k), (S, d_k)
    future = torch.ones(len(q), len(k), dtype=torch.bool).triu(1)
    penalty = torch.zeros(len(q), len(k)).masked_fill(future, HIDDEN_SCORE) if causal else None
    return F.scaled_dot_product_attention(q[None], k[None], v[None], penalty)[0] @ weights.w_o.T


def encoder_block(x: Tensor, weights: Encoder, norm: NormPlace = "pre") -> Tensor:
    """Self-attention, then feed-forward, on x (S, d). Returns (S, d)."""
    x = _sublayer(x, lambda n: attention(n, n, weights.self_attention), norm)
    return _sublayer(x, lambda n: _feed_forward(n, weights.w_1, weights.w_2), norm)


def decoder_block(x: Tensor, enc: Tensor, weights: Decoder, norm: NormPlace = "pre") -> Tensor:
    """Causal self-attention, cross-attention to enc (S, d) as it stands, feed-forward, on x (T, d). Returns (T, d)."""
    x = _sublayer(x, lambda n: attention(n, n, weights.self_attention, causal=True), norm)
    x = _sublayer(x, lambda n: attention(n, enc, weights.cross_attention), norm)
    return _sublayer(x, lambda n: _feed_forward(n, weights.w_1, weights.w_2), norm)


def full_forward(src_ids: Tensor, tgt_ids: Tensor, model: Model, norm: NormPlace = "pre") -> Tensor:
    """src_ids (S,) and tgt_ids (T,) integers to raw logits (T, V)."""
    enc = model.embedding[src_ids] + _sinusoids(len(src_ids), model.embedding.shape[1])
    for encoder in model.encoders:
        enc = encoder_block(enc, encoder, norm)
    dec = model.embedding[tgt_ids] + _sinusoids(len(tgt_ids), model.embedding.shape[1])
    for decoder in model.decoders:
        dec = decoder_block(dec, enc, decoder, norm)
    return dec @ model.w_out.T


def draw_model(blocks: int = 1, seed: int = SEED) -> Model:
    """The chapter's random model: V = 10, d = 8, d_k = 4, d_ff = 16, `blocks` blocks a side (the chapter has 1).

    Drawn in the program's order: embedding, encoder blocks, decoder blocks, output matrix.
    """
    draw, d, d_k, d_ff, vocabulary = _drawer(seed), 8, 4, 16, 10
    embedding = draw(vocabulary, d, 0.3)
    encoders = tuple(
        Encoder(_attention(draw, d, d_k, 0.1), draw(d_ff, d, 0.1), draw(d, d_ff, 0.1)) for _ in range(blocks)
    )
    decoders = tuple(_decoder(draw, d, d_k, d_ff, 0.1) for _ in range(blocks))
    return Model(embedding, encoders, decoders, draw(vocabulary, d, 0.1))


def causal_tables() -> tuple[Tensor, Tensor]:
    """Figure 1: attention weights (5, 5) when all scores are equal, without and with the causal mask."""
    scores = torch.ones(5, 5)
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    return scores.softmax(dim=-1), scores.masked_fill(future, HIDDEN_SCORE).softmax(dim=-1)


def cross_attention_example() -> CrossAttentionExample:
    """Figure 2: what goes in. Queries are dec @ w_q.T, keys enc @ w_k.T, values enc @ w_v.T."""
    w_q = torch.tensor([
        [0.65, 3.69, -1.87, -0.15, 1.01, 2.19],
        [1.19, 2.48, 3.21, -0.19, 2.68, -1.47],
        [0.53, -0.21, 0.76, 0.54, 0.05, -0.20],
        [2.14, -1.92, 2.03, 2.77, -0.98, -0.06],
    ])  # fmt: skip
    w_k = torch.tensor([
        [-0.32, 0.95, -0.99, 0.91, -0.08, -0.61],
        [-0.08, 0.94, 0.26, -0.26, 0.94, -0.46],
        [-0.03, 0.24, 1.05, 0.46, -0.33, -0.01],
        [1.11, -1.27, 1.03, -0.12, 0.27, 0.73],
    ])  # fmt: skip
    w_v = torch.eye(4, 6)  # a value is the first four features of the source word
    return CrossAttentionExample(tuple(_SOURCE), _TARGET, _rows(*_SOURCE), _DEC.clone(), w_q, w_k, w_v)


def decoder_block_example() -> DecoderBlockExample:
    """Figure 3: what goes in; `decoder_block(e.dec, e.enc, e.weights)` is what the chapter prints."""
    return DecoderBlockExample(
        _TARGET,
        _rows("I", "love", "big", "cats"),
        _DEC.clone(),
        _decoder(_drawer(SEED), d=6, d_k=3, d_ff=12, scale=0.15),
    )


def full_forward_example() -> tuple[Tensor, Tensor, Model]:
    """Figure 4: what goes in, as the arguments of `full_forward`; the softmax of its rows is printed."""
    return torch.tensor([1, 3, 5, 7]), torch.tensor([0, 2, 4]), draw_model()


_SOURCE = {
    "I": (0.5, 0.1, -0.3, 0.8, 0.2, -0.1),
    "love": (0.3, 0.7, 0.1, -0.2, 0.5, 0.4),
    "big": (-0.1, 0.4, 0.6, 0.3, -0.4, 0.2),
    "fat": (0.2, -0.3, 0.5, 0.6, 0.1, -0.5),
    "cats": (0.8, 0.2, -0.1, 0.4, 0.3, 0.6),
}
"""The encoder's output for each source word, as printed."""

_TARGET = ("J'", "aime", "les")
_DEC = torch.tensor([
    [0.4, 0.6, -0.2, 0.3, 0.1, 0.5],
    [0.1, 0.3, 0.5, -0.1, 0.4, -0.3],
    [0.6, -0.1, 0.2, 0.7, -0.2, 0.3],
])  # fmt: skip
"""The decoder's state for each target word, as printed."""

_Draw = Callable[[int, int, float], Tensor]


def _rows(*words: str) -> Tensor:
    return torch.tensor([_SOURCE[word] for word in words])


def _drawer(seed: int) -> _Draw:
    """A function (rows, columns, scale) -> weights between -scale and scale, drawn row by row from one stream."""
    stream = microsoft_rand(seed)

    def draw(rows: int, columns: int, scale: float) -> Tensor:
        integers = torch.tensor(list(islice(stream, rows * columns)), dtype=torch.float32)
        return ((integers / RAND_MAX * 2 - 1) * scale).reshape(rows, columns)

    return draw


def _attention(draw: _Draw, d: int, d_k: int, scale: float) -> Attention:
    return Attention(draw(d_k, d, scale), draw(d_k, d, scale), draw(d_k, d, scale), draw(d, d_k, scale))


def _decoder(draw: _Draw, d: int, d_k: int, d_ff: int, scale: float) -> Decoder:
    return Decoder(
        _attention(draw, d, d_k, scale), _attention(draw, d, d_k, scale), draw(d_ff, d, scale), draw(d, d_ff, scale)
    )


def _sublayer(x: Tensor, f: Callable[[Tensor], Tensor], norm: NormPlace) -> Tensor:
    return x + f(rms_norm(x)) if norm == "pre" else rms_norm(x + f(x))


def _feed_forward(x: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return F.gelu(x @ w_1.T, approximate="tanh") @ w_2.T


def _sinusoids(length: int, d: int) -> Tensor:
    """Sinusoidal positions (length, d), d even: sine and cosine of the same angle side by side."""
    angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, d, 2) / d)  # (length, d/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, d)
