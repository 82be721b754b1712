"""Filled with the smallest number of the dtype; empty rows set to 0."""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(~allowed, torch.finfo(scores.dtype).min), dim=-1)
    return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)
