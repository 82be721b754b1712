"""Library attention, norm and GELU."""
import torch.nn.functional as F


def encoder_block(enc, block, num_heads):
    d = enc.shape[-1]
    q, k, v = ((enc @ w).unflatten(-1, (num_heads, -1)).transpose(1, 2) for w in block[:3])
    mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
    enc = F.layer_norm(enc + mixed @ block[3], (d,))
    return F.layer_norm(enc + F.gelu(enc @ block[4], approximate="tanh") @ block[5], (d,))
