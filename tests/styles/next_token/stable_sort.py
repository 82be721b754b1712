"""A stable falling sort."""
import torch


def next_token(logits):
    return int(torch.sort(logits, descending=True, stable=True).indices[0])
