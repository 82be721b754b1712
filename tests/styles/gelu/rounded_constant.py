"""sqrt(2/pi) to seven digits."""
import torch


def gelu(u):
    return 0.5 * u * (1 + torch.tanh(0.7978846 * (u + 0.044715 * torch.pow(u, 3))))
