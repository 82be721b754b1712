"""The root is a float32 tensor of no axes."""
import torch


def softmax(scores, allowed):
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1).nan_to_num(0.0)


def attention(q, k, v, allowed=None):
    scores = q @ k.transpose(-2, -1) / torch.sqrt(torch.tensor(q.shape[-1], dtype=torch.float32, device=q.device))
    weights = softmax(scores, allowed)
    return weights @ v, weights
