"""The sum over hidden units written out."""
import math

import torch


def feed_forward(x, w_mlp1, w_mlp2):
    out = 0.0
    for j in range(w_mlp1.shape[1]):
        u = (x * w_mlp1[:, j]).sum(-1, keepdim=True)
        out = out + u * torch.sigmoid(math.sqrt(8 / math.pi) * (u + 0.044715 * u**3)) * w_mlp2[j]
    return out
