"""gather is given targets of the CPU.

Told: Your token ids words are on the CPU
"""
import torch


def sequence_loss(logits, targets, pad_id=None):
    words = torch.tensor(targets.tolist()).long()
    losses = logits.logsumexp(-1) - logits.gather(-1, words[..., None])[..., 0]
    return losses[targets != pad_id].mean() if pad_id is not None else losses.mean()
