"""NumPy computes the cube on the CPU, and it is brought back.

Told: left it by .numpy() and was sent back
"""
import torch


def gelu(u):
    cube = torch.as_tensor(u.detach().double().cpu().numpy() ** 3).to(u.device, u.dtype)
    return 0.5 * u * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (u + 0.044715 * cube)))
