# %% [markdown]
# # Lesson 1 · The mask
#
# In five lessons you write a Transformer that translates English into French, out of nothing but tensor operations.
# Each lesson hands its functions on to the next, and the last one loads trained weights into *your* code.
#
# | lesson | you write | it answers |
# |---|---|---|
# | **1 · The mask** | `causal_mask`, `padding_mask`, `masked_softmax` | what may a position read? |
# | 2 · Cross-attention | heads, `attention`, `cross_attention` | how does the target read the source? |
# | 3 · The decoder block | norm, GELU, `decoder_block` | how do the pieces fit together? |
# | 4 · The full forward pass | encoder, decoder, loss | how does it learn? |
# | 5 · Greedy decode | the loop that writes a sentence | how does it speak? |
#
# **How a lesson works.** A cell that ends in `raise NotImplementedError` is yours to fill. The cell under it runs the
# checks and says what holds and what does not. The cells after it try your function on something worth seeing; change
# them as you like. When you are stuck, open the hints one at a time: they begin with a nudge and end near the answer.
# Save the notebook before you go on to the next one: later lessons read what is saved.
#
# **Letters used throughout.** $N$ sentences in a batch, $S$ source positions, $T$ target positions, $d$ features per
# token.

# %% kind="given" name="setup"
import torch

from attnlab import chapter, check, pictures

# %% [markdown]
# ## Scores become weights
#
# Attention asks one question for every pair of positions: *how much does query $t$ want to read key $s$?* The answers
# are the **scores**, a table of shape $(T, S)$: queries down, keys across. Softmax turns each **row** into weights that
# are positive and sum to 1, and the output at $t$ is the average of the values under these weights:
#
# $$w_{ts} = \frac{e^{z_{ts}}}{\sum_{r} e^{z_{tr}}}, \qquad \text{out}_t = \sum_s w_{ts}\, v_s$$
#
# **Predict before you run.** One query, three keys with scores 2, 1 and 0. One step in score is a factor
# $e \approx 2.718$ in weight. Which weight does the first key get: about 0.5, 0.67 or 0.9?

# %% kind="show"
torch.set_printoptions(precision=3, sci_mode=False)  # three decimals are enough to read
torch.tensor([2.0, 1.0, 0.0]).softmax(dim=-1)

# %% [markdown]
# ## Why anything must be hidden
#
# Two things may not be read.
#
# **The future.** A decoder writes one token after another. In training, though, the whole target sentence lies on the
# table, and all positions are computed at once. If position 2 could read position 3, it would copy the answer instead
# of learning to predict it; and when it later writes on its own, position 3 does not exist yet.
#
# **Nothing.** Sentences of a batch have different lengths, so the short ones are filled up with a padding id. No
# word should read a place that holds no word.
#
# Both are said in the same language: a boolean **mask** in which
#
# > **True = may be read.**
#
# That is the convention of `torch.nn.functional.scaled_dot_product_attention` and of this whole course.
# `torch.nn.MultiheadAttention` uses the opposite one (True = hide); lesson 2 shows what happens if you mix them up.

# %% [markdown]
# ## The causal mask
#
# Position $t$ may read itself and everything before it: key $s$ is allowed exactly when $s \le t$. For three positions
# the allowed keys are `[0]`, then `[0, 1]`, then `[0, 1, 2]`:
#
# | query ↓ key → | 0 | 1 | 2 |
# |---|---|---|---|
# | 0 | True | False | False |
# | 1 | True | True | False |
# | 2 | True | True | True |
#
# Row 0 still has one key, itself. A position that could not even read itself would have nothing to average.
#
# **Predict.** The 3-position mask has $1 + 2 + 3 = 6$ allowed pairs. How many has the one for 6 positions?

