"""A loop over tokens."""
import torch


def layer_norm(x):
    tokens = []
    for token in x.reshape(-1, x.shape[-1]):
        centred = token - token.sum() / token.numel()
        tokens.append(centred / torch.sqrt(centred.dot(centred) / token.numel() + 1e-5))
    return torch.stack(tokens).reshape(x.shape)
