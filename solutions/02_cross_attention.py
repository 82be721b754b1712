# %% [markdown]
# # Lesson 2 · Cross-attention
#
# How does a French word know which English words to look at? It asks. Each target position sends out a **query**, each
# source position offers a **key** to be found by and a **value** to be read, and the softmax of lesson 1 decides how
# much of each value arrives. The older encoder-decoder networks squeezed the whole sentence into one vector; here every
# source position stays readable at every step.
#
# | you write | what it does | shapes |
# |---|---|---|
# | `split_heads` | cuts the features into $h$ heads | (N, T, d) → (N, h, T, d_k) |
# | `merge_heads` | puts them back | (N, h, T, d_k) → (N, T, d) |
# | `attention` | scores, weights, average | (T, d_k), (S, d_k), (S, d_v) → (T, d_v) |
# | `multi_head_attention` | projections around it, several heads at once | (N, T, d), (N, S, d) → (N, T, d) |
# | `cross_attention` | target asks, source answers | (N, T, d), (N, S, d) → (N, T, d) |
#
# **New letters.** $h$ heads, each $d_k = d / h$ features wide. Weights are used as `x @ W`: (in, out).

# %% kind="given" name="setup"
import math

import torch

from attnlab import chapter, check, earlier, pictures

causal_mask = earlier("01_mask", "causal_mask")
masked_softmax = earlier("01_mask", "masked_softmax")

# %% [markdown]
# The lines above say where `causal_mask` and `masked_softmax` come from: your own notebook when they pass its checks,
# a stand-in otherwise. So nothing that is left open in lesson 1 stops you here. (What counts is the notebook as it was
# saved; after a change there, run the cell again.)
#
# ## Why heads
#
# A softmax gives one average per query. A word often needs several: a verb wants its subject *and* its tense. So the
# features are cut into $h$ **heads** that attend separately, each with a softmax of its own, at no extra cost in
# weights: $h$ heads of $d/h$ features are as many numbers as one head of $d$.
#
# Head $i$ takes the features $i\,d_k \dots (i+1)\,d_k - 1$, side by side. With $d = 4$ and $h = 2$:
#
# | | features | head 0 | head 1 |
# |---|---|---|---|
# | token 0 | 0 1 2 3 | 0 1 | 2 3 |
# | token 1 | 4 5 6 7 | 4 5 | 6 7 |
#
# In the result the head axis comes *before* the positions, (N, h, T, d_k), so that each head is a table of its own over
# all tokens.
#
# **Predict before you run.** Asking for the new shape in one step gives the right shape. What does "head 0" hold then?

# %% kind="show"
x = torch.arange(8.0).reshape(1, 2, 4)                    # (N=1, T=2, d=4), as in the table
x.reshape(1, 2, 2, 2)[0, 0]                               # shape (N, h, T, d_k), but is it head 0?

# %% [markdown]
# It holds all of token 0 and nothing of token 1. `reshape` and `view` never move a number: they read the same sequence
# and cut it at other places. Moving an axis is a second step.

# %% [markdown] exercise="split_heads" minutes=5 difficulty=1
# Cut the features, then bring the head axis forward.
#
# <details><summary>Hint 1 · "The shape is right, the numbers are mixed up"</summary>
#
# Two steps. First cut *only* the last axis: (N, T, d) becomes (N, T, h, d_k). Which axes must then change places?
#
# </details>
# <details><summary>Hint 2 · "Head 0 holds features 0, 2, 4, ..."</summary>
#
# You cut the last axis into (d_k, h). Consecutive features belong to one head, so the head axis comes first: (h, d_k).
#
# </details>
# <details><summary>Hint 3 · "Wrong as soon as there is more than one token"</summary>
#
# `x.reshape(N, T, num_heads, d // num_heads)`, then exchange axes 1 and 2 with `transpose(1, 2)`.
#
# </details>

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

# %% kind="show"
heads = split_heads(torch.arange(8.0).reshape(1, 2, 4), 2)
print("head 0:", heads[0, 0].tolist(), "  head 1:", heads[0, 1].tolist())
tuple(heads.shape)

# %% [markdown]
# ## The way back
#
# After the heads have attended, each token's pieces are laid side by side again, in the same order.
#
# **Predict.** Below are the two heads of the table above. Merging them by `reshape` alone gives the right shape, (1, 2,
# 4). Which numbers does token 0 get?

# %% kind="show"
heads = torch.tensor([[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]])  # (N=1, h=2, T=2, d_k=2)
heads.reshape(1, 2, 4)[0]                                 # the right answer is 0 1 2 3 and 4 5 6 7

