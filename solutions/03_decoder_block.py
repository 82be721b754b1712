# %% [markdown]
# # Lesson 3 · The decoder block
#
# A decoder is one block, repeated. In each block a target position does three things: it reads what has been written so
# far, it reads the source, and it thinks about both on its own. You have the two kinds of reading already. This lesson
# adds the thinking and the glue.
#
# ```text
#              what has been written       the source              each token alone
#                       │                      │ enc                     │
#    dec ──► causal self-attention ──► cross-attention ──────► feed-forward network ──► dec
#            + dec, then norm          + dec, then norm        + dec, then norm
# ```
#
# | you write | what it does | shapes |
# |---|---|---|
# | `layer_norm` | brings each token back to size | (..., d) → (..., d) |
# | `gelu` | the bend between two matrix products | any → the same |
# | `feed_forward` | the network for each token alone | (..., d) → (..., d) |
# | `decoder_block` | all three sublayers | (N, T, d), (N, S, d) → (N, T, d) |

# %% kind="given" name="setup"
import math

import torch

from attnlab import chapter, check, earlier, pictures

causal_mask = earlier("01_mask", "causal_mask")
multi_head_attention = earlier("02_cross_attention", "multi_head_attention")
cross_attention = earlier("02_cross_attention", "cross_attention")

# %% [markdown]
# ## Layer norm
#
# Every sublayer *adds* something to a token, so tokens grow from sublayer to sublayer unless something brings them back
# to size. Layer norm does so for each token alone: it takes off the mean of the token's $d$ features and divides by
# their spread.
#
# $$\text{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + 10^{-5}}}$$
#
# **A worked number.** The token (1, 2, 3, 4) has mean 2.5. The squared distances from it are 2.25, 0.25, 0.25 and 2.25,
# their mean is $\sigma^2 = 1.25$, and its root is 1.118. So the token becomes (−1.342, −0.447, 0.447, 1.342).
#
# This $\sigma^2$ divides by $d$: it is the *population* variance. PyTorch's `var` and `std` divide by $d - 1$ unless
# told otherwise.
#
# **Predict before you run.** What does `var` say for this token?

# %% kind="show"
torch.set_printoptions(precision=3, sci_mode=False)
token = torch.tensor([1.0, 2.0, 3.0, 4.0])
{"var()": float(token.var()), "var(correction=0)": float(token.var(correction=0))}

# %% [markdown]
# ## The place of the small number
#
# A token whose features are all equal has spread 0, and $0/0$ is NaN. Hence the $10^{-5}$, and it stands **inside** the
# root. For ordinary tokens nobody can tell; for a nearly constant token the place decides. Take features that are $+s$
# and $-s$ in equal numbers: mean 0, variance $s^2$. What does $+s$ become?
#
# **Predict** the row for $s = 0.001$: which is larger, $s^2$ or $10^{-5}$?

# %% kind="show"
pictures.table(
    [[s / math.sqrt(s**2 + 1e-5), s / (s + 1e-5)] for s in (1.0, 0.1, 0.01, 0.001, 0.0)],
    rows=[1, 0.1, 0.01, 0.001, 0],
    columns=["1e-5 inside the root", "1e-5 added to the root"],
    digits=3,
    corner="s",
)

# %% [markdown] exercise="layer_norm" minutes=10 difficulty=1
# Over the last axis, for any number of leading axes. No learned scale or shift here. (The library's layer and group
# norms are this exercise, so they may not be called.)
#
# **Where the sources disagree.** The chapter uses RMSNorm, which divides by the root mean square and takes off *no*
# mean. The graded specifications, and so the checks, ask for the layer norm above.
#
# <details><summary>Hint 1 · "One sentence of the batch changes another"</summary>
#
# Mean and variance belong to one token: both run over the last axis only, with `keepdim=True`, so that they can be
# taken off again.
#
# </details>
# <details><summary>Hint 2 · "Everything is a little too small"</summary>
#
# Too small by the same factor everywhere, $\sqrt{(d-1)/d}$: your variance divides by $d - 1$. Use `correction=0`, or
# take the mean of the squared distances yourself.
#
# </details>
# <details><summary>Hint 3 · "Right for ordinary tokens, wrong for nearly constant ones", or NaN</summary>
#
# The $10^{-5}$ goes under the root, added to the variance. In order: mean, difference, mean of the squared difference,
# difference over `torch.sqrt(variance + 1e-5)`.
#
# </details>

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

