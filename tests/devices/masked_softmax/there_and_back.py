"""The scores go to the CPU, and the weights come back.

Told: a tensor left it by .cpu() and was sent back
"""
import torch


def masked_softmax(scores, allowed=None):
    there, scores = scores.device, scores.cpu()
    if allowed is not None:
        scores = scores.masked_fill(~allowed.cpu(), -torch.inf)
    return torch.softmax(scores, dim=-1).nan_to_num().to(there)
