"""A renaming of axes by einsum."""
import torch


def split_heads(x, num_heads):
    N, T, d = x.shape
    return torch.einsum("nthk->nhtk", x.reshape(N, T, num_heads, d // num_heads)).contiguous()