# %% [markdown]
# The worked token, a token that is nearly constant, and one that is entirely so. Beside them, what the chapter's
# RMSNorm makes of the same tokens: it keeps the mean.

# %% kind="show"
tokens = [[1.0, 2.0, 3.0, 4.0], [5.001, 4.999, 5.001, 4.999], [5.0] * 4]
tokens = torch.tensor(tokens, dtype=torch.float64)
pictures.table(
    torch.cat([layer_norm(tokens), chapter.rms_norm(tokens)], dim=-1),
    rows=["1 2 3 4", "5 ± 0.001", "5 5 5 5"],
    columns=["LN 0", "LN 1", "LN 2", "LN 3", "RMS 0", "RMS 1", "RMS 2", "RMS 3"],
    digits=3,
)

# %% [markdown]
# ## Why there must be a bend
#
# The network for each token is two matrix products. Without anything between them it would be a waste: two products in
# a row are *one* product, with the matrix $W_1 W_2$.

# %% kind="show"
torch.manual_seed(0)
x, w_1, w_2 = torch.randn(3, 4), torch.randn(4, 4), torch.randn(4, 4)
f"two products and one differ by {float(((x @ w_1) @ w_2 - x @ (w_1 @ w_2)).abs().max()):.0e}: rounding"

# %% [markdown]
# ## GELU
#
# So something bent goes between them. ReLU cuts negative numbers off at a corner. GELU is a smooth version: it
# multiplies $u$ by the probability that a standard normal number is below $u$.
#
# There are two forms of it: the exact one, with the error function, which is PyTorch's default, and an approximation
# with tanh, which the original GPT models and our specification use:
#
# $$\text{GELU}(u) = \tfrac12 u \left(1 + \tanh\left(\sqrt{2/\pi}\,\left(u + 0.044715\,u^3\right)\right)\right)$$
#
# **A worked number.** For $u = 1$: $0.7979 \cdot 1.0447 = 0.8336$, its tanh is 0.6824, and
# $0.5 \cdot 1.6824 = 0.8412$. The exact form gives 0.8413.
#
# **Predict.** Where do the two forms differ most, *relative* to their size: at $u = 1$ or at $u = -3$? First the exact
# form:

# %% kind="show"
u = torch.tensor([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], dtype=torch.float64)
exact = 0.5 * u * (1 + torch.erf(u / math.sqrt(2)))
pictures.table(torch.stack([u.clamp(min=0), exact]), ["ReLU", "GELU, exact"], u.tolist(), digits=5, corner="u")

# %% [markdown] exercise="gelu" minutes=5 difficulty=1
# Entry by entry, for a tensor of any shape: the formula with tanh. (`F.gelu` and `nn.GELU` are this exercise, so they
# may not be called.)
#
# <details><summary>Hint 1 · "Where do the constants come from?"</summary>
#
# Write them as they stand: `math.sqrt(2 / math.pi)` and 0.044715. A Python number times a tensor keeps the tensor's
# dtype and device.
#
# </details>
# <details><summary>Hint 2 · "Nearly right, off in the third or fourth digit"</summary>
#
# At $u = -3$ the exact form gives −0.00405 and the tanh form −0.00364. If you see the former, you have written the form
# with the error function.
#
# </details>
# <details><summary>Hint 3 · "Right near 0, wrong for large numbers"</summary>
#
# The cube sits inside the tanh, and the root multiplies the whole bracket:
# `0.5 * u * (1 + torch.tanh(root * (u + 0.044715 * u**3)))`.
#
# </details>

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

# %% [markdown]
# Your form beside the exact one, and the curve beside ReLU's.

# %% kind="show"
u = torch.tensor([-3.0, -2.0, -1.0, 0.5, 1.0, 2.0, 3.0], dtype=torch.float64)
exact = 0.5 * u * (1 + torch.erf(u / math.sqrt(2)))
rows = torch.stack([gelu(u), exact, 100 * (gelu(u) / exact - 1)])
print(pictures.table(rows, ["yours", "exact", "difference in %"], u.tolist(), digits=5, corner="u"), "\n")
u = torch.linspace(-4, 4, 81)
both = {"GELU, yours": gelu(u).tolist(), "ReLU": u.clamp(min=0).tolist()}
pictures.curves(u.tolist(), both, "GELU bends smoothly", "u", "GELU(u)")

