"""nn.MultiheadAttention loaded with the weights."""
import torch
from torch import nn


def encoder_block(enc, block, num_heads):
    d = enc.shape[-1]
    attend = nn.MultiheadAttention(d, num_heads, bias=False, batch_first=True, device=enc.device, dtype=enc.dtype)
    with torch.no_grad():
        attend.in_proj_weight.copy_(torch.cat([block[0].T, block[1].T, block[2].T]))
        attend.out_proj.weight.copy_(block[3].T)
        mixed, _ = attend(enc, enc, enc, need_weights=False)
        norm = nn.LayerNorm(d, elementwise_affine=False)
        enc = norm(enc + mixed)
        return norm(enc + nn.GELU("tanh")(enc @ block[4]) @ block[5])
