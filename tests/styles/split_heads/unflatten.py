"""unflatten and movedim."""


def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, x.shape[-1] // num_heads)).movedim(2, 1)
