"""In place on a copy, under inference_mode."""
import torch
from torch.nn import functional as F


def read(x, y, w, h, causal=False):
    _N, T, d = x.shape
    q, k, v = (torch.stack(z.split(d // h, dim=-1), 1) for z in (x @ w[0], y @ w[1], y @ w[2]))
    scores = q.mul_((d // h) ** -0.5) @ k.mT
    if causal:
        for t in range(T):
            scores[:, :, t, t + 1 :] = float("-inf")
    return torch.cat(torch.unbind(scores.softmax(-1) @ v, 1), -1) @ w[3]


@torch.inference_mode()
def decoder_block(dec, enc, block, num_heads):
    x = dec.clone()
    x += read(x, x, block[0:4], num_heads, causal=True)
    x = F.group_norm(x.flatten(0, 1), 1).view_as(x)
    x += read(x, enc, block[4:8], num_heads)
    x = F.group_norm(x.flatten(0, 1), 1).view_as(x)
    u = x @ block[8]
    x += u.mul_(torch.sigmoid(1.5957691216 * (u + 0.044715 * u**3))) @ block[9]
    return F.group_norm(x.flatten(0, 1), 1).view_as(x)
