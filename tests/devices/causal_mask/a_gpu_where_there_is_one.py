"""On a machine with a GPU the mask is made there, although nobody asked.

Told: the CPU of a machine with a GPU the result is on cuda:0
"""
import torch


def causal_mask(length, device=None):
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
