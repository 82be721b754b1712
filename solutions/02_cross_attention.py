# %% [markdown]
# # Lesson 2 · Cross-attention

# %% kind="given" name="setup"
import math

import torch

from attnlab import check, earlier

masked_softmax = earlier("01_mask", "masked_softmax")

# %% [markdown] exercise="split_heads" minutes=5 difficulty=1
# Write `split_heads`.

# %% kind="solution" exercise="split_heads"
def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Cut the features into heads.

    x: (N, T, d)
    num_heads: h, divides d
    returns: (N, h, T, d_k); head i is features i*d_k ... (i+1)*d_k - 1
    """
    ### BEGIN SOLUTION
    N, T, d = x.shape
    x = x.reshape(N, T, num_heads, d // num_heads)        # (N, T, h, d_k)
    return x.transpose(1, 2)                              # (N, h, T, d_k)
    ### END SOLUTION

# %% kind="tests" exercise="split_heads" points=3
check(split_heads)

# %% [markdown] exercise="merge_heads" minutes=5 difficulty=1
# Write `merge_heads`.

# %% kind="solution" exercise="merge_heads"
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Put the heads back side by side: the exact inverse of split_heads.

    x: (N, h, T, d_k)
    returns: (N, T, h*d_k), heads in their original order
    """
    ### BEGIN SOLUTION
    N, h, T, d_k = x.shape
    x = x.transpose(1, 2)                                 # (N, T, h, d_k)
    return x.reshape(N, T, h * d_k)                       # (N, T, d)
    ### END SOLUTION

# %% kind="tests" exercise="merge_heads" points=3
check(merge_heads)

# %% [markdown] exercise="attention" minutes=15 difficulty=2
# Write `attention`.

# %% kind="solution" exercise="attention"
def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, allowed: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention.

    q: (..., T, d_k), k: (..., S, d_k), v: (..., S, d_v)
    allowed: bool, broadcastable to (..., T, S), True where the key may be read; None allows all
    returns: mixed values (..., T, d_v) and the weights that mixed them (..., T, S)
    """
    ### BEGIN SOLUTION
    d_k = q.shape[-1]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)     # (..., T, S)
    weights = masked_softmax(scores, allowed)             # (..., T, S)
    return weights @ v, weights                           # (..., T, d_v)
    ### END SOLUTION

# %% kind="tests" exercise="attention" points=6
check(attention)

# %% [markdown] exercise="multi_head_attention" minutes=15 difficulty=2
# Write `multi_head_attention`.

# %% kind="solution" exercise="multi_head_attention"
def multi_head_attention(
    x_q: torch.Tensor,
    x_kv: torch.Tensor,
    w_q: torch.Tensor,
    w_k: torch.Tensor,
    w_v: torch.Tensor,
    w_o: torch.Tensor,
    num_heads: int,
    allowed: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention in num_heads subspaces at once: project, split, attend, merge, project.

    x_q: (N, T, d) gives the queries; x_kv: (N, S, d) gives the keys and values
    w_q, w_k, w_v, w_o: (d, d), used as x @ w
    allowed: bool, broadcastable to (N, T, S), the same for every head; None allows all
    returns: (N, T, d)
    """
    ### BEGIN SOLUTION
    N, T, S = x_q.shape[0], x_q.shape[1], x_kv.shape[1]
    q = split_heads(x_q @ w_q, num_heads)                 # (N, h, T, d_k)
    k = split_heads(x_kv @ w_k, num_heads)                # (N, h, S, d_k)
    v = split_heads(x_kv @ w_v, num_heads)                # (N, h, S, d_k)
    if allowed is not None:
        allowed = allowed.expand(N, T, S)[:, None]        # (N, 1, T, S): one mask, every head
    mixed, _ = attention(q, k, v, allowed)                # (N, h, T, d_k)
    return merge_heads(mixed) @ w_o                       # (N, T, d)
    ### END SOLUTION

# %% kind="tests" exercise="multi_head_attention" points=4
check(multi_head_attention)

# %% [markdown] exercise="cross_attention" minutes=10 difficulty=2
# Write `cross_attention`.

# %% kind="solution" exercise="cross_attention"
def cross_attention(
    dec: torch.Tensor,
    enc: torch.Tensor,
    block: torch.Tensor,
    num_heads: int,
    enc_allowed: torch.Tensor | None = None,
) -> torch.Tensor:
    """The decoder reads the source: queries from dec, keys and values from enc.

    dec: (N, T, d), enc: (N, S, d)
    block: (12, d, d), the weights of one decoder block; slots 4 ... 7 are w_q, w_k, w_v, w_o of this attention
    enc_allowed: bool (N, 1, S), True where a source position may be read; None allows all
    returns: (N, T, d)
    """
    ### BEGIN SOLUTION
    w_q, w_k, w_v, w_o = block[4:8]                       # each (d, d)
    return multi_head_attention(dec, enc, w_q, w_k, w_v, w_o, num_heads, enc_allowed)
    ### END SOLUTION

# %% kind="tests" exercise="cross_attention" points=4
check(cross_attention)
