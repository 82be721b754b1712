"""Only allowed scores are looked at: their maximum, their exponentials, their sum."""
import torch


def masked_softmax(scores, allowed=None):
    allowed = torch.ones_like(scores, dtype=torch.bool) if allowed is None else allowed.expand_as(scores)
    lowest = scores.amin(dim=-1, keepdim=True)
    top = torch.where(allowed, scores, lowest).amax(dim=-1, keepdim=True)
    exp = torch.where(allowed, torch.exp(torch.where(allowed, scores - top, 0.0)), 0.0)
    return exp / exp.sum(dim=-1, keepdim=True).clamp(min=1e-30)
