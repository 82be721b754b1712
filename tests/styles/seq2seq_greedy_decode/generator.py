"""A generator yields tokens, a closure holds the context, and a batch axis runs through everything."""
import torch
import torch.nn.functional as F


def _tokens(score, start, eos, budget):
    prefix = [start]
    yield start
    for _ in range(budget):
        token = max(enumerate(score(prefix)), key=lambda pair: (pair[1], -pair[0]))[0]
        yield token
        if token == eos:
            return
        prefix.append(token)


def seq2seq_greedy_decode(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens,
):
    d = w_head.shape[0]

    def attend(x, y, w, hide=None):
        q, k, v = (torch.stack((z @ m).split(d // num_heads, -1), 1) for z, m in ((x, w[0]), (y, w[1]), (y, w[2])))
        scores = torch.einsum("nhtk,nhsk->nhts", q, k) / (d // num_heads) ** 0.5
        weights = (scores if hide is None else scores.masked_fill(hide, -torch.inf)).softmax(-1)
        return torch.einsum("nhts,nhsk->nthk", weights, v).reshape(x.shape) @ w[3]

    def add(x, y):
        return F.layer_norm(x + y, (d,))

    context = (src_emb[src_ids.long()] + enc_pos_embed)[None]
    for w in enc_blocks:
        context = add(context, attend(context, context, w))
        context = add(context, F.gelu(context @ w[4], approximate="tanh") @ w[5])

    def score(prefix):
        T = len(prefix)
        hide = torch.ones(T, T, dtype=torch.bool, device=w_head.device).triu(1)
        x = (tgt_emb[torch.tensor(prefix, device=w_head.device)] + dec_pos_embed[:T])[None]
        for w in dec_blocks:
            x = add(x, attend(x, x, w, hide))
            x = add(x, attend(x, context, w[4:8]))
            x = add(x, F.gelu(x @ w[8], approximate="tanh") @ w[9])
        return (x @ w_head)[0, -1].tolist()

    chosen = _tokens(score, start_token_id, eos_token_id, max_new_tokens)
    return torch.tensor(list(chosen), device=src_ids.device)
