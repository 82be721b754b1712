"""The encoder's output is kept on the CPU between the two stacks, and brought back.

Told: left it by .cpu() and was sent back
"""
import torch

from attnlab.stand_ins import decoder_block, encode


def encoder_decoder_forward(
    src_ids, tgt_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads
):
    enc = encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads).cpu()
    dec = tgt_emb[tgt_ids.long()] + dec_pos_embed
    for block in dec_blocks:
        dec = decoder_block(dec, enc.to(dec.device), block, num_heads)
    enc = enc.to(dec.device)
    return dec @ w_head
