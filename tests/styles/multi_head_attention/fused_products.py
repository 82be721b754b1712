"""Keys and values come from one product with both matrices side by side."""
import torch


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    N, T, d = x_q.shape
    S, h = x_kv.shape[1], num_heads
    k, v = (x_kv @ torch.cat([w_k, w_v], dim=1)).split(d, dim=-1)
    q, k, v = (x.unflatten(-1, (h, -1)) for x in (x_q @ w_q, k, v))
    scores = torch.einsum("nthk,nshk->nhts", q, k) / (d // h) ** 0.5
    if allowed is not None:
        scores = scores.masked_fill(~allowed.expand(N, T, S)[:, None], -torch.inf)
    return torch.einsum("nhts,nshk->nthk", scores.softmax(-1), v).flatten(2) @ w_o