# %% [markdown]
# In a picture the two forms are one line. At $u = -3$ they still differ by 10 %, and a check sees that.

# %% [markdown]
# ## The feed-forward network
#
# Attention moves information *between* tokens. This network works on each token *alone*: up into a hidden space, bend,
# back down.
#
# $$\text{FFN}(x) = \text{GELU}(x W_1)\, W_2$$
#
# Usually the hidden space is wider, $d_{ff} = 4d$ in the original paper. In the graded blocks it is as wide as the
# model, so that all weights of a block fit into one tensor. Your function takes any width: $W_1$ is (d, d_ff), $W_2$ is
# (d_ff, d).
#
# **A worked number.** Let $x = (1, -1)$ and $W_1$ the identity: the hidden features are GELU(1) = 0.841 and
# GELU(−1) = −0.159. Let $W_2$ send the sum of both to feature 0 and nothing to feature 1: the result is (0.682, 0).

# %% [markdown] exercise="feed_forward" minutes=5 difficulty=1
# Two products, one bend.
#
# <details><summary>Hint 1 · "A shape error when d_ff is not d"</summary>
#
# Weights are (in, out) and used as `x @ w`, with no transpose.
#
# </details>
# <details><summary>Hint 2 · "Square weights work, but the numbers are wrong"</summary>
#
# With square matrices a swap of the two is silent. `w_mlp1` comes first.
#
# </details>
# <details><summary>Hint 3 · "Still wrong"</summary>
#
# One GELU, on the hidden features and nowhere else: product with `w_mlp1`, then `gelu`, then product with `w_mlp2`.
#
# </details>

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

# %% [markdown]
# The worked number, (0.682, 0). A second token beside it changes nothing for the first.

# %% kind="show"
up, down = torch.eye(2), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
feed_forward(torch.tensor([[1.0, -1.0], [9.0, 9.0]]), up, down)

# %% [markdown]
# ## The block
#
# Three sublayers, each with the same two lines around it: **add what came in, then normalise the sum.**
#
# $$
# \begin{aligned}
# \text{dec} &\leftarrow \text{LN}(\text{dec} + \text{self-attention}(\text{dec}))      && \text{causal}\\
# \text{dec} &\leftarrow \text{LN}(\text{dec} + \text{cross-attention}(\text{dec}, \text{enc})) && \text{no mask}\\
# \text{dec} &\leftarrow \text{LN}(\text{dec} + \text{FFN}(\text{dec}))                 && \text{each token alone}
# \end{aligned}
# $$
#
# **Why add?** What came in goes through unchanged, and a sublayer only has to learn what to *change*. The addition is
# called the residual.
#
# **Why this order?** The question to the source should be shaped by the words already written, so self-attention comes
# first and cross-attention works with its *result*. The network cannot move anything between tokens, so it comes last,
# when there is something to think about. Any other order also runs, and its shapes are right.
#
# **Where the sources disagree.** Normalising after the addition is *post-norm*: the original paper, and what is graded
# here. The chapter normalises what goes *into* a sublayer, $x + f(\text{norm}(x))$: *pre-norm*. You will compare the
# two below.
#
# **A worked case.** Let all weights be zero. Then every sublayer returns zero, and the block is
# $\text{LN}(\text{LN}(\text{LN}(\text{dec})))$. A token that is normalised already stays (nearly) as it is, so the
# block returns $\text{LN}(\text{dec})$.
#
# **Predict.** Target token 1 of 3 is exchanged. Which rows of the output move? And if a source token is exchanged?

