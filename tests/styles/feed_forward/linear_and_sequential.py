"""F.linear with transposed matrices, and nn.GELU."""
from torch import nn
from torch.nn import functional as F


def feed_forward(x, w_mlp1, w_mlp2):
    return F.linear(nn.GELU("tanh")(F.linear(x, w_mlp1.T)), w_mlp2.t())
