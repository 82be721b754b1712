"""The sequence is a tensor that grows; for and else."""
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


@torch.no_grad()
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
    seq = torch.tensor([start_token_id], device=src_ids.device)
    for step in range(1, max_new_tokens + 1):
        dec = _decode(tgt_emb[seq] + dec_pos_embed[:step], enc, dec_blocks, num_heads)
        chosen = (dec[-1:] @ w_head).argmax(dim=-1)
        seq = torch.cat([seq, chosen])
        if chosen.item() == eos_token_id:
            break
    else:
        return seq
    return seq
