"""The weights are written into zeros of the CPU, which are returned.

Told: the result is on the CPU
"""
import torch


def masked_softmax(scores, allowed=None):
    weights = torch.zeros(scores.shape, dtype=scores.dtype)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights[...] = torch.softmax(scores, dim=-1).nan_to_num()
    return weights
