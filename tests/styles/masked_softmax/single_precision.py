"""Computed in float32, cast back."""
import torch


def masked_softmax(scores, allowed=None):
    x = scores.float()
    if allowed is not None:
        x = x.masked_fill(~allowed, -torch.inf)
    return torch.softmax(x, dim=-1).nan_to_num(0.0).to(scores.dtype)
