"""A loop over examples, in float64 throughout, cast back at the end."""
import torch


def encoder_block(enc, block, num_heads):
    return torch.stack([_one(x.double(), block.double(), num_heads) for x in enc]).to(enc.dtype)


def _one(x, w, h):
    S, d = x.shape
    q, k, v = (torch.movedim((x @ w[i]).view(S, h, d // h), 1, 0) for i in range(3))
    scores = q.matmul(k.mT).div((d / h) ** 0.5)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    x = _norm(x + torch.cat([*(weights @ v)], dim=-1) @ w[3])
    u = x @ w[4]
    return _norm(x + (0.5 * u * (1 + torch.tanh(0.7978845608 * (u + 0.044715 * u.pow(3))))) @ w[5])


def _norm(x):
    x = x - x.mean(-1, keepdim=True)
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()
