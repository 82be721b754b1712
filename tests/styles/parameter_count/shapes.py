"""A list of shapes and math.prod."""
import math


def parameter_count(d_model, d_ff, encoder_blocks, decoder_blocks):
    attention = [(d_model, d_model)] * 4
    feed = [(d_model, d_ff), (d_ff, d_model)]
    shapes = (attention + feed) * encoder_blocks + (attention + attention + feed) * decoder_blocks
    return int(sum(map(math.prod, shapes)))
