"""A Python loop over the entries, gathered on the CPU.

Told: the result is on the CPU
"""
import math

import torch


def gelu(u):
    entries = [0.5 * a * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3))) for a in u.flatten().tolist()]
    return torch.tensor(entries, dtype=u.dtype).reshape(u.shape)
