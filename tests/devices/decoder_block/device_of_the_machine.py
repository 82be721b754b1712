"""The device is that of the machine, not that of dec.

Told: causal
"""
import torch

from attnlab.stand_ins import causal_mask, cross_attention, feed_forward, layer_norm, multi_head_attention


def decoder_block(dec, enc, block, num_heads):
    T = dec.shape[1]
    causal = causal_mask(T, device="cuda" if torch.cuda.is_available() else "cpu")
    dec = layer_norm(dec + multi_head_attention(dec, dec, *block[:4], num_heads, causal))
    dec = layer_norm(dec + cross_attention(dec, enc, block, num_heads))
    return layer_norm(dec + feed_forward(dec, block[8], block[9]))
