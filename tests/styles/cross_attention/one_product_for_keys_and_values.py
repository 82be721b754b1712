"""Keys and values by one batched product with both matrices."""
import torch


def cross_attention(dec, enc, block, num_heads, enc_allowed=None):
    N, T, d = dec.shape
    k, v = (enc[None] @ block[5:7, None]).unflatten(-1, (num_heads, d // num_heads))
    q = (dec @ block[4]).unflatten(-1, (num_heads, d // num_heads))
    scores = torch.einsum("nthk,nshk->nhts", q, k).div((d // num_heads) ** 0.5)
    if enc_allowed is not None:
        scores = scores.masked_fill(enc_allowed.logical_not()[:, None], float("-inf"))
    return torch.einsum("nhts,nshk->nthk", scores.softmax(dim=-1), v).reshape(N, T, d) @ block[7]
