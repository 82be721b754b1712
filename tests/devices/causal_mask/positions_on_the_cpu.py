"""The positions are made on the default device, whatever device is asked for.

Told: another device asked for
"""
import torch


def causal_mask(length, device=None):
    position = torch.arange(length)
    return position[:, None] >= position
