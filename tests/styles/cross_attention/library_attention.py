"""The library's scaled dot-product attention."""
from torch.nn import functional as F


def cross_attention(dec, enc, block, num_heads, enc_allowed=None):
    _N, _T, _d = dec.shape
    split = lambda x: x.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # noqa: E731
    mask = None if enc_allowed is None else enc_allowed[:, None]
    out = F.scaled_dot_product_attention(split(dec @ block[4]), split(enc @ block[5]), split(enc @ block[6]), mask)
    return out.transpose(1, 2).flatten(-2) @ block[7]
