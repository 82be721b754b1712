"""In place, on a copy, without gradients."""
import torch


@torch.no_grad()
def masked_softmax(scores, allowed=None):
    w = scores.clone()
    if allowed is not None:
        w.masked_fill_(~allowed, -torch.inf)
    w -= w.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    w.exp_()
    total = w.sum(-1, keepdim=True)
    total[total == 0] = 1
    w /= total
    return w
