"""einsum for both products."""
import math

import torch


def softmax(scores, allowed):
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1).nan_to_num(0.0)


def attention(q, k, v, allowed=None):
    scores = torch.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.size(-1))
    weights = softmax(scores, allowed)
    return torch.einsum("...ts,...sv->...tv", weights, v), weights
