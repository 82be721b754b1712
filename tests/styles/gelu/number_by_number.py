"""math.tanh and a list."""
import math

import torch


def gelu(u):
    numbers = [0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) for x in u.flatten().tolist()]
    return torch.tensor(numbers, dtype=u.dtype, device=u.device).reshape(u.shape)
