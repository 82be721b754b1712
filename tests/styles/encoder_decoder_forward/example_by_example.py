"""A loop over the batch, everything in float64, cast back; the dtype's smallest number hides."""
import torch


def encoder_decoder_forward(
    src_ids, tgt_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads
):
    kind = w_head.dtype
    src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head = (
        x.double() for x in (src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head)
    )
    h = num_heads
    out = []
    for source, target in zip(src_ids.long(), tgt_ids.long(), strict=True):
        enc = src_emb[source] + enc_pos_embed
        for w in enc_blocks:
            enc = _norm(enc + _read(enc, enc, w, h))
            enc = _norm(enc + _feed(enc, w[4], w[5]))
        dec = tgt_emb[target] + dec_pos_embed
        for w in dec_blocks:
            dec = _norm(dec + _read(dec, dec, w[:4], h, past=True))
            dec = _norm(dec + _read(dec, enc, w[4:8], h))
            dec = _norm(dec + _feed(dec, w[8], w[9]))
        out.append(dec @ w_head)
    return torch.stack(out).to(kind)


def _read(x, y, w, h, past=False):
    q, k, v = ((z @ m).reshape(len(z), h, -1) for z, m in ((x, w[0]), (y, w[1]), (y, w[2])))
    scores = torch.einsum("thk,shk->hts", q * q.shape[-1] ** -0.5, k)
    if past:
        t, s = torch.arange(len(x), device=x.device), torch.arange(len(y), device=x.device)
        scores = torch.where(s[None, :] > t[:, None], torch.finfo(scores.dtype).min, scores)
    return torch.einsum("hts,shk->thk", scores.softmax(-1), v).reshape(len(x), -1) @ w[3]


def _feed(x, up, down):
    u = x @ up
    return (u / (1 + torch.exp(-1.5957691216057308 * (u + 0.044715 * u**3)))) @ down


def _norm(x):
    return (x - x.mean(1, keepdim=True)) / (x.var(1, correction=0, keepdim=True) + 1e-5) ** 0.5
