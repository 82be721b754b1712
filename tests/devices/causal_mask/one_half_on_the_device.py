"""One of the two rows of positions forgets the device.

Told: Your positions keys are on the CPU
"""
import torch


def causal_mask(length, device=None):
    queries, keys = torch.arange(length, device=device), torch.arange(length)
    return queries[:, None] >= keys
