"""A module that is built from the block, without gradients."""
import torch
from torch import nn
from torch.nn import functional as F


class Reader(nn.Module):
    def __init__(self, weights, heads):
        super().__init__()
        self.layers = nn.ModuleList()
        for w in weights:
            layer = nn.Linear(*w.shape, bias=False, device=w.device, dtype=w.dtype)
            layer.weight.copy_(w.T)
            self.layers.append(layer)
        self.heads = heads

    def forward(self, asks, gives, mask):
        q, k, v, o = self.layers
        q, k, v = (torch.stack(x.chunk(self.heads, -1), 1) for x in (q(asks), k(gives), v(gives)))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return o(torch.cat(mixed.unbind(1), -1))


@torch.no_grad()
def cross_attention(dec, enc, block, num_heads, enc_allowed=None):
    return Reader(block[4:8], num_heads)(dec, enc, None if enc_allowed is None else enc_allowed.unsqueeze(1))
