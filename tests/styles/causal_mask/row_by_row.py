"""A table of False in which each row's beginning is set."""
import torch


def causal_mask(length, device=None):
    mask = torch.zeros(length, length, dtype=torch.bool, device=device)
    for t in range(length):
        mask[t, : t + 1] = True
    return mask
