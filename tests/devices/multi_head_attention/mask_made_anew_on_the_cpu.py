"""The mask is copied with torch.tensor, which puts it on the CPU.

Told: Your mask is on the CPU
"""
import torch
from torch.nn import functional as F


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    mask = None if allowed is None else torch.tensor(allowed.tolist()).unsqueeze(-3)
    q, k, v = ((x @ w).unflatten(-1, (num_heads, -1)).transpose(1, 2) for x, w in ((x_q, w_q), (x_kv, w_k), (x_kv, w_v)))
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o
