"""tril of a table of True."""
import torch


def causal_mask(length, device=None):
    return torch.tril(torch.ones((length, length), dtype=torch.bool, device=device))
