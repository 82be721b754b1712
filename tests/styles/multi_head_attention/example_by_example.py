"""A loop over the batch."""
import math

import torch


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    out = []
    T, S, d = x_q.shape[1], x_kv.shape[1], x_q.shape[2]
    masks = [None] * len(x_q) if allowed is None else allowed.expand(len(x_q), T, S)
    for xq, xkv, mask in zip(x_q, x_kv, masks, strict=True):
        products = xq @ w_q, xkv @ w_k, xkv @ w_v
        q, k, v = (x.reshape(len(x), num_heads, -1).swapdims(0, 1) for x in products)
        scores = q @ k.mT / math.sqrt(d // num_heads)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        out.append((scores.softmax(-1) @ v).swapdims(0, 1).reshape(T, d) @ w_o)
    return torch.stack(out)
