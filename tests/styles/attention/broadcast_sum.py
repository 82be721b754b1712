"""No matrix product: products of broadcast axes, summed."""
import torch


def softmax(scores, allowed):
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1).nan_to_num(0.0)


def attention(q, k, v, allowed=None):
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / q.shape[-1] ** 0.5
    weights = softmax(scores, allowed)
    return (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2), weights