# %% [markdown] exercise="causal_mask" minutes=5 difficulty=1
# Write the mask for any length. Make it **on the given device**: a mask on the CPU cannot be combined with scores on a
# GPU.
#
# <details><summary>Hint 1 · "I know the pattern, but not how to build it"</summary>
#
# Do not fill the table entry by entry. The condition $s \le t$ compares two position numbers: write down one vector of
# positions and compare it with itself, once as a column and once as a row. (Cutting a triangle out of a table of ones
# works as well.)
#
# </details>
# <details><summary>Hint 2 · "Row 0 is all False" or "row 0 is all True"</summary>
#
# *Row 0 all False*: you wrote $s < t$, so a position cannot read itself. *Row 0 all True*: the triangle points the
# wrong way; look at row 0 and ask who is there before token 0. In triangle functions this is the `diagonal` argument
# and the choice between `tril` and `triu`.
#
# </details>
# <details><summary>Hint 3 · "The triangle is right, but a check still fails"</summary>
#
# The mask must be of dtype `torch.bool`, not of ones and zeros, and lie on `device`. With
# `position = torch.arange(length, device=device)` the column is `position[:, None]`, of shape (length, 1), the row is
# `position[None, :]`, of shape (1, length), and a comparison of the two is the whole mask.
#
# </details>

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

# %% [markdown]
# Six positions, with 1 for True (this is the chapter's first exercise). Everything above the diagonal must be 0.

# %% kind="show"
mask = causal_mask(6)
print("allowed pairs:", int(mask.sum()), " above the diagonal:", int(mask.triu(1).sum()))
pictures.table(mask.int(), rows=range(6), columns=range(6), corner="query ↓ key →")

# %% [markdown]
# ## The padding mask
#
# Take two sentences of lengths 3 and 1, padded to length 4 with id 0:
#
# | | ids | may be read |
# |---|---|---|
# | sentence 0 | 5 3 8 0 | True True True False |
# | sentence 1 | 7 0 0 0 | True False False False |
#
# The ids have shape $(N, S) = (2, 4)$. Scores have shape $(N, T, S)$, with an axis for the queries. The mask is the
# same for every query, so it only needs a place-holder there: shape $(N, 1, S)$, and broadcasting does the rest.
#
# Only **keys** are hidden. One of this course's sources also hides whole rows, those of padded *queries*. Such a row
# then has no key left at all; you will see below what that leads to. Leaving these rows alone is harmless, because
# nobody reads what they produce.

# %% [markdown] exercise="padding_mask" minutes=5 difficulty=1
# Two things to keep in mind. The ids may arrive as floats that hold integers. And no id is special by itself: with
# `pad_id=9`, id 0 is a word like any other.
#
# <details><summary>Hint 1 · "Where do I start?"</summary>
#
# One comparison of the whole tensor with one number gives a boolean tensor of the same shape, on the same device.
#
# </details>
# <details><summary>Hint 2 · "The mask is True where the padding is"</summary>
#
# True means *may be read*. Padding may not.
#
# </details>
# <details><summary>Hint 3 · "The values are right, the shape is (N, S)"</summary>
#
# Scores are $(N, T, S)$. Broadcasting lines shapes up from the right, so $(N, S)$ would lay the sentences along the
# *queries*: an error when $N \ne T$, and a silent mix-up when $N = T$. Put an axis of length 1 in the middle:
# `[:, None, :]`.
#
# </details>

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

# %% [markdown]
# **Both masks at once.** In a padded target sentence, a key must be in the past *and* hold a word. Two conditions of
# "may be read" are joined by `&`: (T, T) with (N, 1, T) gives (N, T, T).
#
# **Predict.** Sentence 1 is `7 0 0 0`. Which keys may its last position read?

# %% kind="show"
ids = torch.tensor([[5, 3, 8, 0], [7, 0, 0, 0]])
both = causal_mask(4) & padding_mask(ids, pad_id=0)
print("shape", tuple(both.shape))
for n in range(2):
    print(f"sentence {n}, ids {ids[n].tolist()}", *both[n].int().tolist(), sep="\n   ")
both[1, -1]

# %% [markdown]
# ## Hide before the softmax, not after
#
# Scores 2, 1, 0 again; the third key may not be read. Setting its weight to zero *after* the softmax looks right and is
# not: the hidden key has already taken its share of the total. What we want is the softmax of the two allowed scores
# alone.
#
# **Predict.** What do the first two weights sum to if the third is struck out afterwards?

