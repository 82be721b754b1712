"""A loop over heads, each with its share of the output projection."""
import math

import torch


def _norm(x):
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(var + 1e-5)


def encoder_block(enc, block, num_heads):
    w_q, w_k, w_v, w_o, up, down = block.unbind()
    size = enc.shape[-1] // num_heads
    total = enc.clone()
    for h in range(num_heads):
        part = slice(h * size, (h + 1) * size)
        scores = torch.einsum("ntk,nsk->nts", enc @ w_q[:, part], enc @ w_k[:, part]) / math.sqrt(size)
        total += torch.softmax(scores, dim=2) @ (enc @ w_v[:, part]) @ w_o[part]
    x = _norm(total)
    u = x @ up
    return _norm(x + u * torch.sigmoid(2 * math.sqrt(2 / math.pi) * u * (1 + 0.044715 * u * u)) @ down)
