"""Example, head and query in loops; hidden source positions are left out."""
import math

import torch


def cross_attention(dec, enc, block, num_heads, enc_allowed=None):
    (N, T, _d), d_k = dec.shape, dec.shape[-1] // num_heads
    out = torch.zeros_like(dec)
    for n in range(N):
        source = enc[n] if enc_allowed is None else enc[n][enc_allowed[n, 0]]
        for i in range(num_heads):
            part = slice(i * d_k, (i + 1) * d_k)
            keys, values = source @ block[5][:, part], source @ block[6][:, part]
            for t in range(T):
                scores = keys @ (dec[n, t] @ block[4][:, part]) / math.sqrt(d_k)
                out[n, t, part] = torch.softmax(scores, dim=0) @ values
    return out @ block[7]
