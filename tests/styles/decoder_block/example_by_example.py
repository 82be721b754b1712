"""A loop over the batch, with einsum inside."""
import torch
from torch.nn import functional as F


def decoder_block(dec, enc, block, num_heads):
    d = dec.shape[-1]

    def read(x, y, w, mask):
        q, k, v = ((z @ m).reshape(len(z), num_heads, -1) for z, m in ((x, w[0]), (y, w[1]), (y, w[2])))
        scores = torch.einsum("thk,shk->hts", q, k) / (d // num_heads) ** 0.5
        if mask:
            scores = scores + torch.full_like(scores, -torch.inf).triu(1)
        return torch.einsum("hts,shk->thk", scores.softmax(-1), v).reshape(len(x), d) @ w[3]

    done = []
    for x, y in zip(dec, enc, strict=True):
        x = F.layer_norm(x + read(x, x, block[:4], True), (d,))
        x = F.layer_norm(x + read(x, y, block[4:8], False), (d,))
        done.append(F.layer_norm(x + F.gelu(x @ block[8], approximate="tanh") @ block[9], (d,)))
    return torch.stack(done)
