"""All unfinished sequences are decoded as one batch; a stable sort keeps ties in the order of their ids."""
import torch
import torch.nn.functional as F


def _read(x, y, w, h, causal=False):
    q, k, v = ((z @ m).unflatten(-1, (h, -1)).transpose(1, 2) for z, m in ((x, w[0]), (y, w[1]), (y, w[2])))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2) @ w[3]


def _add(x, y):
    return F.layer_norm(x + y, x.shape[-1:])


def beam_search(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens, beam_width,
):
    enc = (src_emb[src_ids.long()] + enc_pos_embed)[None]
    for w in enc_blocks:
        enc = _add(enc, _read(enc, enc, w, num_heads))
        enc = _add(enc, F.gelu(enc @ w[4], approximate="tanh") @ w[5])
    open_, closed = [(0.0, [start_token_id])], []
    steps = 0
    while open_ and steps < max_new_tokens:
        ids = torch.tensor([seq for _, seq in open_], device=src_ids.device)
        x = tgt_emb[ids] + dec_pos_embed[: ids.shape[1]]
        for w in dec_blocks:
            x = _add(x, _read(x, x, w, num_heads, causal=True))
            x = _add(x, _read(x, enc.expand(len(ids), -1, -1), w[4:8], num_heads))
            x = _add(x, F.gelu(x @ w[8], approximate="tanh") @ w[9])
        log_p = torch.log_softmax(x[:, -1] @ w_head, -1).tolist()
        grown = [(s + p, [*seq, i]) for (s, seq), row in zip(open_, log_p, strict=True) for i, p in enumerate(row)]
        everything = sorted(closed + grown, key=lambda one: one[1])
        everything.sort(key=lambda one: one[0], reverse=True)
        best = everything[:beam_width]
        closed = [one for one in best if len(one[1]) > 1 and one[1][-1] == eos_token_id]
        open_ = [one for one in best if one not in closed]
        steps += 1
    winner = sorted(closed + open_, key=lambda one: (-one[0], one[1]))[0]
    return torch.tensor(winner[1], device=src_ids.device)
