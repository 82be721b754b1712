"""A whole table of minus infinity is made on the CPU.

Told: Your mask hidden is on the CPU
"""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is not None:
        hidden = torch.full(scores.shape, -torch.inf, dtype=scores.dtype)
        scores = torch.where(allowed, scores, hidden)
    return torch.softmax(scores, dim=-1).nan_to_num()
