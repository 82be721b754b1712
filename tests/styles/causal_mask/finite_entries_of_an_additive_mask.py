"""The mask of nn.Transformer, asked where it is finite."""
import torch


def causal_mask(length, device=None):
    return torch.nn.Transformer.generate_square_subsequent_mask(length, device=device or "cpu") == 0
