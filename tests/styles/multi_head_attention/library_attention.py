"""The library's scaled dot-product attention inside."""
from torch.nn import functional as F


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    N, T, d = x_q.shape
    S = x_kv.shape[1]
    q, k, v = (x.view(N, -1, num_heads, d // num_heads).transpose(1, 2) for x in (x_q @ w_q, x_kv @ w_k, x_kv @ w_v))
    mask = None if allowed is None else allowed.expand(N, T, S).unsqueeze(1)
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return mixed.transpose(1, 2).reshape(N, T, d) @ w_o
