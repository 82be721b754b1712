"""swapaxes and flatten."""


def merge_heads(x):
    return x.swapaxes(1, 2).flatten(-2)
