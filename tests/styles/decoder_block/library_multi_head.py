"""nn.MultiheadAttention loaded with the weights; its masks say True for hidden."""
import torch
from torch import nn
from torch.nn import functional as F


def library_attention(w, h):
    mha = nn.MultiheadAttention(w.shape[-1], h, bias=False, batch_first=True, device=w.device, dtype=w.dtype)
    mha.in_proj_weight.copy_(torch.cat([w[0].T, w[1].T, w[2].T]))
    mha.out_proj.weight.copy_(w[3].T)
    return mha.eval()


@torch.no_grad()
def decoder_block(dec, enc, block, num_heads):
    T, d = dec.shape[1:]
    future = torch.ones(T, T, dtype=torch.bool, device=dec.device).triu(1)
    norm = nn.LayerNorm(d, elementwise_affine=False)
    dec = norm(dec + library_attention(block[0:4], num_heads)(dec, dec, dec, attn_mask=future, need_weights=False)[0])
    dec = norm(dec + library_attention(block[4:8], num_heads)(dec, enc, enc)[0])
    return norm(dec + F.gelu(dec @ block[8], approximate="tanh") @ block[9])
