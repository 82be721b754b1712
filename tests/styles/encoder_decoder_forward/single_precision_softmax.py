"""Heads folded into the batch, the softmax in float32, a mask of zeros and minus infinities."""
import torch
import torch.nn.functional as F


def encoder_decoder_forward(
    src_ids, tgt_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads
):
    N, T = tgt_ids.shape
    d = w_head.shape[0]
    mask = torch.zeros(T, T, device=w_head.device, dtype=torch.float32)
    for t in range(T):
        mask[t, t + 1 :] = float("-inf")

    def fold(x):
        return x.view(N, -1, num_heads, d // num_heads).permute(0, 2, 1, 3).reshape(N * num_heads, -1, d // num_heads)

    def attend(x, y, w, mask=None):
        q, k, v = fold(x @ w[0]), fold(y @ w[1]), fold(y @ w[2])
        scores = torch.bmm(q, k.transpose(1, 2)).float() / (d / num_heads) ** 0.5
        weights = torch.softmax(scores if mask is None else scores + mask, dim=-1).to(v.dtype)
        joined = torch.bmm(weights, v).view(N, num_heads, -1, d // num_heads).permute(0, 2, 1, 3)
        return joined.reshape(N, -1, d) @ w[3]

    def norm(x):
        return F.layer_norm(x, [d])

    enc = src_emb[src_ids.to(torch.int64)] + enc_pos_embed
    for w in enc_blocks:
        enc = norm(enc + attend(enc, enc, w))
        enc = norm(enc + F.gelu(enc @ w[4], approximate="tanh") @ w[5])
    dec = tgt_emb[tgt_ids.to(torch.int64)] + dec_pos_embed
    for w in dec_blocks:
        dec = norm(dec + attend(dec, dec, w, mask))
        dec = norm(dec + attend(dec, enc, w[4:]))
        dec = norm(dec + F.gelu(dec @ w[8], approximate="tanh") @ w[9])
    return dec @ w_head
