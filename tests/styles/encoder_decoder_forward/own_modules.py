"""A model class with library attention modules loaded from the weights, under inference_mode."""
import torch
from torch import nn
from torch.nn import functional as F


class Reader(nn.Module):
    """nn.MultiheadAttention, whose masks say True for hidden and whose weights are (out, in)."""

    def __init__(self, w, h):
        super().__init__()
        self.inner = nn.MultiheadAttention(w.shape[-1], h, bias=False, batch_first=True, device=w.device, dtype=w.dtype)
        self.inner.in_proj_weight.copy_(w[:3].mT.flatten(0, 1))
        self.inner.out_proj.weight.copy_(w[3].T)

    def forward(self, x, y, hidden=None):
        return self.inner(x, y, y, attn_mask=hidden, need_weights=False)[0]


def _step(x, y):
    return F.layer_norm(x + y, (x.shape[-1],), eps=1e-5)


def _feed(x, up, down):
    return F.linear(F.gelu(F.linear(x, up.T), approximate="tanh"), down.T)


@torch.no_grad()
def encoder_decoder_forward(
    src_ids, tgt_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads
):
    enc = F.embedding(src_ids.long(), src_emb) + enc_pos_embed
    for w in enc_blocks:
        enc = _step(enc, Reader(w[:4], num_heads)(enc, enc))
        enc = _step(enc, _feed(enc, w[4], w[5]))
    dec = F.embedding(tgt_ids.long(), tgt_emb) + dec_pos_embed
    T = tgt_ids.shape[1]
    hidden = torch.triu(torch.ones(T, T, dtype=torch.bool, device=dec.device), diagonal=1)
    for w in dec_blocks:
        dec = _step(dec, Reader(w[0:4], num_heads)(dec, dec, hidden))
        dec = _step(dec, Reader(w[4:8], num_heads)(dec, enc))
        dec = _step(dec, _feed(dec, w[8], w[9]))
    return dec @ w_head
