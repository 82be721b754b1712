"""view, then transpose."""


def split_heads(x, num_heads):
    return x.view(x.size(0), x.size(1), num_heads, -1).transpose(1, 2)