# %% [markdown] exercise="decoder_block" minutes=20 difficulty=3
# Put it together. `block` is (12, d, d): slots 0 to 3 for self-attention (`w_q, w_k, w_v, w_o`), 4 to 7 for
# cross-attention, 8 and 9 for the network. Slots 10 and 11 are ignored *whatever they hold*. Everything else you have
# written already.
#
# <details><summary>Hint 1 · "With all weights zero I do not get layer_norm(dec)"</summary>
#
# Look at one sublayer: is the input added back, and does the norm wrap the *sum*? `x + layer_norm(f(x))` and
# `x + f(layer_norm(x))` are other architectures. There are three norms, one after each addition, and none at the end.
#
# </details>
# <details><summary>Hint 2 · "Only the last row is right", or "row 0 moves when token 2 changes"</summary>
#
# The self-attention needs `causal_mask` of the *target* length, on the device of `dec`. The cross-attention gets no
# mask at all.
#
# </details>
# <details><summary>Hint 3 · "The output looks normalised, but the numbers are wrong"</summary>
#
# Either a sublayer works with an old `dec`, or a slot is off. Overwrite `dec` after every sublayer, so that the next
# one can only see the new value. Three steps: `multi_head_attention(dec, dec, *block[0:4], num_heads, mask)`, then
# `cross_attention(dec, enc, block, num_heads)`, which takes slots 4 to 7 itself, then
# `feed_forward(dec, block[8], block[9])`; each as `dec = layer_norm(dec + ...)`.
#
# </details>

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

# %% [markdown]
# ## See it
#
# **Yours beside the right one**, on the example that the checks use: rows are tokens, columns features.
#
# **Predict before you look.** Without the causal mask, one row of each sentence would still be right. Which?

# %% kind="show"
from attnlab import block_trace, contrast_view, leak_probe

contrast_view(decoder_block)

# %% [markdown]
# **The block, step by step.** Your functions, one after the other, on four tokens; each row of the map is a token.
# Leave sublayers out, or move the norm.
#
# **Predict before you move anything.** At which step does the source enter? What are the sizes of the tokens at the
# last step, and what are they when the norm stands before each sublayer instead?

# %% kind="show"
block_trace(decoder_block, multi_head_attention, cross_attention, feed_forward, layer_norm, causal_mask)

# %% [markdown]
# **The leak probe**, now through the whole block: one target token changes, and bars show how far each output moves.
#
# **Predict before you move anything.** Token 2 of 4 changes. Its own output moves; which other?

# %% kind="show"
random = torch.Generator().manual_seed(0)
dec, enc, block = (torch.randn(*shape, generator=random) / 8**0.5 for shape in ((4, 8), (1, 5, 8), (12, 8, 8)))
leak_probe(lambda dec: decoder_block(dec[None], enc, block, 2), dec, "<s> le chat le")

# %% [markdown]
# Four things that must hold, each tried with your block: the worked case, the statistics of the output, what moves when
# a target token changes, and what moves when a source token does.

# %% kind="show"
torch.manual_seed(0)
T, S, d, h = 3, 5, 8, 2
dec, enc, block = torch.randn(1, T, d), torch.randn(1, S, d), torch.randn(12, d, d) / math.sqrt(d)
out, zero = decoder_block(dec, enc, block, h), decoder_block(dec, enc, torch.zeros(12, d, d), h)
print(f"all weights zero: differs from layer_norm(dec) by {float((zero - layer_norm(dec)).abs().max()):.0e}")
print("variance of each output token:", out.var(dim=-1, correction=0)[0])
other_dec, other_enc = dec.clone(), enc.clone()
other_dec[0, 1], other_enc[0, 4] = torch.randn(d), torch.randn(d)
moved = torch.cat([decoder_block(other_dec, enc, block, h) - out, decoder_block(dec, other_enc, block, h) - out])
changed = ["target token 1 changed", "source token 4 changed"]
pictures.table(moved.abs().amax(dim=-1), changed, range(T), corner="output row moves by")

# %% [markdown]
# ## The chapter's decoder block
#
# The chapter runs a block of its own: three target words, four source words, $d = 6$, one head of width 3, a hidden
# layer of 12, random weights. Its convention differs from yours in every point that this lesson has named: RMSNorm,
# pre-norm, weights stored (out, in). Below it is rebuilt from `chapter`'s attention and *your* `feed_forward`, with the
# weights transposed. The result is what the chapter prints, to the last digit. (Its weights come from a C program's
# `srand(42)`. Only Microsoft's generator gives the printed numbers; `chapter.microsoft_rand` is that generator.)

# %% kind="show"
e = chapter.decoder_block_example()
dec = e.dec                                               # (T=3, d=6)
normed = chapter.rms_norm(dec)
dec = dec + chapter.attention(normed, normed, e.weights.self_attention, causal=True)
dec = dec + chapter.attention(chapter.rms_norm(dec), e.enc, e.weights.cross_attention)
dec = dec + feed_forward(chapter.rms_norm(dec), e.weights.w_1.T, e.weights.w_2.T)
pictures.table(dec, e.target, range(6), digits=3, corner="comes out as")

