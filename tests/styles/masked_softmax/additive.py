"""A tensor of 0 and minus infinity is added."""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    bias = torch.zeros_like(allowed, dtype=scores.dtype).masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.where(allowed.any(dim=-1, keepdim=True), weights, torch.zeros_like(weights))
