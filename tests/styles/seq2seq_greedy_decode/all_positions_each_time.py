"""A padded batch of fixed length: every pass runs over all the budget's positions, and one row of it is read."""
import torch
import torch.nn.functional as F


def _read(x, y, w, h, causal=False):
    q, k, v = ((z @ m).unflatten(-1, (h, -1)).transpose(0, 1) for z, m in ((x, w[0]), (y, w[1]), (y, w[2])))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(0, 1).flatten(1) @ w[3]


def _add(x, y):
    return F.layer_norm(x + y, x.shape[-1:])


def seq2seq_greedy_decode(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens,
):
    enc = src_emb[src_ids.long()] + enc_pos_embed
    for w in enc_blocks:
        enc = _add(enc, _read(enc, enc, w, num_heads))
        enc = _add(enc, F.gelu(enc @ w[4], approximate="tanh") @ w[5])
    budget = max(0, max_new_tokens)
    ids = torch.full((budget + 1,), start_token_id, dtype=torch.long, device=src_ids.device)
    for t in range(budget):
        x = tgt_emb[ids[:budget]] + dec_pos_embed[:budget]  # what stands after position t cannot be read from it
        for w in dec_blocks:
            x = _add(x, _read(x, x, w, num_heads, causal=True))
            x = _add(x, _read(x, enc, w[4:8], num_heads))
            x = _add(x, F.gelu(x @ w[8], approximate="tanh") @ w[9])
        ids[t + 1] = (x[t] @ w_head).argmax()
        if ids[t + 1] == eos_token_id:
            return ids[: t + 2].clone()
    return ids