# %% [markdown]
# **Find the mistake.** Of these rows the chapter says that neither of the first two is close to the vector that it
# entered as. Is that so?

# %% kind="show"
e = chapter.decoder_block_example()
out = chapter.decoder_block(e.dec, e.enc, e.weights)
print(pictures.table(e.dec, e.target, range(6), digits=3, corner="went in as"), "\n")
print("largest change of a feature:", [round(float(x), 3) for x in (out - e.dec).abs().amax(dim=-1)])
torch.nn.functional.cosine_similarity(out, e.dec, dim=-1)  # 1 is the same direction

# %% [markdown]
# It is not. Every word leaves almost as it came. Small random weights and a residual make a block that is close to the
# identity, and the chapter itself says so one section later. Training has to move it away from there.

# %% [markdown]
# ## Post-norm against pre-norm, over depth
#
# The chapter's fourth exercise: which placement keeps the norms more stable after 4 layers? Here are both, built from
# your functions; the only difference is one line. Two things are measured after each block:
#
# - the **size** of a token: its root mean square;
# - **what is left of the input** on the residual path. With pre-norm the input is carried along unchanged, and only its
#   share shrinks while the sum grows. With post-norm each norm divides it, together with everything else, by the spread
#   of the sum; do that three times a block and the factors multiply.
#
# **Predict.** Which size grows? And after 12 blocks, in which of the two is more left of the input?

# %% kind="show"
def sublayers(enc, block, num_heads):
    """The three sublayers of a block, bare: without the addition and without the norm."""
    return (
        lambda x: multi_head_attention(x, x, *block[0:4], num_heads, causal_mask(x.shape[1])),
        lambda x: cross_attention(x, enc, block, num_heads),
        lambda x: feed_forward(x, block[8], block[9]),
    )

# %% kind="show"
def through(blocks, place, x, enc, num_heads):
    """The output, and for each block (size, what is left of the input), averaged over the tokens."""
    left, measured = 1.0, []
    for block in blocks:
        for f in sublayers(enc, block, num_heads):
            if place == "post":
                total = x + f(x)
                left = left / total.std(dim=-1, correction=0)  # (N, T): the norm divides by this
                x = layer_norm(total)
            else:
                x = x + f(layer_norm(x))
        size = x.square().mean(dim=-1).sqrt()             # (N, T)
        measured.append((float(size.mean()), float((left if place == "post" else 1 / size).mean())))
    return x, measured


torch.manual_seed(0)
N, T, S, d, h = 8, 6, 5, 32, 4
dec, enc, blocks = torch.randn(N, T, d), torch.randn(N, S, d), torch.randn(12, 12, d, d) / math.sqrt(d)
difference = through(blocks[:1], "post", dec, enc, h)[0] - decoder_block(dec, enc, blocks[0], h)
f"post-norm is your decoder_block: largest difference {float(difference.abs().max()):.0e}"

# %% kind="show"
torch.manual_seed(0)
N, T, S, d, h = 8, 6, 5, 32, 4
strength = 1.0                                            # of the weights; try 0.3 and 2.0
dec, enc = layer_norm(torch.randn(N, T, d)), torch.randn(N, S, d)
blocks = strength * torch.randn(12, 12, d, d) / math.sqrt(d)  # (L=12, 12, d, d)
post, pre = (through(blocks, place, dec, enc, h)[1] for place in ("post", "pre"))
names = ["size, post-norm", "size, pre-norm", "input left, post-norm", "input left, pre-norm"]
series = [[at[i] for at in measured] for i in (0, 1) for measured in (post, pre)]
depths = (1, 2, 4, 8, 12)
print(pictures.table([[y[n - 1] for y in series] for n in depths], depths, names, digits=4, corner="blocks"), "\n")
named = dict(zip(names, series, strict=True))
pictures.curves(range(1, 13), named, "Post-norm and pre-norm over depth", "blocks", "log scale", log_y=True)

# %% [markdown]
# After 4 layers, and after any number, post-norm has the more stable sizes: its tokens have size 1 by construction,
# while with pre-norm they grow with depth. That answers the exercise, and yet most models of today are pre-norm. The
# other two curves say why. With post-norm almost nothing of the input is left on the residual path after 12 blocks; the
# gradient takes the same path backwards and is divided by the same factors. Pre-norm leaves the path free. Its price is
# the growing sum, in which each further block counts for less, and one more norm at the very end to bring it to size.
#
# The models of lesson 4 have two blocks. At that depth both keep a good part of the input, as the second row shows.

