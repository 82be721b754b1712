"""One pass over the keys with a running maximum and a running sum."""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is not None:
        scores = torch.where(allowed, scores, float("-inf"))
    top = torch.full_like(scores[..., 0], float("-inf"))
    total = torch.zeros_like(top)
    for s in range(scores.shape[-1]):
        x = scores[..., s]
        new = torch.maximum(top, x)
        safe = torch.where(new == float("-inf"), torch.zeros_like(new), new)
        total = total * torch.exp(top - safe) + torch.exp(x - safe)
        top = new
    safe = torch.where(top == float("-inf"), torch.zeros_like(top), top)
    total = torch.where(total == 0, torch.ones_like(total), total)
    return torch.exp(scores - safe[..., None]) / total[..., None]
