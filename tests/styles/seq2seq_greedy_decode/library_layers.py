"""Library encoder and decoder layers loaded with the weights, kept in a class of one's own."""
import functools

import torch
from torch import nn
from torch.nn import functional as F

GELU = functools.partial(F.gelu, approximate="tanh")


def _load(attention, w):
    attention.in_proj_weight.copy_(torch.cat([w[0].T, w[1].T, w[2].T]))
    attention.out_proj.weight.copy_(w[3].T)


class Translator:
    def __init__(self, enc_blocks, dec_blocks, heads):
        d = enc_blocks.shape[-1]
        kind = {"batch_first": True, "bias": False, "dtype": enc_blocks.dtype, "device": enc_blocks.device}
        self.encoder, self.decoder = [], []
        for w in enc_blocks:
            layer = nn.TransformerEncoderLayer(d, heads, d, 0.0, GELU, **kind)
            _load(layer.self_attn, w)
            layer.linear1.weight.copy_(w[4].T)
            layer.linear2.weight.copy_(w[5].T)
            self.encoder.append(layer)
        for w in dec_blocks:
            layer = nn.TransformerDecoderLayer(d, heads, d, 0.0, GELU, **kind)
            _load(layer.self_attn, w[:4])
            _load(layer.multihead_attn, w[4:8])
            layer.linear1.weight.copy_(w[8].T)
            layer.linear2.weight.copy_(w[9].T)
            self.decoder.append(layer)

    def read(self, x):
        for layer in self.encoder:
            x = layer(x)
        return x

    def write(self, x, memory):
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask=hidden)
        return x


@torch.no_grad()
def seq2seq_greedy_decode(
    src_ids, src_emb, tgt_emb, enc_pos_embed, dec_pos_embed, enc_blocks, dec_blocks, w_head, num_heads,
    start_token_id, eos_token_id, max_new_tokens,
):
    model = Translator(enc_blocks, dec_blocks, num_heads)
    memory = model.read((src_emb[src_ids.long()] + enc_pos_embed).unsqueeze(0))
    ids = [start_token_id]
    for _ in range(max_new_tokens):
        x = (tgt_emb[ids] + dec_pos_embed[: len(ids)]).unsqueeze(0)
        scores = (model.write(x, memory) @ w_head)[0, -1]
        ids.append(int((scores == scores.max()).nonzero()[0]))
        if ids[-1] == eos_token_id:
            break
    return torch.tensor(ids, device=src_ids.device)
