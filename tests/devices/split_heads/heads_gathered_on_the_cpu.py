"""The heads are gathered in a tensor of the CPU, one after the other.

Told: the result is on the CPU
"""
import torch


def split_heads(x, num_heads):
    N, T, d = x.shape
    heads = torch.empty(N, num_heads, T, d // num_heads, dtype=x.dtype)
    for i in range(num_heads):
        heads[:, i] = x[:, :, i * (d // num_heads) : (i + 1) * (d // num_heads)]
    return heads
