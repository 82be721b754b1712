"""Rolled round, then the first column written over, in a tensor of its own."""
import torch


def shift_right(ids, bos_id):
    shifted = torch.roll(ids, shifts=1, dims=1)
    shifted[:, 0] = bos_id
    return shifted
