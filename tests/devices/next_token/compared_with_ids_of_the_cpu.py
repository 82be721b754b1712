"""The smallest winner is found among ids of the CPU.

Told: Your positions ids are on the CPU
"""
import torch


def next_token(logits):
    ids = torch.arange(len(logits))
    return int(torch.where(logits == logits.max(), ids, len(logits)).min())