# %% [markdown]
# Token 0 has received head 0 of *both* tokens. In a decoder this is worse than a mix-up: token 0 has just seen token 1.
# Training does not tell, since the network often learns something all the same.

# %% [markdown] exercise="merge_heads" minutes=5 difficulty=1
# The exact inverse of `split_heads`: undo its steps in the opposite order.
#
# <details><summary>Hint 1 · "Token 0 holds pieces of other tokens"</summary>
#
# Before the last two axes can be joined, each token's heads must lie next to each other.
#
# </details>
# <details><summary>Hint 2 · "view size is not compatible with input tensor's size and stride"</summary>
#
# After a transpose the numbers no longer lie in order in memory, and `view` never copies. `reshape` does where it must.
#
# </details>
# <details><summary>Hint 3 · "Right for one head, wrong for two"</summary>
#
# Exchange axes 1 and 2 back, (N, T, h, d_k), then join the last two: `reshape(N, T, h * d_k)`.
#
# </details>

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

# %% [markdown]
# There and back again must change nothing, for any number of heads.

# %% kind="show"
x = torch.randn(2, 5, 12)                                 # (N, T, d)
{h: bool((merge_heads(split_heads(x, h)) == x).all()) for h in (1, 2, 3, 4, 6, 12)}

# %% [markdown]
# ## From vectors to scores
#
# A score is a dot product: large when query and key point the same way.
#
# $$\text{score}_{ts} = \frac{q_t \cdot k_s}{\sqrt{d_k}}, \qquad
# w = \text{softmax}_s(\text{score}), \qquad \text{mixed}_t = \sum_s w_{ts}\, v_s$$
#
# All pairs at once are one matrix product, $Q K^\top$: (T, d_k) by (d_k, S) gives (T, S).
#
# **A worked number.** Let $d_k = 4$ and $q = (1, 1, 1, 1)$. Key 0 is the same vector, key 1 is all zeros, the values
# are 10 and 20. The dot products are 4 and 0, divided by $\sqrt 4$ they are 2 and 0. The weights are
# $e^2 / (e^2 + 1) \approx 0.881$ and 0.119, so what arrives is $0.881 \cdot 10 + 0.119 \cdot 20 \approx 11.19$.
#
# **Why the root?** A dot product is a sum of $d_k$ terms. For random vectors its spread grows like $\sqrt{d_k}$, and a
# softmax over widely spread scores picks one key and ignores the rest, so hardly any gradient is left to learn from.
#
# **Predict.** With $d_k = 64$ and 8 random keys, how large is the largest weight on average without the root? And with?

# %% kind="show"
torch.set_printoptions(precision=3, sci_mode=False)
torch.manual_seed(0)
rows = []
for d_k in (1, 4, 16, 64, 256):
    q, k = torch.randn(2000, 1, d_k), torch.randn(2000, 8, d_k)  # 2000 trials, 8 keys each
    dots = (q * k).sum(dim=-1)                            # (2000, 8)
    raw, scaled = (z.softmax(dim=-1).amax(dim=-1).mean() for z in (dots, dots / math.sqrt(d_k)))
    rows.append([float(dots.std()), float(dots.std()) / math.sqrt(d_k), float(raw), float(scaled)])
pictures.table(
    rows,
    rows=[1, 4, 16, 64, 256],
    columns=["spread of q·k", "over √d_k", "largest weight of q·k", "over √d_k"],
    corner="d_k",
)

# %% [markdown] exercise="attention" minutes=15 difficulty=2
# Scores, mask, weights, mix. Return both the mixed values and the weights that mixed them. There may be any number of
# leading axes (batch, heads), and $T$ and $S$ may differ. Use `masked_softmax`.
# (`F.scaled_dot_product_attention` is this exercise, so it may not be called here.)
#
# <details><summary>Hint 1 · "A shape error in the matrix product", or "T and S have changed places"</summary>
#
# Row $t$ of the scores belongs to query $t$: queries on the left, keys on the right. Only the *last two* axes of the
# keys are exchanged; `.T` would turn all axes around.
#
# </details>
# <details><summary>Hint 2 · "The weights are too sharp or too flat"</summary>
#
# Divide by the square root of the number of terms in one dot product. That is the width of the vectors that you were
# given, `q.shape[-1]`, and neither its square nor an integer: `math.sqrt`.
#
# </details>
# <details><summary>Hint 3 · "The weights are right, the mixed values are not"</summary>
#
# Row $t$ of the weights mixes the rows of the values: (T, S) by (S, d_v). In order: `q @ k.transpose(-2, -1)`, divide,
# `masked_softmax(scores, allowed)`, `weights @ v`, return the pair.
#
# </details>

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

