"""The id to compare with is a tensor with an axis, made on the CPU.

Told: Your token ids pad are on the CPU, ids is on cuda:0; make them with device=ids.device
"""
import torch


def padding_mask(ids, pad_id):
    pad = torch.tensor([pad_id])
    return (ids.long() != pad)[:, None, :]
