"""The columns of the identity matrix, added up from the right."""
import torch


def causal_mask(length, device=None):
    return torch.eye(length, dtype=torch.long, device=device).flip(1).cumsum(dim=1).flip(1) > 0