# %% kind="show"
scores = torch.tensor([2.0, 1.0, 0.0])
after = scores.softmax(dim=-1) * torch.tensor([1.0, 1.0, 0.0])
before = scores[:2].softmax(dim=-1)
pictures.table(
    [[*after.tolist(), float(after.sum())], [*before.tolist(), "", float(before.sum())]],
    rows=["struck out after the softmax", "never there"],
    columns=["key 0", "key 1", "key 2", "sum"],
    digits=3,
)

# %% [markdown]
# ## Which score means "no weight"?
#
# Not 0: $e^0 = 1$, which is a quite ordinary weight. The exponential is exactly zero at one score only, minus infinity:
# $e^{-\infty} = 0$.
#
# Many programs, the chapter's among them, write $-10^9$ instead and argue that infinity invites NaN. For scores of
# ordinary size the two cannot be told apart. But $-10^9$ is a **penalty**, not a prohibition: it hides a key only while
# the other scores lie far above it. Try it by hand: two allowed keys share the score $-\text{scale}$, and the third key
# is "hidden" with $-10^9$.
#
# **Predict.** From which scale on does the hidden key leak, and what is its weight at $10^{10}$?

# %% kind="show"
def weights_with_a_penalty(scale: float, penalty: float) -> torch.Tensor:
    return torch.tensor([-scale, -scale, penalty], dtype=torch.float64).softmax(dim=-1)


scales = [1.0, 1e3, 1e6, 1e9 - 2, 1e9, 1e9 + 2, 1e10]
pictures.table(
    [[float(weights_with_a_penalty(scale, hidden)[2]) for hidden in (-1e9, -torch.inf)] for scale in scales],
    rows=[f"{scale:,.0f}" for scale in scales],
    columns=["hidden with -1e9", "hidden with -inf"],
    digits=3,
    corner="scale of the scores",
)

# %% [markdown]
# At $10^{10}$ the *hidden* key takes everything. Minus infinity has no such edge, and it exists in every float type.
# $-10^9$ does not: half precision ends at 65504, and PyTorch refuses the fill.

# %% kind="show"
half, hide = torch.zeros(2, dtype=torch.float16), torch.tensor([False, True])
print("largest number in half precision:", torch.finfo(torch.float16).max)
try:
    half.masked_fill(hide, -1e9)
except RuntimeError as error:
    print("with -1e9:", error)
half.masked_fill(hide, -torch.inf)

# %% [markdown]
# **Where the sources disagree.** The chapter fills with $-10^9$; the two specifications that this course grades by ask
# for minus infinity, and so do the checks: a hidden key gets weight exactly 0 at *any* scale of the scores.

# %% [markdown]
# ## The NaN that the chapter warns of
#
# The warning has a true core. Infinity makes NaN ("not a number") in two places, and both can be avoided.
#
# 1. **Zero times infinity.** `hidden * -inf` is NaN wherever `hidden` is 0, so on every *allowed* pair. Fill or choose;
#    never multiply.
# 2. **A row with no key left.** All its scores are minus infinity, so the softmax is 0 divided by 0.

# %% kind="show"
print("0 × -inf and 1 × -inf:     ", torch.tensor([0.0, 1.0]) * -torch.inf)
print("softmax of a row of -inf:  ", torch.full((3,), -torch.inf).softmax(dim=-1))
0.0 * torch.tensor(torch.nan)  # a weight of 0 on a value that is NaN

# %% [markdown]
# The last result is why one such row is not a local accident: any later sum that includes it becomes NaN too, even
# with weight 0. A query with nothing to read should read nothing, so our contract is: **a row without an allowed key
# is all zeros.**

# %% [markdown]
# ## Large scores
#
# One more trap. $e^{89}$ is more than float32 can hold, and infinity over infinity is NaN. The cure costs one
# subtraction: softmax does not change when the same number is taken from every score of a row, because
# $e^{z-m} = e^{z}e^{-m}$ and the factor cancels. Take $m$ as the row's maximum, and no exponent is above 0.

