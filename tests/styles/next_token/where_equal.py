"""The smallest of all indices with the largest score."""
import torch


def next_token(logits):
    ids = torch.arange(logits.shape[0], device=logits.device)
    return torch.where(logits == logits.amax(), ids, logits.shape[0]).min()
