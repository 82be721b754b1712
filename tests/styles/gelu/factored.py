"""u taken out of the bracket."""
import torch


def gelu(u):
    c = (2.0 / torch.pi) ** 0.5
    return u / 2 + u / 2 * (c * u * (1 + 0.044715 * u.square())).tanh()