# %% kind="show"
big = torch.tensor([1000.0, 999.0])
naive = big.exp() / big.exp().sum()
shifted = (big - big.max()).exp() / (big - big.max()).exp().sum()
torch.stack([naive, shifted])  # row 0: as written; row 1: with the maximum taken off

# %% [markdown] exercise="masked_softmax" minutes=15 difficulty=2
# Put it together: softmax over the **keys** (the last axis) with the hidden keys left out.
#
# - hidden keys get weight exactly 0, whatever the scores;
# - no overflow for large scores;
# - a row with no allowed key is all zeros;
# - `scores` may have any number of leading axes, `allowed` broadcasts to it;
# - the tensors you were given stay as they were.
#
# <details><summary>Hint 1 · "Rows do not sum to 1"</summary>
#
# Are the *columns* summing to 1? Then the softmax runs over the queries; the keys are the last axis. Are the sums
# below 1? Then the mask came after the softmax. Hide first.
#
# </details>
# <details><summary>Hint 2 · "NaN in some rows"</summary>
#
# *NaN everywhere*: something multiplied by infinity. `masked_fill` and `torch.where` replace without multiplying.
# *NaN in rows with large scores*: take the row's maximum off before `exp`. *NaN only in rows that may read nothing*:
# there the maximum itself is minus infinity, and $-\infty - (-\infty)$ is NaN. Give such rows another number to take
# off, for example 0, and look at what you divide by.
#
# </details>
# <details><summary>Hint 3 · "Hidden keys still get a little weight", or "my scores have changed"</summary>
#
# The fill must be `-torch.inf`, not a large number, and go where `allowed` is False: `~allowed`. A method that ends in
# an underscore (`masked_fill_`) writes into the caller's tensor; use the one without.
#
# In order: fill, maximum of each row with `keepdim=True` (replace a maximum of minus infinity by 0), `exp` of the
# difference, sum of each row with `keepdim=True` (replace a sum of 0 by 1), divide. Or: `torch.softmax` of the filled
# scores, then replace the rows that have no allowed key by zeros.
#
# </details>

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

# %% [markdown]
# ## See it
#
# Three pictures of what you have just written. They can be moved with the mouse or with the keyboard: Tab goes from one
# control to the next, the arrows change it.
#
# **Yours beside the right one**, on the examples that the checks use, and a sentence that says where they differ. In
# the example *masked*, the allowed keys of the three rows are 0 1 3, then 1 2, then 0.
#
# **Predict before you look.** In which row is the largest weight exactly 1?

# %% kind="show"
from attnlab import contrast_view, leak_probe, mask_lab

contrast_view(masked_softmax)

# %% [markdown]
# **The mask lab**: every way of hiding a key, right or wrong, through your functions.
#
# **Predict before you move anything.** The causal mask is on and applied before the softmax. You set it to *after it*:
# which of the six rows still sums to 1? You set the diagonal to -1: what becomes of row 0? You hide with -1e9 and make
# the scores larger: which row is the first to read a hidden key?

# %% kind="show"
mask_lab(masked_softmax, causal_mask, padding_mask)

# %% [markdown]
# **The leak probe.** A map can look triangular and still be computed from the future. The probe looks at no weights: it
# changes one token of the input and measures how far each output moves.
#
# **Predict before you move anything.** Token 3 of 6 changes. Which outputs move? And without the mask?

# %% kind="show"
x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))  # (T, d)
leak_probe(lambda x: masked_softmax(x @ x.T, causal_mask(len(x))) @ x, x, "<s> the cat sees the dog")

# %% [markdown]
# ## The chapter's two tables
#
# Five positions, all scores equal. With nothing to choose between the keys, all structure in the second table comes
# from the mask. `chapter.causal_tables()` computes what the chapter prints, with $-10^9$; yours agrees, since these
# scores are small.

