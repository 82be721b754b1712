"""The exponential of the library's log-softmax."""
import torch
from torch.nn import functional as F


def masked_softmax(scores, allowed=None):
    if allowed is None:
        return F.log_softmax(scores, dim=-1).exp()
    weights = F.log_softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1).exp()
    return weights.masked_fill(weights.isnan(), 0.0)
