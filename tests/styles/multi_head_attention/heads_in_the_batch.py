"""Heads are folded into the batch axis."""
import torch


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    N, T, d = x_q.shape
    h, d_k = num_heads, d // num_heads

    def fold(x):
        return x.reshape(N, -1, h, d_k).permute(2, 0, 1, 3).reshape(h * N, -1, d_k)

    q, k, v = fold(x_q @ w_q) / d_k**0.5, fold(x_kv @ w_k), fold(x_kv @ w_v)
    scores = torch.bmm(q, k.mT)
    if allowed is not None:
        scores[~allowed.expand(N, T, k.shape[1]).repeat(h, 1, 1)] = -torch.inf
    mixed = torch.bmm(scores.softmax(-1), v)
    return mixed.reshape(h, N, T, d_k).permute(1, 2, 0, 3).reshape(N, T, d) @ w_o
