"""Queries and keys are each scaled by the fourth root."""
import torch


def softmax(scores, allowed):
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1).nan_to_num(0.0)


def attention(q, k, v, allowed=None):
    root = q.shape[-1] ** 0.25
    weights = softmax((q / root).matmul((k / root).transpose(-1, -2)), allowed)
    return weights.matmul(v), weights
