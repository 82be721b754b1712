"""The length of the centred token over sqrt(d)."""
import torch


def layer_norm(x):
    y = x - x.mean(dim=-1, keepdim=True)
    spread = torch.linalg.vector_norm(y, dim=-1, keepdim=True) / x.shape[-1] ** 0.5
    return y / torch.hypot(spread, torch.full_like(spread, 1e-5**0.5))
