"""The sum over the heads begins with zeros of the CPU.

Told: Your constant total is on the CPU
"""
import torch

from attnlab.stand_ins import masked_softmax


def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    total = torch.zeros(*x_q.shape[:2], w_o.shape[1], dtype=x_q.dtype)
    width = w_q.shape[1] // num_heads
    for i in range(0, w_q.shape[1], width):
        part = slice(i, i + width)
        scores = (x_q @ w_q[:, part]) @ (x_kv @ w_k[:, part]).transpose(1, 2) / width**0.5
        total = total + masked_softmax(scores, allowed) @ (x_kv @ w_v[:, part]) @ w_o[part]
    return total
