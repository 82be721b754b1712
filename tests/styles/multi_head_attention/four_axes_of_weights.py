"""The matrices themselves are cut into heads; no token is ever split."""
import torch


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    N, T, d = x_q.shape
    h = num_heads
    wq, wk, wv = (w.reshape(d, h, d // h) for w in (w_q, w_k, w_v))
    q = torch.einsum("ntd,dhk->nhtk", x_q, wq)
    k = torch.einsum("nsd,dhk->nhsk", x_kv, wk)
    v = torch.einsum("nsd,dhk->nhsk", x_kv, wv)
    scores = torch.einsum("nhtk,nhsk->nhts", q, k) * (d // h) ** -0.5
    if allowed is not None:
        hide = torch.zeros(N, T, x_kv.shape[1], dtype=x_q.dtype, device=x_q.device)
        hide.masked_fill_(~allowed, -torch.inf)
        scores += hide[:, None]
    return torch.einsum("nhts,nhsk,hkd->ntd", scores.softmax(-1), v, w_o.reshape(h, d // h, d))
