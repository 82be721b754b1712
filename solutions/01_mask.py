# %% [markdown]
# # Lesson 1 · The mask

# %% kind="given" name="setup"
import torch

from attnlab import check

# %% [markdown] exercise="causal_mask" minutes=5 difficulty=1
# Write `causal_mask`.

# %% kind="solution" exercise="causal_mask"
def causal_mask(length: int, device: torch.device | str | None = None) -> torch.Tensor:
    """Which keys each query may read: its own position and every earlier one.

    length: number of positions, at least 1
    device: where the mask is made
    returns: bool (length, length); [t, s] is True exactly when s <= t
    """
    ### BEGIN SOLUTION
    position = torch.arange(length, device=device)        # (length,)
    return position[:, None] >= position[None, :]         # (length, length): query t down, key s across
    ### END SOLUTION

# %% kind="tests" exercise="causal_mask" points=4
check(causal_mask)

# %% [markdown] exercise="padding_mask" minutes=5 difficulty=1
# Write `padding_mask`.

# %% kind="solution" exercise="padding_mask"
def padding_mask(ids: torch.Tensor, pad_id: int) -> torch.Tensor:
    """Which source positions hold a word and not padding.

    ids: (N, S), integers, perhaps held as floats
    pad_id: the id that stands for "nothing here"
    returns: bool (N, 1, S), True where the id is not pad_id; the middle axis is there for the queries
    """
    ### BEGIN SOLUTION
    return (ids != pad_id)[:, None, :]                    # (N, 1, S)
    ### END SOLUTION

# %% kind="tests" exercise="padding_mask" points=4
check(padding_mask)

# %% [markdown] exercise="masked_softmax" minutes=15 difficulty=2
# Write `masked_softmax`.

# %% kind="solution" exercise="masked_softmax"
def masked_softmax(scores: torch.Tensor, allowed: torch.Tensor | None = None) -> torch.Tensor:
    """Softmax over the keys, with the keys that are not allowed left out entirely.

    scores: (..., T, S), query down, key across
    allowed: bool, broadcastable to scores, True where the key may be read; None allows all
    returns: weights (..., T, S); each row sums to 1, or is all zeros where no key is allowed
    """
    ### BEGIN SOLUTION
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    top = scores.amax(dim=-1, keepdim=True)               # (..., T, 1)
    top = top.masked_fill(top == -torch.inf, 0.0)         # nothing allowed: keep -inf - top away from NaN
    exp = torch.exp(scores - top)                         # (..., T, S), each at most 1
    total = exp.sum(dim=-1, keepdim=True)                 # (..., T, 1)
    return exp / total.masked_fill(total == 0.0, 1.0)
    ### END SOLUTION

# %% kind="tests" exercise="masked_softmax" points=8
check(masked_softmax)
