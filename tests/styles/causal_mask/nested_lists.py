"""A table written out in Python."""
import torch


def causal_mask(length, device=None):
    rows = [[s <= t for s in range(length)] for t in range(length)]
    return torch.tensor(rows, dtype=torch.bool, device=device)
