"""NumPy looks for the largest score, in a tensor of the CPU only.

Told: to numpy
"""
import torch


def next_token(logits):
    return int(logits.numpy().argmax())
