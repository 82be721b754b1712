"""Library attention, norm and GELU in one function."""
import torch.nn.functional as F


def encoder_decoder_forward(
    src_ids, tgt_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads
):
    def attend(x, y, w, causal=False):
        q, k, v = ((z @ m).unflatten(-1, (num_heads, -1)).transpose(1, 2) for z, m in zip((x, y, y), w, strict=False))
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2) @ w[3]

    def norm(x):
        return F.layer_norm(x, x.shape[-1:])

    def feed(x, up, down):
        return F.gelu(x @ up, approximate="tanh") @ down

    enc = src_emb[src_ids.long()] + enc_pos_embed
    for w in enc_blocks:
        enc = norm(enc + attend(enc, enc, w[:4]))
        enc = norm(enc + feed(enc, w[4], w[5]))
    dec = tgt_emb[tgt_ids.long()] + dec_pos_embed
    for w in dec_blocks:
        dec = norm(dec + attend(dec, dec, w[:4], causal=True))
        dec = norm(dec + attend(dec, enc, w[4:8]))
        dec = norm(dec + feed(dec, w[8], w[9]))
    return dec @ w_head
