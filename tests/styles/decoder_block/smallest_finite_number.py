"""Later positions filled with the smallest number of the dtype, softmax in float32."""
import torch
from torch.nn import functional as F


def read(x, y, w, h, mask=None):
    q, k, v = (z.unflatten(-1, (h, -1)).movedim(-2, 1) for z in (x @ w[0], y @ w[1], y @ w[2]))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores.float(), -1).to(x.dtype)
    return (weights @ v).movedim(1, -2).flatten(-2) @ w[3]


def decoder_block(dec, enc, block, num_heads):
    d = (dec.shape[-1],)
    causal = torch.ones(dec.shape[1], dec.shape[1], dtype=torch.bool, device=dec.device).tril()
    a = F.layer_norm(read(dec, dec, block[0:4], num_heads, causal) + dec, d)
    b = F.layer_norm(read(a, enc, block[4:8], num_heads) + a, d)
    return F.layer_norm(F.gelu(b @ block[8], approximate="tanh") @ block[9] + b, d)
