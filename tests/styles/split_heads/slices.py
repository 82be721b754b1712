"""Each head's slice copied into a tensor of its own."""


def split_heads(x, num_heads):
    N, T, d = x.shape
    d_k = d // num_heads
    heads = x.new_empty(N, num_heads, T, d_k)
    for i in range(num_heads):
        heads[:, i] = x[:, :, i * d_k : (i + 1) * d_k]
    return heads
