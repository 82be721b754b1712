"""The penalty is made on "cuda", whatever the device of the scores.

Told: is on cuda:0
"""
import torch

from attnlab.stand_ins import masked_softmax


def attention(q, k, v, allowed=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = scores + torch.zeros(k.shape[-2], dtype=q.dtype, device="cuda")
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = masked_softmax(scores, allowed)
    return weights @ v, weights
