"""The scale is a tensor of one entry, with an axis, on the CPU.

Told: Your constant scale is on the CPU
"""
import torch

from attnlab.stand_ins import masked_softmax


def attention(q, k, v, allowed=None):
    scale = torch.tensor([q.shape[-1] ** 0.5], dtype=q.dtype)
    scores = q @ k.transpose(-2, -1) / scale
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = masked_softmax(scores, allowed)
    return weights @ v, weights
