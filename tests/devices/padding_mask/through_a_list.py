"""The mask is made of Python's own lists, and lies on the CPU.

Told: the result is on the CPU
"""
import torch


def padding_mask(ids, pad_id):
    return torch.tensor([[word != pad_id for word in row] for row in ids.tolist()])[:, None, :]