# %% [markdown]
# Yours beside the right one, on the examples that the checks use: a map of each, their difference, and a sentence that
# says where they differ.
#
# **Predict before you look.** Had you forgotten the root, would the largest weight of a row be larger or smaller?

# %% kind="show"
from attnlab import contrast_view

contrast_view(attention)

# %% [markdown]
# The worked number, with your function: 11.19, from weights 0.881 and 0.119.

# %% kind="show"
q, k, v = torch.ones(1, 4), torch.tensor([[1.0] * 4, [0.0] * 4]), torch.tensor([[10.0], [20.0]])
attention(q, k, v)

# %% [markdown]
# ## The chapter's figure: three French words read five English ones
#
# The chapter's example has $d = 6$ and $d_k = 4$, one head, and projections that were *chosen* so that the words align;
# training would have to find such matrices by itself. Two of its conventions differ from ours. It stores weights as
# (out, in), so we transpose them; and it stops at the mixed values, without an output projection.
#
# Your `attention` gives the printed figure to its last digit. First the weights, then what arrives:

# %% kind="show"
e = chapter.cross_attention_example()
context, weights = attention(e.dec @ e.w_q.T, e.enc @ e.w_k.T, e.enc @ e.w_v.T)  # (3, 4), (3, 5)
print(pictures.table(weights, e.target, e.source, corner="weights"), "\n")
for word, row in zip(e.target, weights, strict=True):
    print(f"{word!r} reads {e.source[int(row.argmax())]!r} most")
pictures.table(context, e.target, range(4), digits=3, corner="context")

# %% kind="show"
e = chapter.cross_attention_example()
weights = attention(e.dec @ e.w_q.T, e.enc @ e.w_k.T, e.enc @ e.w_v.T)[1]
pictures.heatmap(weights, e.target, e.source, "Cross-attention weights (T=3, S=5)")

# %% [markdown]
# Look at the shape: three rows, five columns. Nothing in cross-attention is square, and nothing is triangular: "J'"
# comes first in French and may still read "cats", the last word of the source. Look at "les" too. It spreads its
# weight over "fat" and "cats", as an article that must agree with a whole noun phrase should.
#
# ## What if the encoder says nothing?
#
# The chapter's second exercise: the encoder's output is all zeros.
#
# **Predict.** What are the weights now, all zero? And what does the decoder receive?

# %% kind="show"
e = chapter.cross_attention_example()
nothing = torch.zeros_like(e.enc)                         # (5, 6)
context, weights = attention(e.dec @ e.w_q.T, nothing @ e.w_k.T, nothing @ e.w_v.T)
print("weights, each row:", weights[0])
pictures.table(context, e.target, range(4), digits=3, corner="context")

# %% [markdown]
# All keys are zero, so all scores are 0 and the weights are *uniform*, 0.2 each: softmax always hands out a total of 1.
# But an average of zero values is zero, and so is its projection, since there is no bias. In a block with a residual,
# $x + f(x)$, adding zero changes nothing: the decoder goes on with the target alone. It is a language model of French
# that has not been told what to translate.

# %% [markdown]
# ## Several heads at once
#
# Now put projections around it. Every step is one line; the shapes tell the story (N = 2 sentences, T = 3, S = 5,
# d = 8, h = 2, so d_k = 4):
#
# | step | shape of q | shape of k and v |
# |---|---|---|
# | project with the **whole** matrix | (2, 3, 8) | (2, 5, 8) |
# | split into heads | (2, 2, 3, 4) | (2, 2, 5, 4) |
# | attend | (2, 2, 3, 4) | |
# | merge | (2, 3, 8) | |
# | project with w_o | (2, 3, 8) | |
#
# Project first, split second: each head then sees *all* $d$ features of a token, through its own columns of the matrix.
# Divide by the root of $d_k$, not of $d$: a dot product inside a head has only $d_k$ terms. And $w_o$ comes last,
# because concatenated heads know nothing of each other until something mixes them.
#
# **The mask needs a thought.** `allowed` broadcasts to (N, T, S), but the scores are (N, h, T, S). Broadcasting lines
# up from the right. A (T, S) mask fits as it is; an (N, T, S) mask would put its *sentences* on the *heads*.
#
# **Predict.** Sentence 0 may read keys 0 and 1, sentence 1 only key 0; there are two heads. What does each head of each
# sentence read if the mask is used without a head axis?

