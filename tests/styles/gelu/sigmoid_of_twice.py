"""1 + tanh(z) is twice the sigmoid of 2z."""
import math

import torch


def gelu(u):
    return u * torch.sigmoid(2.0 * math.sqrt(2.0 / math.pi) * (u + 0.044715 * u * u * u))
