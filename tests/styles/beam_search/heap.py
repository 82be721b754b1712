"""The kept sequences come from a heap; finished ones are tuples that end in EOS."""
import heapq

import torch
import torch.nn.functional as F


def _read(x, y, w, h, causal=False):
    q, k, v = ((z @ m).unflatten(-1, (h, -1)).transpose(0, 1) for z, m in ((x, w[0]), (y, w[1]), (y, w[2])))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(0, 1).flatten(1) @ w[3]


def _add(x, y):
    return F.layer_norm(x + y, x.shape[-1:])


@torch.no_grad()
def beam_search(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens, beam_width,
):
    enc = src_emb[src_ids.long()] + enc_pos_embed
    for w in enc_blocks:
        enc = _add(enc, _read(enc, enc, w, num_heads))
        enc = _add(enc, F.gelu(enc @ w[4], approximate="tanh") @ w[5])
    kept = [(0.0, (start_token_id,), False)]
    for _ in range(max_new_tokens):
        if all(done for _, _, done in kept):
            break
        grown = []
        for cost, ids, done in kept:
            if done:
                grown.append((cost, ids, True))
                continue
            x = tgt_emb[list(ids)] + dec_pos_embed[: len(ids)]
            for w in dec_blocks:
                x = _add(x, _read(x, x, w, num_heads, causal=True))
                x = _add(x, _read(x, enc, w[4:8], num_heads))
                x = _add(x, F.gelu(x @ w[8], approximate="tanh") @ w[9])
            scores = x[-1] @ w_head
            costs = (scores.logsumexp(0) - scores).tolist()
            grown += [(cost + c, (*ids, token), token == eos_token_id) for token, c in enumerate(costs)]
        kept = heapq.nsmallest(beam_width, grown)
    return torch.tensor(min(kept)[1], device=src_ids.device)
