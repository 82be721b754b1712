"""The future with triu, then the opposite."""
import torch


def causal_mask(length, device=None):
    future = torch.ones(length, length, device=device).triu(diagonal=1)
    return ~future.bool()
