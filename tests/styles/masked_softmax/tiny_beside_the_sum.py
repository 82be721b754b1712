"""A tiny number in the denominator, after the maximum was taken off: the sum is at least 1 there."""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    top = scores.amax(dim=-1, keepdim=True).clamp(min=-1e300 if scores.dtype == torch.float64 else -1e38)
    exp = (scores - top).exp()
    return exp / (exp.sum(dim=-1, keepdim=True) + 1e-9)
