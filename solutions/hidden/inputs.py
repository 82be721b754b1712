"""Crafted inputs: the models on which mistakes show, drawn so that they show whatever the seed.

All tensors are float64. Weight matrices are multiples of orthogonal ones, so no draw is weak by accident; where scores
are huge the draw is repeated until no two keys of a row are near each other, so that every right style agrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch.nn import functional as F

from attnlab.trial import Trial

__all__ = [
    "BLOCK_NAMES", "CALM", "MODEL_NAMES", "BlockInputs", "Model", "Size", "decoder_inputs", "encoder_inputs",
    "feed_forward_far", "feed_forward_near", "model", "noisy_slots", "redrawn", "self_scores", "strided", "weights",
    "word_ids",
]  # fmt: skip

STRONG = 1.5
"""Scale of ordinary weights: scores are of the order of 2, so that attention is neither flat nor one key alone."""

CALM = 0.8
"""Scale of w_q and w_k of a single block: scores of the order of 0.6, so that no row's exponentials are all tiny, which
only a mistake in the denominator would show, and that by luck."""

FAINT = 3e-3
"""Scale of tokens whose variance, about 9e-6, is near the norm's eps of 1e-5."""

SHARP = 60.0
"""Factor on w_q and w_k: scores near 1e4, where exp without the row's maximum overflows (from 710 on in float64)."""

HUGE = 1e5
"""Factor on w_q and w_k: scores near 1e11, above every finite penalty in use and below the 1e12 that styles can do."""

STEEP, GENTLE = 6.0, 0.15
"""Scales of the feed-forward weights of a single block: most pre-activations are far from 0, where every form of GELU
agrees, so that the erf form stays at half of the tolerance and the next nearest mistake at twice it. Which form it is
shows in the inputs made for that alone. A normalised token of 12 features gives at most 6 * sqrt(12) = 20.8, where a
tanh made of exponentials still holds in float64: it has inputs of its own, too."""

