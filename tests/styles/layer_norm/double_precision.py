"""Computed in float64, cast back."""


def layer_norm(x):
    y = x.double()
    y = y - y.mean(-1, keepdim=True)
    return (y / (y.square().mean(-1, keepdim=True) + 1e-5).sqrt()).to(x.dtype)
