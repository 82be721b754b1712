"""One head after the other; their output projections are added up."""
import math

import torch


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    d = x_q.shape[-1]
    d_k = d // num_heads
    out = torch.zeros_like(x_q)
    for i in range(num_heads):
        part = slice(i * d_k, (i + 1) * d_k)
        q, k, v = x_q @ w_q[:, part], x_kv @ w_k[:, part], x_kv @ w_v[:, part]
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d_k)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        out = out + torch.bmm(scores.softmax(-1), v) @ w_o[part]
    return out
