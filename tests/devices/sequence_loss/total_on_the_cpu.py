"""The losses are added up, in place, in a number on the CPU.

Told: Your constant total is on the CPU
"""
import torch


def sequence_loss(logits, targets, pad_id=None):
    total, count = torch.tensor(0.0, dtype=logits.dtype), 0
    for row, word in zip(logits.flatten(0, 1), targets.flatten().tolist()):
        if word != pad_id:
            total += row.logsumexp(-1) - row[int(word)]
            count += 1
    return total / count
