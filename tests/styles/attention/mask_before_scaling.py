"""Minus infinity stays minus infinity when it is divided."""
import math

import torch


def attention(q, k, v, allowed=None):
    scores = q @ k.transpose(-2, -1)
    if allowed is not None:
        scores = torch.where(allowed, scores, -torch.inf)
    weights = torch.softmax(scores / math.sqrt(k.shape[-1]), dim=-1)
    weights = torch.where(weights.isnan(), torch.zeros_like(weights), weights)
    return weights @ v, weights
