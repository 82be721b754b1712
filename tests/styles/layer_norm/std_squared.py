"""The square of the standard deviation."""
import torch


def layer_norm(x):
    spread = torch.std(x, dim=-1, unbiased=False, keepdim=True)
    return (x - x.mean(dim=-1, keepdim=True)) / (spread**2 + 1e-5) ** 0.5
