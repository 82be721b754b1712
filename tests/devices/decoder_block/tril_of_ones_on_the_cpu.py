"""The triangle is made on the default device.

Told: Your mask causal is on the CPU
"""
import torch

from attnlab.stand_ins import causal_mask, cross_attention, feed_forward, layer_norm, multi_head_attention


def decoder_block(dec, enc, block, num_heads):
    T = dec.shape[1]
    causal = torch.tril(torch.ones(T, T)).bool()
    dec = layer_norm(dec + multi_head_attention(dec, dec, *block[:4], num_heads, causal))
    dec = layer_norm(dec + cross_attention(dec, enc, block, num_heads))
    return layer_norm(dec + feed_forward(dec, block[8], block[9]))
