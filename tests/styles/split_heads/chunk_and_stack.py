"""Chunks of features, stacked on a new axis."""
import torch


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)
