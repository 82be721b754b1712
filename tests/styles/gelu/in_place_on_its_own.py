"""In place, on a copy."""
import math

import torch


def gelu(u):
    z = u.clone()
    z.pow_(3).mul_(0.044715).add_(u).mul_(math.sqrt(2 / math.pi)).tanh_().add_(1).mul_(u).mul_(0.5)
    return torch.as_tensor(z)
