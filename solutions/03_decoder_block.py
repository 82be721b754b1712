# %% [markdown]
# # Lesson 3 · The decoder block

# %% kind="given" name="setup"
import math

import torch

from attnlab import check, earlier

causal_mask = earlier("01_mask", "causal_mask")
multi_head_attention = earlier("02_cross_attention", "multi_head_attention")
cross_attention = earlier("02_cross_attention", "cross_attention")

# %% [markdown] exercise="layer_norm" minutes=10 difficulty=1
# Write `layer_norm`.

# %% kind="solution" exercise="layer_norm"
def layer_norm(x: torch.Tensor) -> torch.Tensor:
    """Bring each token to mean 0 and variance 1 over its own features.

    x: (..., d)
    returns: (..., d): (x - mean) / sqrt(variance + 1e-5), population variance, no scale, no bias
    """
    ### BEGIN SOLUTION
    mean = x.mean(dim=-1, keepdim=True)                   # (..., 1)
    centred = x - mean                                    # (..., d)
    variance = (centred**2).mean(dim=-1, keepdim=True)    # (..., 1), divided by d and not by d - 1
    return centred / torch.sqrt(variance + 1e-5)
    ### END SOLUTION

# %% kind="tests" exercise="layer_norm" points=4
check(layer_norm)

# %% [markdown] exercise="gelu" minutes=5 difficulty=1
# Write `gelu`.

# %% kind="solution" exercise="gelu"
def gelu(u: torch.Tensor) -> torch.Tensor:
    """The tanh form of GELU, entry by entry.

    u: any shape
    returns: the same shape: 0.5u(1 + tanh(sqrt(2/pi)(u + 0.044715u^3)))
    """
    ### BEGIN SOLUTION
    inner = math.sqrt(2.0 / math.pi) * (u + 0.044715 * u**3)
    return 0.5 * u * (1.0 + torch.tanh(inner))
    ### END SOLUTION

# %% kind="tests" exercise="gelu" points=3
check(gelu)

# %% [markdown] exercise="feed_forward" minutes=5 difficulty=1
# Write `feed_forward`.

# %% kind="solution" exercise="feed_forward"
def feed_forward(x: torch.Tensor, w_mlp1: torch.Tensor, w_mlp2: torch.Tensor) -> torch.Tensor:
    """Two matrix products with a GELU between them, each token on its own.

    x: (..., d), w_mlp1: (d, d_ff), w_mlp2: (d_ff, d)
    returns: (..., d)
    """
    ### BEGIN SOLUTION
    hidden = gelu(x @ w_mlp1)                             # (..., d_ff)
    return hidden @ w_mlp2                                # (..., d)
    ### END SOLUTION

# %% kind="tests" exercise="feed_forward" points=3
check(feed_forward)

# %% [markdown] exercise="decoder_block" minutes=20 difficulty=3
# Write `decoder_block`.

# %% kind="solution" exercise="decoder_block"
def decoder_block(dec: torch.Tensor, enc: torch.Tensor, block: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Causal self-attention, cross-attention, feed-forward; each adds its input back, then normalises.

    dec: (N, T, d), enc: (N, S, d)
    block: (12, d, d): slots 0 ... 3 self-attention, 4 ... 7 cross-attention, 8 and 9 feed-forward; 10 and 11 unused
    returns: (N, T, d)
    """
    ### BEGIN SOLUTION
    w_q, w_k, w_v, w_o = block[0:4]                       # each (d, d)
    w_mlp1, w_mlp2 = block[8:10]                          # each (d, d)
    causal = causal_mask(dec.shape[1], device=dec.device)            # (T, T)

    read_self = multi_head_attention(dec, dec, w_q, w_k, w_v, w_o, num_heads, causal)
    dec = layer_norm(dec + read_self)                     # (N, T, d)
    read_source = cross_attention(dec, enc, block, num_heads)
    dec = layer_norm(dec + read_source)                   # (N, T, d)
    return layer_norm(dec + feed_forward(dec, w_mlp1, w_mlp2))
    ### END SOLUTION

# %% kind="tests" exercise="decoder_block" points=10
check(decoder_block)
