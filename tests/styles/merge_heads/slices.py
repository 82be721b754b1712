"""Each head written into its slice of a tensor of its own."""


def merge_heads(x):
    N, h, T, d_k = x.shape
    merged = x.new_zeros(N, T, h * d_k)
    for i in range(h):
        merged[..., i * d_k : (i + 1) * d_k] = x[:, i]
    return merged
