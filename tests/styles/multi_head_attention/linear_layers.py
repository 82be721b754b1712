"""F.linear, which wants the transposed matrices, and chunk for the heads."""
import math

import torch
from torch.nn import functional as F


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    heads = []
    parts = (F.linear(x, w.T).chunk(num_heads, -1) for x, w in ((x_q, w_q), (x_kv, w_k), (x_kv, w_v)))
    for q, k, v in zip(*parts, strict=True):
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if allowed is not None:
            scores = torch.where(allowed, scores, torch.full_like(scores, -torch.inf))
        heads.append(torch.softmax(scores, -1) @ v)
    return F.linear(torch.cat(heads, -1), w_o.T)
