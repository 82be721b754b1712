"""Where there is padding, turned round."""
import torch


def padding_mask(ids, pad_id):
    N, S = ids.shape
    return torch.logical_not(ids.long() == pad_id).reshape(N, 1, S)
