"""T passes: row t is computed from the first t + 1 tokens alone, without a mask."""
import math

import torch


def norm(x):
    y = x - x.mean(-1, keepdim=True)
    return y / torch.sqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)


def read(asks, gives, w_q, w_k, w_v, w_o, h):
    out = []
    for q, k, v in zip((asks @ w_q).chunk(h, -1), (gives @ w_k).chunk(h, -1), (gives @ w_v).chunk(h, -1), strict=True):
        out.append(torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v)
    return torch.cat(out, -1) @ w_o


def decoder_block(dec, enc, block, num_heads):
    rows = []
    for t in range(dec.shape[1]):
        x = dec[:, t : t + 1]
        x = norm(x + read(x, dec[:, : t + 1], *block[0:4], num_heads))
        x = norm(x + read(x, enc, *block[4:8], num_heads))
        u = x @ block[8]
        hidden = 0.5 * u * (1 + torch.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)))
        rows.append(norm(x + hidden @ block[9]))
    return torch.cat(rows, dim=1)
