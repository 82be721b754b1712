"""A gain of ones and a bias of zeros are made on the CPU.

Told: Your constant gain is on the CPU, x is on cuda:0; make it with device=x.device
"""
import torch


def layer_norm(x):
    gain, bias = torch.ones(x.shape[-1], dtype=x.dtype), torch.zeros(x.shape[-1], dtype=x.dtype)
    centred = x - x.mean(-1, keepdim=True)
    return centred / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt() * gain + bias