# %% [markdown]
# ## What a decoder block costs
#
# An attention has four matrices of $d^2$ weights, the network two of $d \cdot d_{ff}$. A decoder block has two
# attentions, an encoder block one:
#
# | | attention | network |
# |---|---|---|
# | encoder block | $4d^2$ | $2\,d\,d_{ff}$ |
# | decoder block | $8d^2$ | $2\,d\,d_{ff}$ |
#
# **Find the mistake.** The chapter says that the extra sublayer gives a decoder block about half again as many
# *attention* parameters as an encoder block. Work it out for $d = 512$, $d_{ff} = 2048$ before you run the cell.

# %% kind="show"
d, d_ff = 512, 2048
encoder, decoder = (4 * d**2, 2 * d * d_ff), (8 * d**2, 2 * d * d_ff)
costs = [(a / 1e6, f / 1e6, (a + f) / 1e6) for a, f in (encoder, decoder)]
ratio = [large / small for large, small in zip(costs[1], costs[0], strict=True)]
columns = ["attention", "network", "together"]
pictures.table([*costs, ratio], ["encoder block", "decoder block", "ratio"], columns, corner="millions of weights")

# %% [markdown]
# Twice as many attention weights, and the whole *block* is a third larger. In the graded layout with $d_{ff} = d$ a
# decoder block has $10d^2$ weights; its tensor of 12 slots carries two that nobody reads.
#
# Weights are not the only cost. Projections and network grow with the number of tokens, but the tables of scores and
# weights grow with its *square*. Count the multiplications of one decoder block:
#
# **Predict.** For which length do the tables begin to cost more than everything else?

# %% kind="show"
d, d_ff, rows = 512, 2048, []
lengths = (32, 128, 512, 2048, 8192)
for n in lengths:                                         # T = S = n
    projections, tables, network = 8 * n * d**2, 2 * 2 * n * n * d, 2 * n * d * d_ff
    total = projections + tables + network
    rows.append([f"{total / 1e9:,.2f}", *(f"{part / total:.0%}" for part in (projections, tables, network))])
pictures.table(rows, lengths, ["billion products", "projections", "score tables", "network"], corner="T = S")

# %% [markdown]
# At $T = S = 4d = 2048$, and with $d_{ff} = 4d$, the tables cost as much as all the rest. Beyond that the length
# of the text is what you pay for.

# %% [markdown]
# ## Break it
#
# The trained translator, made of the library's functions, with one mistake of this lesson at a time. The map is the
# cross-attention of its last block, mean of the heads.
#
# **Predict**, by the buttons. Two of the seven change neither sentence: which? And one makes the longer sentence run on
# without an end: what is missing there?

# %% kind="show"
from attnlab import break_it

break_it("03_decoder_block")

# %% [markdown]
# A variance over $d - 1$ and a stale query change numbers a little everywhere and no word anywhere. Without the network
# the words are read, but nobody notices that the sentence is over. And where the answer of the cross-attention is
# thrown away, the map looks alive, while the sentence is the same for every source: weights say what is read, not what
# is done with it.
#
# ## What to keep
#
# - Layer norm: each token alone, population variance, $10^{-5}$ inside the root.
# - A sublayer of this course is always `dec = layer_norm(dec + f(dec))`: add, *then* normalise.
# - Self-attention (causal), cross-attention (no mask), network: in this order, each with the updated `dec`.
# - Post-norm fixes the sizes; pre-norm keeps the residual path free.
#
# | symptom | what it usually means |
# |---|---|
# | output tokens do not have variance 1 | pre-norm, or the last norm is missing |
# | off by a constant factor close to 1 | variance over $d - 1$ |
# | only the last row is right | no causal mask in the self-attention |
# | the source has no effect | cross-attention reads the target |
# | slightly off, most of all near −3 | the exact form of GELU |
#
# **Next:** lesson 4 stacks blocks into an encoder and a decoder, and trains them.

# %% [markdown]
# **How far are you?** `progress()` reads your notebooks as they are saved and says what passes, whose code runs, and
# what to do next.

# %% kind="show"
from attnlab import progress

progress()
