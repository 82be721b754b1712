"""The library's attention, norm and GELU."""
from torch.nn import functional as F


def heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def attend(a, b, w, h, causal):
    mixed = F.scaled_dot_product_attention(heads(a @ w[0], h), heads(b @ w[1], h), heads(b @ w[2], h), is_causal=causal)
    return mixed.transpose(1, 2).flatten(2) @ w[3]


def decoder_block(dec, enc, block, num_heads):
    d = dec.shape[-1]
    dec = F.layer_norm(dec + attend(dec, dec, block[0:4], num_heads, True), (d,))
    dec = F.layer_norm(dec + attend(dec, enc, block[4:8], num_heads, False), (d,))
    return F.layer_norm(dec + F.gelu(dec @ block[8], approximate="tanh") @ block[9], (d,))
