"""What stands in for an earlier lesson's function where the learner's own does not pass yet.

Each is made of PyTorch's library functions, keeps the contract of its exercise, and notes its use, so that nobody can
hand it in as the exercise it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import ParamSpec, TypeVar

import torch
import torch.nn.functional as F

from attnlab.recording import ran

__all__ = ["STAND_INS"]

P = ParamSpec("P")
R = TypeVar("R")

_found: dict[str, Callable[..., object]] = {}

STAND_INS: Mapping[str, Callable[..., object]] = MappingProxyType(_found)
"""Exercise to its stand-in, for every exercise that a later lesson may take."""


def _stand_in(function: Callable[P, R]) -> Callable[P, R]:
    """Register `function` under its name and let every call of it be noted."""
    name = function.__name__

    @wraps(function)
    def noted(*args: P.args, **kwargs: P.kwargs) -> R:
        ran(f"stand_in:{name}")
        return function(*args, **kwargs)

    _found[name] = noted
    return noted


# lesson 1 -------------------------------------------------------------------------------------------------------------


@_stand_in
def causal_mask(length: int, device: torch.device | str | None = None) -> torch.Tensor:
    """bool (length, length), True where the key is not later than the query."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


@_stand_in
def padding_mask(ids: torch.Tensor, pad_id: int) -> torch.Tensor:
    """ids (N, S) -> bool (N, 1, S), True where a word stands."""
    return ids.ne(pad_id).unsqueeze(1)


@_stand_in
def masked_softmax(scores: torch.Tensor, allowed: torch.Tensor | None = None) -> torch.Tensor:
    """scores (..., T, S) -> weights (..., T, S); a row with no allowed key is all zeros."""
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    nothing = (scores == -torch.inf).all(dim=-1, keepdim=True)  # (..., T, 1)
    # filled before the softmax too: a NaN there would come back through the gradient
    return torch.softmax(scores.masked_fill(nothing, 0.0), dim=-1).masked_fill(nothing, 0.0)


# lesson 2 -------------------------------------------------------------------------------------------------------------


@_stand_in
def multi_head_attention(
    x_q: torch.Tensor,
    x_kv: torch.Tensor,
    w_q: torch.Tensor,
    w_k: torch.Tensor,
    w_v: torch.Tensor,
    w_o: torch.Tensor,
    num_heads: int,
    allowed: torch.Tensor | None = None,
) -> torch.Tensor:
    """x_q (N, T, d), x_kv (N, S, d), allowed broadcastable to (N, T, S) -> (N, T, d)."""
    N, T, S = x_q.shape[0], x_q.shape[1], x_kv.shape[1]
    q, k, v = (
        (x @ w).reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)  # (N, h, T or S, d_k)
        for x, w in ((x_q, w_q), (x_kv, w_k), (x_kv, w_v))
    )
    mask = None if allowed is None else allowed.expand(N, T, S).unsqueeze(1)  # (N, 1, T, S)
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    if mask is not None:  # what a row with no allowed key gives has changed from one PyTorch to the next
        mixed = mixed.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return mixed.transpose(1, 2).flatten(2) @ w_o


@_stand_in
def cross_attention(
    dec: torch.Tensor,
    enc: torch.Tensor,
    block: torch.Tensor,
    num_heads: int,
    enc_allowed: torch.Tensor | None = None,
) -> torch.Tensor:
    """dec (N, T, d), enc (N, S, d), block (12, d, d), enc_allowed (N, 1, S) -> (N, T, d)."""
    return multi_head_attention(dec, enc, block[4], block[5], block[6], block[7], num_heads, enc_allowed)


# lesson 3 -------------------------------------------------------------------------------------------------------------


@_stand_in
def layer_norm(x: torch.Tensor) -> torch.Tensor:
    """(..., d) -> (..., d), without scale and bias."""
    return F.layer_norm(x, x.shape[-1:], eps=1e-5)


@_stand_in
def feed_forward(x: torch.Tensor, w_mlp1: torch.Tensor, w_mlp2: torch.Tensor) -> torch.Tensor:
    """x (..., d), w_mlp1 (d, d_ff), w_mlp2 (d_ff, d) -> (..., d)."""
    return F.gelu(x @ w_mlp1, approximate="tanh") @ w_mlp2


@_stand_in
def decoder_block(dec: torch.Tensor, enc: torch.Tensor, block: torch.Tensor, num_heads: int) -> torch.Tensor:
    """dec (N, T, d), enc (N, S, d), block (12, d, d) -> (N, T, d)."""
    causal = causal_mask(dec.shape[1], device=dec.device)
    dec = layer_norm(dec + multi_head_attention(dec, dec, block[0], block[1], block[2], block[3], num_heads, causal))
    dec = layer_norm(dec + cross_attention(dec, enc, block, num_heads))
    return layer_norm(dec + feed_forward(dec, block[8], block[9]))


# lesson 4 -------------------------------------------------------------------------------------------------------------


@_stand_in
def encode(
    src_ids: torch.Tensor,
    src_emb: torch.Tensor,
    enc_pos_embed: torch.Tensor,
    enc_blocks: torch.Tensor,
    num_heads: int,
) -> torch.Tensor:
    """src_ids (N, S), src_emb (V_src, d), enc_pos_embed (S, d), enc_blocks (E, 6, d, d) -> (N, S, d)."""
    enc = F.embedding(src_ids.long(), src_emb) + enc_pos_embed
    for w_q, w_k, w_v, w_o, w_mlp1, w_mlp2 in enc_blocks:
        enc = layer_norm(enc + multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads))
        enc = layer_norm(enc + feed_forward(enc, w_mlp1, w_mlp2))
    return enc
