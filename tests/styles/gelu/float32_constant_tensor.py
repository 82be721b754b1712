"""The constant is a float32 tensor of no axes."""
import torch


def gelu(u):
    c = torch.sqrt(torch.tensor(2.0 / torch.pi, dtype=torch.float32, device=u.device))
    return 0.5 * u * (1.0 + torch.tanh(c * (u + 0.044715 * u**3)))
