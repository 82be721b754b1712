"""The two matrices of the scores are multiplied first, head by head."""
import torch


def cross_attention(dec, enc, block, num_heads, enc_allowed=None):
    w_q, w_k, w_v, w_o = torch.unbind(block)[4:8]
    d_k = dec.shape[-1] // num_heads
    parts = zip(*(w.split(d_k, dim=1) for w in (w_q, w_k, w_v)), w_o.split(d_k, dim=0), strict=True)
    out = 0
    for q, k, v, o in parts:
        scores = dec @ (q @ k.T) @ enc.mT / d_k**0.5
        if enc_allowed is not None:
            scores = scores.where(enc_allowed, -torch.inf)
        out = out + scores.softmax(-1) @ (enc @ (v @ o))
    return out