# %% kind="show"
scores = torch.ones(5, 5)
mine = masked_softmax(scores), masked_softmax(scores, causal_mask(5))
for name, table, printed in zip(["without a mask", "with the causal mask"], mine, chapter.causal_tables(), strict=True):
    print(f"{name}; largest difference from the chapter: {(table - printed).abs().max():.0e}")
    print(pictures.table(table, rows=range(5), columns=range(5), corner="query ↓ key →"), "\n")
pictures.heatmap(mine[1], list("01234"), list("01234"), "Causal self-attention weights (5, 5)", causal_mask(5))

# %% [markdown]
# ## Why the last row is special
#
# The mask hides the future, and the last position has none: its row is the same with and without the mask. Every other
# row equals the softmax over its own prefix, as if the later positions had never been there.
#
# That is what makes training fast. One pass over the whole target sentence computes all $T$ predictions, each as it
# would have come out from its prefix alone. (It also gives a symptom to remember: *only the last row is right* means
# that the causal mask is missing.)
#
# **Predict.** Below, the scores are random. In which rows do the masked and the unmasked weights differ?

# %% kind="show"
torch.manual_seed(0)
T = 5
scores = torch.randn(T, T)
masked, unmasked = masked_softmax(scores, causal_mask(T)), masked_softmax(scores)
from_unmasked = [float((masked[t] - unmasked[t]).abs().max()) for t in range(T)]
from_prefix = [
    float((masked[t, : t + 1] - masked_softmax(scores[t : t + 1, : t + 1])[0]).abs().max()) for t in range(T)
]
pictures.table(
    list(zip(from_unmasked, from_prefix, strict=True)),
    rows=range(T),
    columns=["differs from the unmasked row by", "from the softmax of its prefix by"],
    digits=3,
    corner="masked row",
)

# %% [markdown]
# ## The edge cases, with your function
#
# Sentence 1 of the next batch is nothing but padding, so all its rows have no key. Sentence 0 has scores of $10^{10}$,
# where the penalty leaked above. Row sums say what happened: 1 where something could be read, 0 where nothing could.

# %% kind="show"
ids = torch.tensor([[5, 3, 0], [0, 0, 0]])
scores = torch.full((2, 3, 3), -1e10)
weights = masked_softmax(scores, causal_mask(3) & padding_mask(ids, pad_id=0))
print("row sums:", weights.sum(dim=-1).tolist())
print("any NaN: ", bool(weights.isnan().any()))
weights[0]

# %% [markdown]
# ## Break it
#
# In lesson 5 your functions will translate. The weights for that are trained already, so you can see today what a
# mistake in a mask does to a French sentence. The lab holds the translator, made of the *library's* functions, and puts
# one mistake at a time into it. The map is the decoder reading what it has written, mean of its heads.
#
# **Predict**, by the buttons: only then you see what happens. Two of the seven mistakes change neither of the two
# sentences. Which? And which make the translator say nothing at all?

# %% kind="show"
from attnlab import break_it

break_it("01_mask")

# %% [markdown]
# Two mistakes went unnoticed: the penalty of $-10^9$, and striking out after the softmax, although the map of the
# latter shows row sums far below 1. A translation that comes out right is no proof. That is why the checks look at
# each clause by itself, on inputs that are made for it.

# %% [markdown]
# ## What to keep
#
# - A mask says True where a key **may be read**; conditions are joined with `&`.
# - Hide **before** the softmax, with **minus infinity**; a penalty leaks once scores are large enough.
# - Rows sum to 1 over the keys, or are all zeros when nothing may be read.
# - The causal mask lets one pass train all positions; the last row does not feel it.
#
# | symptom | what it usually means |
# |---|---|
# | row 0 is NaN or zero | the diagonal is hidden too |
# | the last row is NaN or zero | the mask is inverted: the past is hidden |
# | only the last row is right | no causal mask |
# | rows sum to less than 1 | masked after the softmax |
# | columns sum to 1 | softmax over the queries |
#
# **Next:** lesson 2 makes the scores, and lets a French word read an English sentence.

# %% [markdown]
# **How far are you?** `progress()` reads your notebooks as they are saved and says what passes, whose code runs, and
# what to do next.

# %% kind="show"
from attnlab import progress

progress()
