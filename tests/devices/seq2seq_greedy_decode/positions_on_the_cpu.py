"""The rows of positions are chosen by index_select with ids of the CPU.

Told: Your positions steps are on the CPU
"""
import torch

from attnlab.stand_ins import decoder_block, encode


def seq2seq_greedy_decode(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens,
):
    enc = encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads)
    seq = [start_token_id]
    for _ in range(max_new_tokens):
        prefix = torch.tensor(seq, device=src_ids.device)
        steps = torch.arange(len(seq))
        dec = (tgt_emb[prefix] + dec_pos_embed.index_select(0, steps))[None]
        for block in dec_blocks:
            dec = decoder_block(dec, enc, block, num_heads)
        seq.append(int((dec[0, -1] @ w_head).argmax()))
        if seq[-1] == eos_token_id:
            break
    return torch.tensor(seq, device=src_ids.device)
