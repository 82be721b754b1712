"""The ids are cast by way of a list, and lie on the CPU.

Told: Your token ids words are on the CPU
"""
import torch
from torch.nn import functional as F

from attnlab.stand_ins import decoder_block, encode


def encoder_decoder_forward(
    src_ids, tgt_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads
):
    enc = encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads)
    words = torch.tensor([[int(word) for word in row] for row in tgt_ids])
    dec = F.embedding(words, tgt_emb) + dec_pos_embed
    for block in dec_blocks:
        dec = decoder_block(dec, enc, block, num_heads)
    return dec @ w_head
