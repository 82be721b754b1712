"""On a machine with a GPU the table is made there.

Told: the result is on cuda:0
"""
import torch


def positional_encoding(length, d):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    i, j = torch.arange(length, device=device)[:, None], torch.arange(d, device=device)
    angle = i.double() / 10000 ** (2 * (j // 2) / d).double()
    return torch.where(j % 2 == 0, angle.sin(), angle.cos()).to(torch.get_default_dtype())
