"""A table of True with holes, a tensor of its own written in place."""
import torch


def padding_mask(ids, pad_id):
    mask = torch.ones_like(ids, dtype=torch.bool)
    mask[ids == pad_id] = False
    return mask[:, None]
