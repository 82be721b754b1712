"""permute, contiguous, view."""


def merge_heads(x):
    N, h, T, d_k = x.size()
    return x.permute(0, 2, 1, 3).contiguous().view(N, T, h * d_k)
