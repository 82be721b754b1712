"""The mean is taken off by a matrix product."""
import torch


def layer_norm(x):
    d = x.shape[-1]
    centring = torch.eye(d, dtype=x.dtype, device=x.device) - 1.0 / d
    y = x @ centring
    return y / torch.sqrt((y**2).sum(-1, keepdim=True) / d + 1e-5)