NEAR = -3.0
"""Pre-activation at which the tanh and the erf form of GELU differ by a tenth of their value."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Size:
    """N examples, S source and T target positions, width d, h heads, E encoder and L decoder blocks, vocabularies.

    d = 12 is wide enough that no token's variance comes near eps by chance.
    """

    N: int = 3
    S: int = 6
    T: int = 4
    d: int = 12
    h: int = 4
    E: int = 2
    L: int = 3
    V_src: int = 9
    V_tgt: int = 7


BLOCK = Size(N=2, S=3, T=3, d=8, h=2, E=1, L=1, V_src=6, V_tgt=5)
"""For contracts and movements: small, since nothing is compared with the reference."""


@dataclass(frozen=True)
class BlockInputs:
    """What one block reads. dec (N, T, d), enc (N, S, d), block (12, d, d) or (6, d, d)."""

    dec: torch.Tensor
    enc: torch.Tensor
    block: torch.Tensor
    num_heads: int

    @property
    def args(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]:
        """The arguments of decoder_block."""
        return self.dec, self.enc, self.block, self.num_heads


@dataclass(frozen=True)
class Model:
    """A whole encoder-decoder with a batch of ids. Shapes as in encoder_decoder_forward; ids are held as floats."""

    src_ids: torch.Tensor
    tgt_ids: torch.Tensor
    src_emb: torch.Tensor
    tgt_emb: torch.Tensor
    enc_pos_embed: torch.Tensor
    dec_pos_embed: torch.Tensor
    enc_blocks: torch.Tensor
    dec_blocks: torch.Tensor
    w_head: torch.Tensor
    num_heads: int

    @property
    def args(self) -> tuple[torch.Tensor | int, ...]:
        """The arguments of encoder_decoder_forward."""
        return (
            self.src_ids, self.tgt_ids, self.src_emb, self.tgt_emb, self.enc_pos_embed, self.dec_pos_embed,
            self.enc_blocks, self.dec_blocks, self.w_head, self.num_heads,
        )  # fmt: skip

    def decode_args(self, start: int, eos: int, budget: int) -> tuple[torch.Tensor | int, ...]:
        """The arguments of seq2seq_greedy_decode for the first example."""
        return (
            self.src_ids[0], self.src_emb, self.tgt_emb, self.enc_pos_embed, self.dec_pos_embed,
            self.enc_blocks, self.dec_blocks, self.w_head, self.num_heads, start, eos, budget,
        )  # fmt: skip


# pieces ---------------------------------------------------------------------------------------------------------------


def weights(trial: Trial, *shape: int, scale: float = STRONG) -> torch.Tensor:
    """Matrices (..., in, out), each `scale` times one with orthonormal rows or columns."""
    *batch, rows, columns = shape
    draw = trial.normal(*batch, max(rows, columns), min(rows, columns))
    if 0 in shape:
        return draw.new_zeros(shape)
    ortho: torch.Tensor = torch.linalg.qr(draw).Q
    return scale * (ortho if rows >= columns else ortho.transpose(-2, -1).contiguous())


def word_ids(trial: Trial, N: int, length: int, vocabulary: int) -> torch.Tensor:
    """Ids (N, length) as floats. Every row holds 0 in its middle and no id twice, where the vocabulary allows it."""
    if vocabulary < length:
        return trial.ids(N, length, high=vocabulary)
    rows = []
    for _ in range(N):
        others = torch.randperm(vocabulary - 1, generator=trial.random)[: length - 1] + 1
        middle = length // 2
        rows.append(torch.cat([others[:middle], torch.zeros(1, dtype=torch.long), others[middle:]]))
    return torch.stack(rows).to(torch.float64)


def noisy_slots(trial: Trial, block: torch.Tensor) -> torch.Tensor:
    """A copy of decoder weights (..., 12, d, d) with noise in slots 10 and 11, which must be ignored."""
    noisy = block.clone()
    noisy[..., 10:, :, :] = trial.normal(*noisy[..., 10:, :, :].shape, scale=STRONG)
    return noisy


def strided(x: torch.Tensor) -> torch.Tensor:
    """The same values in a tensor that is not contiguous, as a learner gets from a transpose."""
    return x.transpose(-2, -1).contiguous().transpose(-2, -1)


def redrawn(draw: Callable[[], _T], good: Callable[[_T], bool]) -> _T:
    """Draw until the draw is good. A draw is good more often than not, so a thousand failures are our own fault."""
    for _ in range(1000):
        if good(drawn := draw()):
            return drawn
    raise RuntimeError("no good draw in 1000: the condition is too hard")


def self_scores(x_q: torch.Tensor, x_kv: torch.Tensor, w_q: torch.Tensor, w_k: torch.Tensor, h: int) -> torch.Tensor:
    """Scaled scores (N, h, T, S), to see whether a draw is clear-cut."""
    q, k = ((x @ w).reshape(*x.shape[:-1], h, -1) for x, w in ((x_q, w_q), (x_kv, w_k)))
    return torch.einsum("nthd,nshd->nhts", q, k) / math.sqrt(q.shape[-1])


def clear_cut(scores: torch.Tensor, allowed: torch.Tensor | None = None, share: float = 0.02) -> bool:
    """Whether in every row the best allowed key leads by `share` of the largest score.

    Then one key takes all, in any style of softmax.
    """
    if scores.shape[-1] < 2:
        return True
    size = scores.abs().max()
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    first, second = scores.topk(2, dim=-1).values.unbind(-1)
    return bool((first - second > share * size).all())


def future_wins(scores: torch.Tensor) -> bool:
    """Whether somewhere the first position scores itself low enough that a finite penalty on the future loses to it.

    scores: (N, h, T, T)
    """
    own, later = scores[..., 0, 0], scores[..., 0, 1:].amax(dim=-1)
    size = scores.abs().max()
    return bool(((own < -0.2 * size) & (later > 0.2 * size)).any())


def feed_forward_near(trial: Trial, tokens: torch.Tensor, gain: float = SHARP) -> tuple[torch.Tensor, torch.Tensor]:
    """Feed-forward weights (d, d), (d, d) that bring the pre-activations of these tokens (M, d), M < d, near NEAR.

    gain: scale of the second matrix; it makes GELU's small values there matter beside the residual
    """
    M, d = tokens.shape
    wanted = NEAR + trial.normal(M, d, scale=0.05)
    return torch.linalg.pinv(tokens) @ wanted, weights(trial, d, d, scale=gain)


def feed_forward_far(
    trial: Trial, d: int, d_ff: int, steep: float = STEEP, gentle: float = GENTLE
) -> tuple[torch.Tensor, torch.Tensor]:
    """Feed-forward weights (d, d_ff), (d_ff, d) on which the two forms of GELU differ less than is asked."""
    return weights(trial, d, d_ff, scale=steep), weights(trial, d_ff, d, scale=gentle)


def _normed(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:])


# one block ------------------------------------------------------------------------------------------------------------

BLOCK_NAMES = ("strong", "square", "one_head", "single", "faint", "sharp_self", "huge_self", "sharp_cross", "near")
"""strong: ordinary. square: S = T. one_head: h = 1. single: N = S = T = 1. faint: token variance near eps.
sharp_self, huge_self: scores near 1e4 and 1e11 in self-attention. sharp_cross: near 1e4 in cross-attention.
near: pre-activations near -3."""


def decoder_inputs(trial: Trial, name: str = "strong", size: Size | None = None) -> BlockInputs:
    """Inputs of decoder_block and cross_attention by name; slots 10 and 11 hold zeros.

    sharp_cross and near have w_o = 0 before the sublayer they are for, so that its input is known here.
    """
    size = size or _BLOCK_SIZES.get(name, Size())
    draw = lambda: _decoder_draw(trial, name, size)  # noqa: E731
    causal = torch.ones(size.T, size.T, dtype=torch.bool).tril()

    def good(x: BlockInputs) -> bool:
        if name in ("sharp_self", "huge_self"):
            scores = self_scores(x.dec, x.dec, x.block[0], x.block[1], x.num_heads)
            return clear_cut(scores, causal) and future_wins(scores)
        if name == "sharp_cross":
            return clear_cut(self_scores(_normed(x.dec), x.enc, x.block[4], x.block[5], x.num_heads))
        return True

    return redrawn(draw, good)


_BLOCK_SIZES = {
    "square": Size(S=5, T=5),
    "one_head": Size(N=2, S=5, T=3, h=1),
    "single": Size(N=1, S=1, T=1, h=2),
    "sharp_self": Size(N=3, S=3, T=3, h=2),
    "huge_self": Size(N=3, S=3, T=3, h=2),
    "sharp_cross": Size(N=4, S=3, T=3, h=2),
    "near": Size(N=1, S=3, T=4, h=2),
}


def _decoder_draw(trial: Trial, name: str, size: Size) -> BlockInputs:
    scale = FAINT if name == "faint" else 1.0
    dec = trial.normal(size.N, size.T, size.d, scale=scale)
    enc = trial.normal(size.N, size.S, size.d, scale=scale)
    block = weights(trial, 12, size.d, size.d)
    block[10:] = 0.0
    block[8], block[9] = feed_forward_far(trial, size.d, size.d)
    if name in ("sharp_cross", "near"):
        dec = _normed(dec)  # the norms before the sublayer that is tried change nothing
    if name not in ("sharp_self", "huge_self", "sharp_cross"):
        block[[0, 1, 4, 5]] *= CALM / STRONG
    _sharpen(trial, name, block, dec)
    return BlockInputs(dec, enc, block, size.h)


def _sharpen(trial: Trial, name: str, block: torch.Tensor, dec: torch.Tensor) -> None:
    """Change freshly drawn decoder weights (12, d, d) into the named kind."""
    if name in ("sharp_self", "huge_self"):
        block[0:2] *= SHARP if name == "sharp_self" else HUGE
    if name in ("sharp_cross", "near"):
        block[3] = 0.0
    if name == "sharp_cross":
        block[4:6] *= SHARP
    if name == "near":
        block[7] = 0.0
        block[8], block[9] = feed_forward_near(trial, _normed(_normed(dec)).flatten(0, 1))


def encoder_inputs(trial: Trial, name: str = "strong", size: Size | None = None) -> BlockInputs:
    """Inputs of encoder_block by name: strong, one_head, single, faint, sharp_self, near.

    block is (6, d, d); dec is enc and without meaning here.
    """
    size = size or replace(_BLOCK_SIZES.get(name, Size()), L=0)

    def draw() -> BlockInputs:
        enc = trial.normal(size.N, size.S, size.d, scale=FAINT if name == "faint" else 1.0)
        block = weights(trial, 6, size.d, size.d)
        block[4], block[5] = feed_forward_far(trial, size.d, size.d)
        if name == "sharp_self":
            block[0:2] *= SHARP
        if name == "near":
            block[3] = 0.0
            block[4], block[5] = feed_forward_near(trial, _normed(enc).flatten(0, 1))
        return BlockInputs(enc, enc, block, size.h)

    def good(x: BlockInputs) -> bool:
        return name != "sharp_self" or clear_cut(self_scores(x.enc, x.enc, x.block[0], x.block[1], x.num_heads))

    return redrawn(draw, good)


# a whole model --------------------------------------------------------------------------------------------------------

MODEL_NAMES = (
    "strong", "square", "no_encoder", "no_decoder", "faint", "sharp_self", "huge_self", "sharp_cross", "near",
)  # fmt: skip
"""F1 to F9 in order. The last four have E = 0 and one decoder block, whose inputs are known exactly."""

_MODEL_SIZES = {
    "square": Size(S=5, T=5),
    "no_encoder": Size(E=0),
    "no_decoder": Size(L=0),
    "faint": Size(E=1, L=1),
    "sharp_self": Size(S=4, T=3, h=2, E=0, L=1),
    "huge_self": Size(S=4, T=3, h=2, E=0, L=1),
    "sharp_cross": Size(N=2, S=3, T=2, h=2, E=0, L=1),
    "near": Size(N=1, S=3, T=4, h=2, E=0, L=1),
}


def model(trial: Trial, name: str = "strong", size: Size | None = None) -> Model:
    """A model and a batch of ids by name. Slots 10 and 11 hold zeros; id 0 is present in every row."""
    size = size or _MODEL_SIZES.get(name, Size())
    causal = torch.ones(size.T, size.T, dtype=torch.bool).tril()

    def good(m: Model) -> bool:
        if name not in ("sharp_self", "huge_self", "sharp_cross"):
            return True
        enc = m.src_emb[m.src_ids.long()] + m.enc_pos_embed
        dec = m.tgt_emb[m.tgt_ids.long()] + m.dec_pos_embed
        block = m.dec_blocks[0]
        if name == "sharp_cross":
            return clear_cut(self_scores(_normed(dec), enc, block[4], block[5], size.h))
        scores = self_scores(dec, dec, block[0], block[1], size.h)
        return clear_cut(scores, causal) and future_wins(scores)

    return redrawn(lambda: _model_draw(trial, name, size), good)


def _model_draw(trial: Trial, name: str, size: Size) -> Model:
    # embeddings and positions add up to tokens of the same size as those of decoder_inputs
    scale = (FAINT if name == "faint" else 1.0) / math.sqrt(2.0)
    src_ids = word_ids(trial, size.N, size.S, size.V_src)
    tgt_ids = word_ids(trial, size.N, size.T, size.V_tgt)
    src_emb = trial.normal(size.V_src, size.d, scale=scale)
    tgt_emb = trial.normal(size.V_tgt, size.d, scale=scale)
    enc_pos = trial.normal(size.S, size.d, scale=scale)
    dec_pos = trial.normal(size.T, size.d, scale=scale)
    enc_blocks = weights(trial, size.E, 6, size.d, size.d)
    dec_blocks = weights(trial, size.L, 12, size.d, size.d)
    dec_blocks[:, 10:] = 0.0
    if size.L:
        _sharpen(trial, name, dec_blocks[0], tgt_emb[tgt_ids.long()] + dec_pos)
    w_head = weights(trial, size.d, size.V_tgt)
    return Model(src_ids, tgt_ids, src_emb, tgt_emb, enc_pos, dec_pos, enc_blocks, dec_blocks, w_head, size.h)


def all_but(N: int, T: int, S: int) -> torch.Tensor:
    """Bool (N, T, S): example n may read all but position n."""
    return (torch.arange(S)[None] != torch.arange(N)[:, None])[:, None].repeat(1, T, 1)


def but_first_example(trial: Trial, x: torch.Tensor) -> torch.Tensor:
    """Example 0 of x, the others drawn anew."""
    return torch.cat([x[:1], trial.normal(x.shape[0] - 1, *x.shape[1:], scale=3.0)])
