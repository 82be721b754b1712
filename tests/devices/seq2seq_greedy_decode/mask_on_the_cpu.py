"""The causal mask of the prefix is made on the CPU.

Told: Your mask causal is on the CPU
"""
import torch

from attnlab.stand_ins import cross_attention, encode, feed_forward, layer_norm, multi_head_attention


def _block(dec, enc, block, h):
    causal = torch.ones(dec.shape[1], dec.shape[1], dtype=torch.bool).tril()
    dec = layer_norm(dec + multi_head_attention(dec, dec, *block[:4], h, causal))
    dec = layer_norm(dec + cross_attention(dec, enc, block, h))
    return layer_norm(dec + feed_forward(dec, block[8], block[9]))


def seq2seq_greedy_decode(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens,
):
    enc = encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads)
    seq = [start_token_id]
    for _ in range(max_new_tokens):
        prefix = torch.tensor(seq, device=src_ids.device)
        dec = (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None]
        for block in dec_blocks:
            dec = _block(dec, enc, block, num_heads)
        seq.append(int((dec[0, -1] @ w_head).argmax()))
        if seq[-1] == eos_token_id:
            break
    return torch.tensor(seq, device=src_ids.device)