# %% kind="show"
allowed = torch.tensor([[[True, True, False]], [[True, False, False]]])  # (N=2, 1, S=3)
weights = masked_softmax(torch.zeros(2, 2, 1, 3), allowed)  # (N=2, h=2, T=1, S=3)
pictures.table(
    weights.reshape(4, 3),
    rows=["sentence 0, head 0", "sentence 0, head 1", "sentence 1, head 0", "sentence 1, head 1"],
    columns=["key 0", "key 1", "key 2"],
)

# %% [markdown]
# No error, and wrong: it is the heads that differ now, and both sentences have the same weights. It happens
# only when N equals h, so a small test with N = 1 would never have noticed.

# %% [markdown] exercise="multi_head_attention" minutes=15 difficulty=2
# Project, split, attend, merge, project. Queries come from `x_q`, keys and values both from `x_kv`. There is no bias
# and no dropout.
#
# <details><summary>Hint 1 · "Right with one head, wrong with two"</summary>
#
# Go through the table of shapes above. Is the projection made with the whole matrix *before* the split? Do the heads
# come back together through `merge_heads`, and not by adding? Does `attention` see vectors of width d_k?
#
# </details>
# <details><summary>Hint 2 · "Right for one sentence, wrong or an error for two"</summary>
#
# The mask lacks its head axis. Bring it to (N, T, S) first, since it may have come as (T, S) or (N, 1, S), and then
# insert an axis of length 1 after N.
#
# </details>
# <details><summary>Hint 3 · "All shapes are right, the numbers are off everywhere"</summary>
#
# Weights are (in, out): `x @ w`, without a transpose. `q = split_heads(x_q @ w_q, num_heads)`, likewise k and v from
# `x_kv`; `allowed.expand(N, T, S)[:, None]` when there is a mask; `attention(...)` gives a pair of which you need the
# first; `merge_heads(mixed) @ w_o`, once.
#
# </details>

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

# %% [markdown]
# ## Against the library, and its mask that means the opposite
#
# `torch.nn.MultiheadAttention` computes the same thing, with two conventions turned around:
#
# - it stores weights as (out, in), so your function gets their transposes;
# - in a boolean mask, **True means hide**. Yours and `F.scaled_dot_product_attention` say True = may be read.
#
# **Predict.** The causal mask goes into it as it is. What will position 0 read, and what will the last position?

# %% kind="show"
torch.manual_seed(0)
T, d, h = 4, 8, 2
library = torch.nn.MultiheadAttention(d, h, bias=False, batch_first=True).requires_grad_(False)
x, allowed = torch.randn(1, T, d), causal_mask(T)
w_q, w_k, w_v = library.in_proj_weight.T.chunk(3, dim=1)  # each (d, d)
mine = multi_head_attention(x, x, w_q, w_k, w_v, library.out_proj.weight.T, h, allowed)
same, _ = library(x, x, x, attn_mask=~allowed)
_, wrong = library(x, x, x, attn_mask=allowed)            # the average of the heads' weights, (1, T, T)
print(f"with ~allowed, the largest difference from yours is {float((mine - same).abs().max()):.0e}")
print("with allowed as it is, the weights are:")
wrong[0]

# %% [markdown]
# Position 0 reads only the future, and the last position, from which everything is hidden, is NaN. *NaN in the last
# row* is the fingerprint of an inverted causal mask. Only one character, `~`, stands between the two.

# %% [markdown]
# ## Cross-attention
#
# What is left is wiring: the decoder asks, the encoder answers. The queries come from `dec`; the keys *and* the values
# come from `enc`. A decoder block keeps its weights in one tensor of shape (12, d, d):
#
# | slots | used for | order |
# |---|---|---|
# | 0 to 3 | self-attention (lesson 3) | w_q, w_k, w_v, w_o |
# | **4 to 7** | **cross-attention** | w_q, w_k, w_v, w_o |
# | 8 and 9 | feed-forward (lesson 3) | w_mlp1, w_mlp2 |
# | 10 and 11 | nothing | ignored |
#
# **No causal mask here.** It forbids reading words that are not written yet. The source is complete from the start, so
# every target position may read all of it, even in the case $S = T$ in which a square causal mask would happen to fit.
# The one mask that makes sense is that of the padding: `enc_allowed`, (N, 1, S).
#
# **Predict.** With $T = 3$ and $S = 5$, one source word is exchanged. How many of the three output rows change?

