"""Powers of a number on the unit circle: its imaginary part is the sine."""
import torch


def positional_encoding(length, d):
    pairs = (d + 1) // 2
    angle = torch.outer(torch.arange(length).double(), 10000.0 ** -(2 * torch.arange(pairs).double() / d))
    turn = torch.polar(torch.ones_like(angle), angle)
    both = torch.stack([turn.imag, turn.real], dim=-1).flatten(1)
    return both[:, :d].to(torch.get_default_dtype())
