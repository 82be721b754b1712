"""One sine for all: a cosine is a sine a quarter turn ahead."""
import torch


def positional_encoding(length, d):
    j = torch.arange(d)
    angle = torch.arange(length).double()[:, None] * torch.pow(10000.0, -((j - j % 2).double()) / d)
    return torch.sin(angle + (j % 2) * (torch.pi / 2)).to(torch.get_default_dtype())
