"""Modules with names of their own, built from the block."""
import math

import torch
from torch import nn


class AddAndNorm(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x, *others):
        y = x + self.inner(x, *others)
        variance, mean = torch.var_mean(y, dim=-1, unbiased=False, keepdim=True)
        return (y - mean) * (variance + 1e-5).rsqrt()


class Heads(nn.Module):
    def __init__(self, weights, h, causal=False):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Parameter(w, requires_grad=False) for w in weights)
        self.h, self.causal = h, causal

    def forward(self, x, y=None):
        y = x if y is None else y
        q, k, v = (z.unflatten(-1, (self.h, -1)).transpose(1, 2) for z in (x @ self.q, y @ self.k, y @ self.v))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if self.causal:
            t = torch.arange(x.shape[1], device=x.device)
            scores = scores.masked_fill(t[None] > t[:, None], -math.inf)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self.o


class Mlp(nn.Module):
    def __init__(self, up, down):
        super().__init__()
        self.up, self.down, self.act = up, down, nn.GELU(approximate="tanh")

    def forward(self, x):
        return self.act(x @ self.up) @ self.down


def decoder_block(dec, enc, block, num_heads):
    look_back = AddAndNorm(Heads(block[:4], num_heads, causal=True))
    look_over = AddAndNorm(Heads(block[4:8], num_heads))
    think = AddAndNorm(Mlp(block[8], block[9]))
    return think(look_over(look_back(dec), enc))
