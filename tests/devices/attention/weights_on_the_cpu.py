"""The weights are brought to the CPU for a picture, and returned from there.

Told: the result is on the CPU
"""
import torch

from attnlab.stand_ins import masked_softmax


def attention(q, k, v, allowed=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = masked_softmax(scores, allowed)
    return weights @ v, weights.detach().cpu()
