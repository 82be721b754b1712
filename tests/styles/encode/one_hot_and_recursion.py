"""Look-up as a product with one-hot rows; blocks by recursion."""
import torch
import torch.nn.functional as F


def encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads):
    chosen = F.one_hot(src_ids.to(torch.int64), src_emb.shape[0]).to(src_emb.dtype)
    return _through(chosen @ src_emb + enc_pos_embed[None], list(enc_blocks), num_heads)


def _through(x, blocks, h):
    if not blocks:
        return x
    w = blocks[0]
    d = x.shape[-1]
    q, k, v = (torch.stack((x @ w[i]).chunk(h, dim=-1), dim=1) for i in range(3))
    weights = torch.softmax(q @ k.transpose(2, 3) * (d // h) ** -0.5, dim=-1)
    x = F.layer_norm(x + torch.cat((weights @ v).unbind(1), dim=-1) @ w[3], [d])
    return _through(F.layer_norm(x + F.gelu(x @ w[4], approximate="tanh") @ w[5], [d]), blocks[1:], h)
