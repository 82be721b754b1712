"""A loop over rows that takes only the allowed keys of each."""
import torch


def masked_softmax(scores, allowed=None):
    if allowed is None:
        allowed = torch.ones_like(scores, dtype=torch.bool)
    allowed = allowed.expand(scores.shape)
    out = torch.zeros_like(scores)
    flat, readable, rows = scores.reshape(-1, scores.shape[-1]), allowed.reshape(-1, scores.shape[-1]), []
    for x, ok in zip(flat, readable, strict=True):
        row = torch.zeros_like(x)
        if ok.any():
            row[ok] = torch.softmax(x[ok], dim=0)
        rows.append(row)
    out.copy_(torch.stack(rows).reshape(scores.shape))
    return out
