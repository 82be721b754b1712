"""Recursion instead of a loop, under inference_mode."""
import torch
import torch.nn.functional as F


def _attend(x, y, w, h, causal=False):
    q, k, v = ((z @ m).unflatten(-1, (h, -1)).transpose(0, 1) for z, m in ((x, w[0]), (y, w[1]), (y, w[2])))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(0, 1).flatten(1) @ w[3]


def _add(x, y):
    return F.layer_norm(x + y, x.shape[-1:])


def _feed(x, up, down):
    return F.gelu(x @ up, approximate="tanh") @ down


def _encode(x, blocks, h):
    for w in blocks:
        x = _add(x, _attend(x, x, w, h))
        x = _add(x, _feed(x, w[4], w[5]))
    return x


def _decode(x, enc, blocks, h):
    for w in blocks:
        x = _add(x, _attend(x, x, w, h, causal=True))
        x = _add(x, _attend(x, enc, w[4:8], h))
        x = _add(x, _feed(x, w[8], w[9]))
    return x


@torch.inference_mode()
def seq2seq_greedy_decode(
    src_ids,
    src_emb,
    tgt_emb,
    enc_pos_embed,
    dec_pos_embed,
    enc_blocks,
    dec_blocks,
    w_head,
    num_heads,
    start_token_id,
    eos_token_id,
    max_new_tokens,
):
    enc = _encode(src_emb[src_ids.long()] + enc_pos_embed, enc_blocks, num_heads)

    def grow(seq, left):
        if left <= 0:
            return seq
        dec = _decode(tgt_emb[list(seq)] + dec_pos_embed[: len(seq)], enc, dec_blocks, num_heads)
        scores = (dec[-1] @ w_head).tolist()
        token = scores.index(max(scores))
        return (*seq, token) if token == eos_token_id else grow((*seq, token), left - 1)

    return torch.tensor(grow((start_token_id,), max_new_tokens), device=src_ids.device)
