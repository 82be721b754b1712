"""Computed in float64, cast back."""
import torch


def masked_softmax(scores, allowed=None):
    x = scores.double()
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values) if allowed is None else None
    if allowed is not None:
        x = torch.where(allowed, x, torch.full_like(x, -torch.inf))
        top = x.max(dim=-1, keepdim=True).values.clamp(min=torch.finfo(x.dtype).min)
        e = torch.exp(x - top)
    total = e.sum(dim=-1, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0)).to(scores.dtype)
