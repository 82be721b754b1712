"""max with its indices, then item."""
import torch


def next_token(logits):
    return torch.max(logits, dim=0).indices.item()
