"""The library's tanh form, which is not this exercise."""
from torch.nn import functional as F


def feed_forward(x, w_mlp1, w_mlp2):
    return F.gelu(x @ w_mlp1, approximate="tanh") @ w_mlp2
