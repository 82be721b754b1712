"""A list of functions, run one after the other."""
from functools import reduce

import torch
from torch.nn import functional as F


def decoder_block(dec, enc, block, num_heads):
    T, d = dec.shape[1:]
    causal = torch.ones(T, T, device=dec.device).tril().bool()

    def reader(first, source, mask):
        def read(x):
            y = x if source is None else source
            q, k, v = (
                (z @ block[first + i]).view(len(z), -1, num_heads, d // num_heads).transpose(1, 2)
                for i, z in enumerate((x, y, y))
            )
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return mixed.transpose(1, 2).reshape(x.shape) @ block[first + 3]

        return read

    sublayers = [
        reader(0, None, causal),
        reader(4, enc, None),
        lambda x: F.gelu(x @ block[8], approximate="tanh") @ block[9],
    ]
    return reduce(lambda x, f: F.layer_norm(x + f(x), (d,)), sublayers, dec)
