"""A loop over queries; each sees only the keys it may read."""
import math

import torch


def attention(q, k, v, allowed=None):
    T, S = q.shape[-2], k.shape[-2]
    batch = q.shape[:-2]
    if allowed is None:
        allowed = torch.ones(T, S, dtype=torch.bool, device=q.device)
    allowed = allowed.expand(*batch, T, S).reshape(-1, T, S)
    q_, k_, v_ = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    mixed = q.new_zeros(q_.shape[0], T, v.shape[-1])
    weights = q.new_zeros(q_.shape[0], T, S)
    for n in range(q_.shape[0]):
        for t in range(T):
            keys = allowed[n, t].nonzero().flatten()
            if len(keys):
                row = torch.softmax(k_[n, keys] @ q_[n, t] / math.sqrt(q.shape[-1]), dim=0)
                weights[n, t, keys] = row
                mixed[n, t] = row @ v_[n, keys]
    return mixed.reshape(*batch, T, -1), weights.reshape(*batch, T, S)
