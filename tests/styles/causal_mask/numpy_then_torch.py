"""Made by numpy, moved to where it is wanted."""
import numpy as np
import torch


def causal_mask(length, device=None):
    mask = torch.from_numpy(np.tri(length, dtype=bool))
    return mask if device is None else mask.to(device)
