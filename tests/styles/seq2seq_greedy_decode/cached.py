"""A cache of keys and values: each step feeds the newest token alone; keys and values of the source are made once."""
import torch
import torch.nn.functional as F


def _cut(x, h):
    return x.unflatten(-1, (h, -1)).transpose(0, 1)


def _mix(q, k, v, w_o, h):
    weights = torch.softmax(_cut(q, h) @ _cut(k, h).mT / (q.shape[-1] / h) ** 0.5, dim=-1)
    return (weights @ _cut(v, h)).transpose(0, 1).flatten(1) @ w_o


def _add(x, y):
    return F.layer_norm(x + y, x.shape[-1:])


def _feed(x, up, down):
    return F.gelu(x @ up, approximate="tanh") @ down


def seq2seq_greedy_decode(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens,
):
    h = num_heads
    enc = src_emb[src_ids.long()] + enc_pos_embed
    for w in enc_blocks:
        enc = _add(enc, _mix(enc @ w[0], enc @ w[1], enc @ w[2], w[3], h))
        enc = _add(enc, _feed(enc, w[4], w[5]))
    source = [(enc @ w[5], enc @ w[6]) for w in dec_blocks]
    past = [(enc[:0], enc[:0]) for _ in dec_blocks]
    seq = [start_token_id]
    while len(seq) <= max_new_tokens:
        x = tgt_emb[seq[-1]][None] + dec_pos_embed[len(seq) - 1]
        for i, w in enumerate(dec_blocks):
            past[i] = torch.cat([past[i][0], x @ w[1]]), torch.cat([past[i][1], x @ w[2]])
            x = _add(x, _mix(x @ w[0], *past[i], w[3], h))
            x = _add(x, _mix(x @ w[4], *source[i], w[7], h))
            x = _add(x, _feed(x, w[8], w[9]))
        seq.append(int(torch.argmax(x[0] @ w_head)))
        if seq[-1] == eos_token_id:
            break
    return torch.tensor(seq, device=src_ids.device)
