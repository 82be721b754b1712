"""eps is a tensor with an axis, on the CPU.

Told: Your constant eps is on the CPU
"""
import torch


def layer_norm(x):
    eps = torch.full((1,), 1e-5, dtype=x.dtype)
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + eps).sqrt()
