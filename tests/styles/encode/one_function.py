"""All in one function, with embedding look-up from the library."""
import torch.nn.functional as F


def encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads):
    x = F.embedding(src_ids.long(), src_emb).add(enc_pos_embed)
    n = x.shape[-1:]
    for w_q, w_k, w_v, w_o, up, down in enc_blocks:
        heads = [(x @ w).unflatten(2, (num_heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v)]
        x = F.layer_norm(x + F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2) @ w_o, n)
        x = F.layer_norm(x + F.gelu(x @ up, approximate="tanh") @ down, n)
    return x
