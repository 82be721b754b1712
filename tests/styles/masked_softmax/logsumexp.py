"""exp(x - logsumexp(x))."""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is not None:
        scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return torch.nan_to_num(weights, nan=0.0)