# %% [markdown] exercise="cross_attention" minutes=10 difficulty=2
# One call of the function that you have just written, with the right arguments in the right places.
#
# <details><summary>Hint 1 · "I change the source and nothing moves"</summary>
#
# The keys and values come from `dec`; they must come from `enc`. No shape complains about it, so only a change of the
# source can tell.
#
# </details>
# <details><summary>Hint 2 · "The output has the length of the source", or "target 0 reads only source 0"</summary>
#
# *Length of the source*: queries and keys have changed places; each *target* position gets one output row. *Target 0
# reads only source 0*: a causal mask has slipped in.
#
# </details>
# <details><summary>Hint 3 · "Everything is wired right, and every number is wrong"</summary>
#
# Slots 0 to 3 belong to the self-attention. Yours are `w_q, w_k, w_v, w_o = block[4:8]`, in this order. Then
# `multi_head_attention(dec, enc, ...)`, with `enc_allowed` as its mask.
#
# </details>

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

# %% [markdown]
# ## See it: who asks whom
#
# The chapter's French and English words again, now through your `cross_attention`. The map is drawn from the weights
# that your own functions make on the way.
#
# **Predict before you move anything.** You exchange the roles, so that the English words ask: how many rows and columns
# has the map then? And which rows change when the last two source words are padding?

# %% kind="show"
from attnlab import cross_view

cross_view(cross_attention)

# %% [markdown]
# ## One implementation, three uses
#
# A Transformer has three kinds of attention. They differ only in who asks, who answers, and what is hidden:
#
# | | queries | keys, values | mask |
# |---|---|---|---|
# | encoder self-attention | source | source | none |
# | decoder self-attention | target | target | causal |
# | cross-attention | target | source | none |
#
# The next cell finds out what each one *really* reads, through your functions: it changes one position of the input and
# notes which output rows move. 1 means "row $t$ depends on position $s$".
#
# **Predict** the three tables for $T = 3$ and $S = 5$, and a fourth, where the last two source positions are padding.

# %% kind="show"
def reads(f, x):
    """(rows of f(x), positions of x): 1 where the output row moves when that position of x (1, length, d) does."""
    moves = []
    for s in range(x.shape[1]):
        bumped = x.clone()
        bumped[0, s] += 1.0
        moves.append((f(bumped) - f(x))[0].abs().amax(dim=-1) > 1e-6)  # rounding alone stays below
    return torch.stack(moves, dim=1).int()


torch.manual_seed(0)
T, S, d, h = 3, 5, 8, 2
dec, enc, block = torch.randn(1, T, d), torch.randn(1, S, d), torch.randn(12, d, d) / math.sqrt(d)
words = torch.tensor([[[True, True, True, False, False]]])  # (N=1, 1, S)
print("encoder self-attention\n", reads(lambda x: multi_head_attention(x, x, *block[:4], h), enc))
print("decoder self-attention\n", reads(lambda x: multi_head_attention(x, x, *block[:4], h, causal_mask(T)), dec))
print("cross-attention\n", reads(lambda x: cross_attention(dec, x, block, h), enc))
print("cross-attention, the last two source positions are padding")
reads(lambda x: cross_attention(dec, x, block, h, words), enc)

# %% [markdown]
# A full square, a triangle, a full rectangle, and a rectangle with two dead columns: all of it from one function.
#
# ## Break it
#
# The trained translator again, made of the library's functions, with one mistake of this lesson at a time. The map is
# the cross-attention of its last block, mean of the heads.
#
# **Predict**, by the buttons. Which mistake leaves both sentences as they are? Which one says the same for every
# source, and how will its map differ in shape?

# %% kind="show"
from attnlab import break_it

break_it("02_cross_attention")

# %% [markdown]
# Only the scale by $\sqrt d$ goes unnoticed. It makes the map paler, but the best key of a row stays the best. And
# where the source is not read, the map is square: the target has asked itself.
#
# ## What to keep
#
# - A score is a dot product over $\sqrt{d_k}$, the width of *one head*.
# - Split: cut, then transpose. Merge: transpose, then join. Right shapes prove nothing.
# - Cross-attention: queries from the target, keys **and** values from the source, never the causal mask.
# - Where the sources disagree: the chapter stores weights (out, in) and uses one narrow head; this course uses `x @ W`
#   with (d, d) matrices and $h$ heads, as the graded specifications do.
#
# | symptom | what it usually means |
# |---|---|
# | right with one head only | heads cut or merged in the wrong order, or scaled by $\sqrt d$ |
# | right with one sentence only | the mask lacks its head axis |
# | the source has no effect | keys and values from the decoder |
# | an error as soon as T and S differ | queries and keys exchanged, or a target mask on the source |
#
# **Next:** lesson 3 puts self-attention, cross-attention and a small network together into one block.

# %% [markdown]
# **How far are you?** `progress()` reads your notebooks as they are saved and says what passes, whose code runs, and
# what to do next.

# %% kind="show"
from attnlab import progress

progress()
