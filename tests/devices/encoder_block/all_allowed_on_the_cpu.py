"""A mask that allows everything is made on the CPU.

Told: Your mask everything is on the CPU
"""
import torch

from attnlab.stand_ins import feed_forward, layer_norm, multi_head_attention


def encoder_block(enc, block, num_heads):
    everything = torch.ones(enc.shape[1], enc.shape[1], dtype=torch.bool)
    enc = layer_norm(enc + multi_head_attention(enc, enc, *block[:4], num_heads, everything))
    return layer_norm(enc + feed_forward(enc, block[4], block[5]))
