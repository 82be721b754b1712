"""Rows of Python's numbers, made into a tensor of the CPU.

Told: the result is on the CPU
"""
import torch


def shift_right(ids, bos_id):
    return torch.tensor([[bos_id, *row[:-1]] for row in ids.tolist()], dtype=ids.dtype)
