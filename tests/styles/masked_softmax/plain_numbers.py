"""math.exp and Python lists."""
import math

import torch


def masked_softmax(scores, allowed=None):
    S = scores.shape[-1]
    hidden = torch.zeros(scores.shape, dtype=torch.bool) if allowed is None else ~allowed.cpu().expand(scores.shape)
    rows = []
    for row, out in zip(scores.reshape(-1, S).tolist(), hidden.reshape(-1, S).tolist(), strict=True):
        kept = [x for x, h in zip(row, out, strict=True) if not h]
        top = max(kept, default=0.0)
        exps = [0.0 if h else math.exp(x - top) for x, h in zip(row, out, strict=True)]
        rows.append([e / (sum(exps) or 1.0) for e in exps])
    return torch.tensor(rows, dtype=scores.dtype, device=scores.device).reshape(scores.shape)
