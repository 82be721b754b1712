"""The logits of each example are gathered in a tensor of the CPU.

Told: the result is on the CPU
"""
import torch

from attnlab.stand_ins import decoder_block, encode


def encoder_decoder_forward(
    src_ids, tgt_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads
):
    enc = encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads)
    dec = tgt_emb[tgt_ids.long()] + dec_pos_embed
    for block in dec_blocks:
        dec = decoder_block(dec, enc, block, num_heads)
    logits = torch.zeros(*tgt_ids.shape, w_head.shape[1], dtype=w_head.dtype)
    for n in range(len(logits)):
        logits[n] = dec[n] @ w_head
    return logits
