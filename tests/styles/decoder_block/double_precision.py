"""Computed in float64, cast back, with a library norm of a single group."""
import torch
from torch.nn import functional as F


def decoder_block(dec, enc, block, num_heads):
    kind = dec.dtype
    dec, enc, block = dec.double(), enc.double(), block.double()
    _N, T, d = dec.shape

    def read(x, y, w, hide):
        h = [slice(i, i + d // num_heads) for i in range(0, d, d // num_heads)]
        total = torch.zeros_like(x)
        for part in h:
            scores = (x @ w[0][:, part]) @ (y @ w[1][:, part]).mT / (d // num_heads) ** 0.5
            total = total + torch.softmax(scores + hide, -1) @ (y @ w[2][:, part]) @ w[3][part]
        return total

    hide = torch.full((T, T), -torch.inf, dtype=torch.float64, device=dec.device).triu(1)
    for f in (
        lambda x: read(x, x, block[:4], hide),
        lambda x: read(x, enc, block[4:8], 0.0),
        lambda x: F.gelu(x @ block[8], approximate="tanh") @ block[9],
    ):
        dec = F.layer_norm(dec + f(dec), (d,))
    return dec.to(kind)
