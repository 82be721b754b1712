# %% [markdown]
# # Lesson 4 · The full forward pass
#
# You have a mask, attention between two sequences, and a decoder block. This lesson puts them into one function that
# takes word ids and gives a score for every word of the target vocabulary, at every position. Then you train it, and
# it learns to turn English into French.
#
# ```
#  src_ids (N, S) ──> embed + position ──> encoder block x E ──> enc (N, S, d)
#                                                                  │ keys and values, for every decoder block
#  tgt_ids (N, T) ──> embed + position ──> decoder block x L <─────┘
#                                               │ (N, T, d)
#                                               └──> @ w_head ──> logits (N, T, V_tgt)
# ```
#
# Names are those of the earlier lessons: N sentences in a batch, S source words, T target words, width d, E encoder
# and L decoder blocks, V words in a vocabulary. Run the cells from top to bottom. Where a cell asks for a
# prediction, make it before you run the cell: a wrong guess is where the learning is.

# %% kind="given" name="setup"
import torch

from attnlab import chapter, check, corpus, earlier, training
from attnlab.vocabulary import BOS, EOS, PAD

padding_mask = earlier("01_mask", "padding_mask")
multi_head_attention = earlier("02_cross_attention", "multi_head_attention")
layer_norm = earlier("03_decoder_block", "layer_norm")
feed_forward = earlier("03_decoder_block", "feed_forward")
decoder_block = earlier("03_decoder_block", "decoder_block")

# %% [markdown]
# ## 1 · Where is a word?
#
# Attention compares contents. Nothing in it knows that one word stands before another.
#
# **Predict before you run.** The cell sends three tokens through self-attention, then the same three in another
# order. What is the second output, compared with the first?

# %% kind="show"
random = torch.Generator().manual_seed(1)
x = torch.randn(1, 3, 4, generator=random)                # (1, 3, 4): three tokens
w_q, w_k, w_v, w_o = torch.randn(4, 4, 4, generator=random)
order = [2, 0, 1]
plain = multi_head_attention(x, x, w_q, w_k, w_v, w_o, 2)
moved = multi_head_attention(x[:, order], x[:, order], w_q, w_k, w_v, w_o, 2)
print("the same rows in the new order:", torch.allclose(plain[:, order], moved, atol=1e-6))

# %% [markdown]
# The same rows, reordered. To attention without positions, "the cat sees the dog" and "the dog sees the cat" are one
# bag of words. So we **add** to each embedding a vector that says where the word stands.
#
# Which vector? One that differs at every position, stays the same size however long the sentence is, and makes
# "three words further on" look alike everywhere. A set of clock hands does all that: a fast one tells neighbours
# apart, slow ones tell the beginning from the end. A hand at angle $a$ is the pair $(\sin a, \cos a)$. Columns $2p$
# and $2p+1$ hold hand number $p$, which turns by
#
# $$\frac{1}{10000^{\,2p/d}}\ \text{radians a word.}$$
#
# **A worked number.** Take d = 4 and position 1. Hand 0 turns $1/10000^0 = 1$ radian a word, hand 1 turns
# $1/10000^{2/4} = 0.01$. The row is
#
# $$(\sin 1,\ \cos 1,\ \sin 0.01,\ \cos 0.01) = (0.841,\ 0.540,\ 0.010,\ 1.000).$$
#
# Position 0 has every hand at angle 0, so its row is $(0, 1, 0, 1)$.

# %% [markdown] exercise="positional_encoding" minutes=10 difficulty=2
# Give the table of positions, (length, d). Column j of row i is the sine of the angle for even j and the cosine of
# the same angle for odd j; the angle is $i / 10000^{2\lfloor j/2\rfloor/d}$. An odd d just lacks the last cosine.
#
# <details><summary>Hint 1 · "Columns 0 and 1 are right, the later ones are not"</summary>
#
# Sine and cosine of a pair share one angle. Look at which number you put into the exponent for j = 2 and for j = 3.
#
# </details>
# <details><summary>Hint 2 · "It raises for d = 5, or a column is missing"</summary>
#
# Building sines and cosines apart and laying them side by side needs as many of the one as of the other. Think of
# all d columns at once instead: an angle for each column, then a choice between two functions.
#
# </details>
# <details><summary>Hint 3 · "I know the formula but not how to write it without loops"</summary>
#
# Make `i` a column, (length, 1), and `j` a row, (d,); then `i / 10000 ** (2 * (j // 2) / d)` is the whole (length,
# d) table of angles. `torch.where(j % 2 == 0, angle.sin(), angle.cos())` picks. Make `i` floating:
# `torch.arange(length, dtype=torch.get_default_dtype())`.
#
# </details>

# %% kind="solution" exercise="positional_encoding"
def positional_encoding(length: int, d: int) -> torch.Tensor:
    """One vector per position, made of sines and cosines of falling frequency.

    length: number of positions
    d: number of features, odd or even
    returns: (length, d) in torch's default dtype; column j at position i is sin(i / 10000^(2*floor(j/2)/d)) for
        even j, cos of the same angle for odd j
    """
    ### BEGIN SOLUTION
    i = torch.arange(length, dtype=torch.get_default_dtype())[:, None]        # (length, 1)
    j = torch.arange(d)                                   # (d,)
    pair = torch.div(j, 2, rounding_mode="floor")         # 0 0 1 1 2 2 ...
    angle = i / 10000.0 ** (2 * pair / d)                 # (length, d)
    return torch.where(j % 2 == 0, angle.sin(), angle.cos())
    ### END SOLUTION

# %% kind="tests" exercise="positional_encoding" points=3
check(positional_encoding)

# %% [markdown]
# Your table should show the worked row. The second print holds a small wonder: the product of two rows depends only
# on how far apart they are.
#
# **Predict:** rows 2 and 5 are three apart, and so are rows 20 and 23. And a row with itself, for d = 64?

# %% kind="show"
print(positional_encoding(3, 4))
table = positional_encoding(32, 64)                       # (32, 64)
print("2·5:", table[2] @ table[5], " 20·23:", table[20] @ table[23], " 7·7:", table[7] @ table[7])

# %% kind="show"
from attnlab import pictures

columns = {f"column {j}": positional_encoding(32, 16)[:, j].tolist() for j in (0, 1, 4, 8)}
pictures.curves(list(range(32)), columns, "Four columns of the table, d = 16", "position", "value")

# %% [markdown]
# Because $\sin a\sin b + \cos a\cos b = \cos(a-b)$, each of the d/2 hands adds the cosine of the turn between the
# two positions: 32 for a row with itself at d = 64. A query can ask for "the word before me" by turning every hand
# back one step, and that turn is one fixed matrix for all positions.
#
# The graded forward pass does not care where positions come from: it is **given** two tables. This is one way to
# make them; learned tables are the other.
#
# ## 2 · What goes in is what comes out, one step late
#
# At each target position the decoder must predict the *next* word. In training the right words are known, so we do
# not let the model feed itself its own mistakes: we feed it the right words, one step late. That is **teacher
# forcing**.
#
# **A worked example.** The labels are "le temps est magnifique" and the end sign. The begin sign goes in front, and
# the last label has no place left:
#
# | position | 0 | 1 | 2 | 3 | 4 |
# |---|---|---|---|---|---|
# | goes in | `<s>` | le | temps | est | magnifique |
# | must come out | le | temps | est | magnifique | `</s>` |
#
# In numbers, with 1 for `<s>`: labels `[4, 7, 9, 2]` go in as `[1, 4, 7, 9]`. Thanks to the causal mask all five
# questions are asked in one pass, and none of them sees its answer.

# %% [markdown] exercise="shift_right" minutes=5 difficulty=1
# Put `bos_id` in front of every row and drop the row's last id. Shape and dtype stay as they were. Whatever the last
# id is, it goes: the loss takes the labels, not these.
#
# <details><summary>Hint 1 · "My result is one column too long, or the first word is missing"</summary>
#
# Two things happen: one id comes in at the left, one leaves at the right. Which end did you cut?
#
# </details>
# <details><summary>Hint 2 · "The input changed, or the first label came back in every column"</summary>
#
# `ids[:, 1:] = ids[:, :-1]` writes into the caller's tensor, and may read what it has just written. Build a new
# tensor.
#
# </details>
# <details><summary>Hint 3 · "torch.cat complains about dtypes or shapes"</summary>
#
# The new column must be (N, 1) and of the same dtype: `torch.full_like(ids[:, :1], bos_id)`. Then
# `torch.cat([column, ids[:, :-1]], dim=1)`.
#
# </details>

# %% kind="solution" exercise="shift_right"
def shift_right(ids: torch.Tensor, bos_id: int) -> torch.Tensor:
    """What the decoder is fed in training: the target one step late.

    ids: (N, T), integers, perhaps held as floats
    bos_id: the id that begins a sentence
    returns: (N, T), bos_id first, the last id dropped, dtype kept
    """
    ### BEGIN SOLUTION
    first = torch.full_like(ids[:, :1], bos_id)           # (N, 1)
    return torch.cat([first, ids[:, :-1]], dim=1)         # (N, T)
    ### END SOLUTION

# %% kind="tests" exercise="shift_right" points=2
check(shift_right)

# %% kind="show"
labels = torch.tensor([[*corpus.FRENCH.encode("le temps est magnifique"), EOS]])        # (1, 5)
inputs = shift_right(labels, BOS)
for goes_in, comes_out in zip(inputs[0].tolist(), labels[0].tolist(), strict=True):
    print(f"{corpus.FRENCH.words[goes_in]:>12} -> {corpus.FRENCH.words[comes_out]}")

# %% [markdown]
# **Two ways to get it wrong.** *No shift:* position t is fed the very word it must predict. The loss falls to almost
# nothing in a few steps, and the model has learned to copy its input; fed its own words, it says nothing useful. A
# loss that is too good is a bug report. *Two shifts* (once by you, once inside the forward pass): the model learns
# to skip a word. That is why the graded forward pass reads `tgt_ids` exactly as supplied.
#
# **Find the mistake.** A web page about the Transformer trains on the target *le temps est magnifique*: four labels,
# four inputs from `<s>` to *est*. Later its table of generated words ends with *magnifique* and then the end sign.
# What can this model never have learned? And what did the translator of "the weather is lovely **today**" forget?
#
# <details><summary>Answer</summary>
#
# No label ever was the end sign, so no training step ever pushed its score up: the model was never asked to stop.
# Labels must hold `</s>`, as in the table above; then the input grows to `<s> le temps est magnifique`, five and
# five. And *today* got lost: our translator will say *aujourd'hui*.
# </details>
#
# ## 3 · The encoder block
#
# The source is known from its first word to its last. Nothing must be hidden, so the encoder's block is your decoder
# block with two things taken away: the causal mask, and the cross-attention, since there is nobody else to read.
#
# | | decoder block | encoder block |
# |---|---|---|
# | self-attention | causal | **no mask** |
# | cross-attention | reads the encoder | none |
# | feed-forward | the same | the same |
# | weights | (12, d, d), 10 used | (6, d, d): w_q, w_k, w_v, w_o, w_mlp1, w_mlp2 |
# | after each sublayer | add, then normalise | add, then normalise |
#
# **A worked number.** Let all six matrices be zero. Both sublayers then give 0, and what is left is `LN(LN(x + 0) +
# 0)`. For the token (1, 3): mean 2, variance 1, so LN gives (-1, 1), and LN of that is (-1, 1) again. An all-zero
# block normalises and does nothing else. If yours gives (1, 3) back, the normalisation is missing; if it gives
# zeros, the residual is.

# %% [markdown] exercise="encoder_block" minutes=10 difficulty=2
# Two sublayers on `enc` (N, S, d): self-attention where every position reads every position, then feed-forward. Each
# adds its input back and normalises the **sum**.
#
# <details><summary>Hint 1 · "The output is not mean 0 and variance 1"</summary>
#
# Something came after the last normalisation, or the normalisation came before the addition. The last thing a block
# does is `layer_norm(...)`.
#
# </details>
# <details><summary>Hint 2 · "Source word 0 does not feel source word 3"</summary>
#
# A causal mask crept in. `multi_head_attention` reads everything when you do not give it `allowed`.
#
# </details>
# <details><summary>Hint 3 · "The shapes are right, the numbers are not"</summary>
#
# Check three things: slots in the order of the table above; queries, keys and values all from `enc`; and the second
# residual starts from the *updated* `enc`. Line by line: unpack `block`; `enc = layer_norm(enc +
# multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads))`; then the same pattern around `feed_forward(enc,
# w_mlp1, w_mlp2)`.
#
# </details>

# %% kind="solution" exercise="encoder_block"
def encoder_block(enc: torch.Tensor, block: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Self-attention without a mask, then feed-forward; each adds its input back, then normalises.

    enc: (N, S, d)
    block: (6, d, d): w_q, w_k, w_v, w_o, w_mlp1, w_mlp2
    returns: (N, S, d)
    """
    ### BEGIN SOLUTION
    w_q, w_k, w_v, w_o, w_mlp1, w_mlp2 = block            # each (d, d)
    read_self = multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads)
    enc = layer_norm(enc + read_self)                     # (N, S, d)
    return layer_norm(enc + feed_forward(enc, w_mlp1, w_mlp2))
    ### END SOLUTION

# %% kind="tests" exercise="encoder_block" points=4
check(encoder_block)

# %% kind="show"
print("all-zero block:", encoder_block(torch.tensor([[[1.0, 3.0]]]), torch.zeros(6, 2, 2), 1))

x = torch.randn(1, 4, 8, generator=random)                # (1, 4, 8)
block = torch.randn(6, 8, 8, generator=random)
changed = x.clone()
changed[0, 3] += 1.0                                      # touch the last word only
moved = (encoder_block(changed, block, 2) - encoder_block(x, block, 2)).abs().amax(-1)
print("how far each word's output moved:", moved)         # the causal mask would keep words 0, 1 and 2 at 0

# %% [markdown]
# ## 4 · The encoder
#
# Ids become vectors by look-up: row 5 of `src_emb` is the vector of word 5. Then the position is added, then E
# blocks run one after the other, each with its own weights.
#
# **A worked number.** With d = 2, let word 3 be (0.5, -1.0) and position 1 be (0.841, 0.540). Word 3 at position 1
# enters the first block as (1.341, -0.460). With E = 0 it leaves just so.
#
# Three things to know. Ids arrive **as floats**, and a float cannot index: cast to integers first. Id 0 is a word
# like any other. And `enc_pos_embed` (S, d) has no batch axis: added to (N, S, d) it is the same for every sentence.

# %% [markdown] exercise="encode" minutes=5 difficulty=1
# Look up, add positions, run the blocks. `enc_blocks` is (E, 6, d, d), and E may be 0.
#
# <details><summary>Hint 1 · "IndexError: tensors used as indices must be long, int, byte or bool"</summary>
#
# The ids are floats. Cast them before you look up; which cast keeps 3 an index and not a yes or no?
#
# </details>
# <details><summary>Hint 2 · "Every word of a sentence got the same position"</summary>
#
# You sliced the table by the batch. It already has one row for each source position; no slice is needed.
#
# </details>
# <details><summary>Hint 3 · "It fails for E = 0, or the second block has no effect"</summary>
#
# `for block in enc_blocks:` walks along the first axis, and an empty axis gives no turn at all. Each turn must hand
# its result to the next: `enc = encoder_block(enc, block, num_heads)`. Before it: `src_emb[src_ids.long()] +
# enc_pos_embed`.
#
# </details>

# %% kind="solution" exercise="encode"
def encode(
    src_ids: torch.Tensor,
    src_emb: torch.Tensor,
    enc_pos_embed: torch.Tensor,
    enc_blocks: torch.Tensor,
    num_heads: int,
) -> torch.Tensor:
    """Embed the source, add positions, run the encoder blocks.

    src_ids: (N, S), integers held as floats
    src_emb: (V_src, d), enc_pos_embed: (S, d), enc_blocks: (E, 6, d, d), E may be 0
    returns: (N, S, d)
    """
    ### BEGIN SOLUTION
    enc = src_emb[src_ids.long()] + enc_pos_embed         # (N, S, d)
    for block in enc_blocks:
        enc = encoder_block(enc, block, num_heads)        # (N, S, d)
    return enc
    ### END SOLUTION

# %% kind="tests" exercise="encode" points=2
check(encode)

# %% kind="show"
emb = torch.tensor([[9.0, 9.0], [9.0, 9.0], [9.0, 9.0], [0.5, -1.0]])                   # (4, 2): word 3 is (0.5, -1)
print(encode(torch.tensor([[3.0, 3.0]]), emb, positional_encoding(2, 2), torch.zeros(0, 6, 2, 2), 1))

# %% [markdown]
# ## 5 · From ids to logits
#
# The other half is the decoder: look up the target ids, add *its* positions, run L blocks. Every one of them reads
# the **same** `enc`, the encoder's final output. A common false picture has decoder block 2 read encoder block 2;
# no, the source is read to the end first. Then one matrix product turns each d-vector into V_tgt scores.
#
# | value | shape |
# |---|---|
# | `enc`, from `encode` | (N, S, d) |
# | `tgt_emb[tgt_ids] + dec_pos_embed` | (N, T, d) |
# | `dec`, after each decoder block | (N, T, d) |
# | `dec @ w_head` | (N, T, V_tgt) |
#
# **A worked number.** With L = 0 the decoder is a look-up and a product. If word plus position is (1, 2), and
# `w_head` is $\begin{pmatrix}1&0&2\\0&1&-1\end{pmatrix}$, the logits are (1, 2, 0): word 1 scores best. The source
# has no say: cross-attention lives in the blocks, and there are none.
#
# The result is **raw**: no softmax, no choice of a word, all T positions. Training needs log-probabilities and
# generation the largest score; both start from raw scores and do the rest better than you could here.

# %% [markdown] exercise="encoder_decoder_forward" minutes=20 difficulty=3
# Put it together. Source and target may differ in length and in vocabulary, E and L may be 0, ids are floats, and
# nothing is shifted, scaled or masked beyond what the blocks do.
#
# <details><summary>Hint 1 · "IndexError, or a vocabulary of the wrong size"</summary>
#
# Two tables, two vocabularies: source ids belong to `src_emb`, target ids to `tgt_emb`.
#
# </details>
# <details><summary>Hint 2 · "The source makes no difference, or T and S get mixed up"</summary>
#
# Every decoder block takes two sequences: its own `dec`, which it replaces, and `enc`, which it only reads. Target
# lengths come from `tgt_ids` alone.
#
# </details>
# <details><summary>Hint 3 · "Right with one block, wrong with three or with none"</summary>
#
# `dec` must run through the blocks, `enc` must not change after the encoder, and nothing is normalised after the
# last block. Nearly all of it: `enc = encode(...)`; `dec = tgt_emb[tgt_ids.long()] + dec_pos_embed`; a loop `dec =
# decoder_block(dec, enc, block, num_heads)`; return `dec @ w_head`.
#
# </details>

# %% kind="solution" exercise="encoder_decoder_forward"
def encoder_decoder_forward(
    src_ids: torch.Tensor,
    tgt_ids: torch.Tensor,
    src_emb: torch.Tensor,
    tgt_emb: torch.Tensor,
    enc_pos_embed: torch.Tensor,
    dec_pos_embed: torch.Tensor,
    enc_blocks: torch.Tensor,
    dec_blocks: torch.Tensor,
    w_head: torch.Tensor,
    num_heads: int,
) -> torch.Tensor:
    """From ids to a score for every word of the target vocabulary at every target position.

    src_ids: (N, S), tgt_ids: (N, T), integers held as floats; tgt_ids are read as supplied
    src_emb: (V_src, d), tgt_emb: (V_tgt, d), enc_pos_embed: (S, d), dec_pos_embed: (T, d)
    enc_blocks: (E, 6, d, d), dec_blocks: (L, 12, d, d), E and L may be 0; w_head: (d, V_tgt)
    returns: raw logits (N, T, V_tgt)
    """
    ### BEGIN SOLUTION
    enc = encode(src_ids, src_emb, enc_pos_embed, enc_blocks, num_heads)      # (N, S, d)
    dec = tgt_emb[tgt_ids.long()] + dec_pos_embed         # (N, T, d)
    for block in dec_blocks:
        dec = decoder_block(dec, enc, block, num_heads)   # (N, T, d)
    return dec @ w_head                                   # (N, T, V_tgt)
    ### END SOLUTION

# %% kind="tests" exercise="encoder_decoder_forward" points=8
check(encoder_decoder_forward)

# %% [markdown]
# ### See it: every head of every block
#
# Weights that have been trained are shipped with the course. Here your forward pass reads *the black cat is small* and
# is fed *le chat noir est petit*, and the weights of all its attentions are recorded on the way.
#
# **Predict before you move anything.** Which of the three kinds has a triangle, and which is not square? In the
# cross-attention, which source word does the position read that has just been fed "chat" and must say "noir"? Do the
# four heads agree?

# %% kind="show"
from attnlab import attention_view, leak_probe, recorded_translation

attention_view(recorded_translation(encoder_decoder_forward))

# %% [markdown]
# Try it on random weights: 5 source words out of 12, 4 target words out of 9. The cell changes one thing at a time
# and prints how far the logits move at each target position.
#
# **Predict:** which positions move when target word 2 changes? And when source word 4 changes?

# %% kind="show"
def random_model(src_words, tgt_words, S, T, d, blocks):
    """Everything that encoder_decoder_forward wants after the ids, but for num_heads."""
    shapes = [(src_words, d), (tgt_words, d), (S, d), (T, d), (blocks, 6, d, d), (blocks, 12, d, d), (d, tgt_words)]
    return [torch.randn(*shape, generator=random) * d**-0.5 for shape in shapes]

model = random_model(12, 9, S=5, T=4, d=8, blocks=4)
src, tgt = torch.tensor([[3.0, 0, 7, 1, 5]]), torch.tensor([[1.0, 4, 2, 8]])
other_tgt, other_src = torch.tensor([[1.0, 4, 6, 8]]), torch.tensor([[3.0, 0, 7, 1, 9]])
logits = encoder_decoder_forward(src, tgt, *model, 2)     # (1, 4, 9)
for what, s, t in [("target word 2", src, other_tgt), ("source word 4", other_src, tgt)]:
    moved = (encoder_decoder_forward(s, t, *model, 2) - logits).abs().amax(-1)
    print(f"{what} changes: logits move by", [round(m, 3) for m in moved[0].tolist()])

# %% [markdown]
# Target word 2 reaches positions 2 and 3 and no earlier one: exact zeros, thanks to minus infinity. A source word
# reaches them all.
#
# The leak probe does the same for each position in turn, on the same model.
#
# **Predict before you move it.** Word 0 changes: which positions move?

# %% kind="show"
leak_probe(lambda tgt: encoder_decoder_forward(src, tgt, *model, 2), tgt, vocabulary=9)

# %% [markdown]
# ### Does depth change the output?
#
# A chapter that you may have read beside this course asks what happens when blocks are stacked. The cell below runs
# the same ids through the first 0, 1, 2, 3 and 4 blocks on each side, on the same weights.
#
# **Predict:** does the best word stay? Do the logits grow with depth?

# %% kind="show"
*tables, enc_blocks, dec_blocks, w_head = model
for depth in range(5):
    logits = encoder_decoder_forward(src, tgt, *tables, enc_blocks[:depth], dec_blocks[:depth], w_head, 2)
    print(f"{depth} blocks: best words {logits[0].argmax(-1).tolist()}, logits spread over {logits.std():.2f}")

# %% [markdown]
# Yes: each block rewrites the vectors, so best words change while nothing has been learned yet. But from one block
# on the size stays: every block ends in a normalisation. (With pre-norm, where the sum is never normalised, it would
# grow.)
#
# ### The chapter's figure
#
# The chapter runs a whole random model, with V = 10, d = 8, one block a side, and prints the best word at three
# positions. `attnlab.chapter` computes it in *its* convention. **Predict** how large the best probability is, for
# ten words and nothing learned.

# %% kind="show"
probabilities = chapter.full_forward(*chapter.full_forward_example()).softmax(-1)       # (3, 10)
for position, row in enumerate(probabilities):
    print(f"position {position}: word {int(row.argmax())} at {row.max():.3f}; guessing is {1 / len(row):.3f}")

# %% [markdown]
# Barely above a tenth, and that is right: a model that has learned nothing should have no opinion. A strong
# preference here would be a bug.
#
# Those numbers cannot come out of *your* function, because the sources of this course disagree. What is graded is
# the first column:
#
# | topic | this course | the chapter | the flow page |
# |---|---|---|---|
# | hidden score | minus infinity | -1e9 | minus infinity |
# | norm | post-norm layer norm | pre-norm RMSNorm | post-norm; its code pre-norm |
# | weights | `x @ W` | `W x`, stored (out, in) | |
# | embeddings | two tables | one table | one table, times sqrt(d) |
# | feed-forward width | d | 2d | 2048 (d = 512) |
# | heads | several | one, narrower than d | 8 |
# | padding | none, id 0 is a word | none | "query or key"; in its summary only the key |
#
# **Find the mistake.** The chapter says that minus infinity "risks NaN" and takes -1e9. When is it right, and what
# does -1e9 cost? And what goes wrong when a padded *query* is masked as well?
#
# <details><summary>Answer</summary>
#
# Softmax of a row that is minus infinity throughout is 0/0, a NaN. A causal row always holds itself, so it never
# happens there; lesson 1 treated the empty row by hand. -1e9 is hidden only as long as real scores stay far above
# it: with scores near -1e10 the hidden keys win. And a masked query is such an empty row: mask keys only, and leave
# the padded queries' outputs out of the loss.
# </details>
#
# ## 6 · How wrong is it?
#
# Logits become probabilities by softmax, and the loss is how surprised the model is by the right word: $-\log
# p(\text{right word})$, averaged over positions. As
#
# $$\log p_y = z_y - \log \sum_j e^{z_j},$$
#
# no probability needs to be computed at all, and with `logsumexp` nothing overflows.
#
# **A worked number.** Logits (2, 1, 0), right word 0: $\log(e^2 + e + 1) = 2.408$, so the loss is $2.408 - 2 =
# 0.408$. Had all three scores been equal, it would be $\log 3 = 1.099$: the price of guessing among three. Among 77
# French words it is $\log 77 = 4.34$. A fresh model starts a little above that: it does not know, and is not even.
#
# Sentences of one batch differ in length, so the short ones are filled with `<pad>`. Nobody wants the model to learn
# to say `<pad>`: such positions do not count, **neither in the sum nor in the number we divide by**.

# %% [markdown] exercise="sequence_loss" minutes=10 difficulty=2
# Mean of $-\log p$ of the right word over the positions that count. Raw logits (N, T, V), targets (N, T), perhaps as
# floats; a 0-dim tensor comes back.
#
# <details><summary>Hint 1 · "inf or nan with large logits"</summary>
#
# `log(softmax(z))` takes the logarithm of numbers that may have become 0. There is a form that never leaves the
# logarithms; it stands above.
#
# </details>
# <details><summary>Hint 2 · "Too small as soon as there is padding"</summary>
#
# You set the padded losses to zero but still divide by N·T. Divide by how many positions count, or throw the others
# away before the mean.
#
# </details>
# <details><summary>Hint 3 · "I cannot pick one score per position"</summary>
#
# Throw away first: `counted = targets != pad_id`, then `logits[counted]` is (M, V) and `targets[counted]` is (M,).
# With `log_p = logits - logits.logsumexp(-1, keepdim=True)`, pick by `log_p.gather(-1, targets[:, None])`, and take
# minus the mean. Cast the targets to long.
#
# </details>

# %% kind="solution" exercise="sequence_loss"
def sequence_loss(logits: torch.Tensor, targets: torch.Tensor, pad_id: int | None = None) -> torch.Tensor:
    """How surprised the model is by the right words, on average.

    logits: (N, T, V), raw scores
    targets: (N, T), the id that is right at each position
    pad_id: positions whose target is this id do not count; None counts all. At least one position counts
    returns: 0-dim, the mean of -log softmax(logits)[target], natural logarithm
    """
    ### BEGIN SOLUTION
    targets = targets.long()
    counted = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id     # (N, T)
    logits, targets = logits[counted], targets[counted]   # (M, V), (M,)
    log_p = logits - logits.logsumexp(dim=-1, keepdim=True)                   # (M, V)
    return -log_p.gather(-1, targets[:, None]).mean()     # ()
    ### END SOLUTION

# %% kind="tests" exercise="sequence_loss" points=3
check(sequence_loss)

# %% [markdown]
# **See it: the shift.** Your functions with the shipped weights. What goes in, which word scores best, and the label
# stand one above the other, with the loss of each position below.
#
# **Predict before you move anything.** The model was trained with one shift. If each position is fed its own label
# instead, which word will it say at position 0? Does the loss rise a little or a lot? And what does padding change?

# %% kind="show"
from attnlab import shift_view

shift_view(shift_right, encoder_decoder_forward, sequence_loss)

# %% kind="show"
print("worked number:", sequence_loss(torch.tensor([[[2.0, 1.0, 0.0]]]), torch.tensor([[0]])))
print("guessing among 77:", sequence_loss(torch.zeros(1, 1, 77), torch.tensor([[5]])))
one_word, then_padding = torch.zeros(1, 4, 77), torch.tensor([[5, PAD, PAD, PAD]])
print("one word, three <pad>:", sequence_loss(one_word, then_padding, pad_id=PAD))      # the same number
print("logits of a thousand:", sequence_loss(torch.tensor([[[1000.0, 0.0]]]), torch.tensor([[1]])))

# %% [markdown]
# ## 7 · What it weighs
#
# Count the matrices. Attention has four of d × d, the feed-forward layer one of d × d_ff and one back. An encoder
# block has one attention, a decoder block two. (Widths d and d_ff are counted apart here, as in the original paper;
# the model above has d_ff = d.)
#
# **A worked number.** d = 2, d_ff = 8: attention $4\cdot 2^2 = 16$, feed-forward $2\cdot 2\cdot 8 = 32$. Encoder
# block 48, decoder block 64.
#
# **Predict** before you count: by how much does the cross-attention raise the attention weights of a block? And what
# does the number of heads change?

# %% [markdown] exercise="parameter_count" minutes=5 difficulty=1
# Number of weights in the attention and feed-forward matrices of all blocks. Embeddings and head do not count.
#
# <details><summary>Hint 1 · "The encoder is right, the decoder too small"</summary>
#
# How many attentions does a decoder block hold, and how many feed-forward layers?
#
# </details>
# <details><summary>Hint 2 · "Too large by a factor near the number of heads"</summary>
#
# Heads cut the d features into pieces; together they are the same d × d matrix.
#
# </details>
# <details><summary>Hint 3 · "I get a float, or the sum is off"</summary>
#
# Keep to integers. Encoder block: `4 * d_model**2 + 2 * d_model * d_ff`. Decoder block: the first term twice, the
# second once. Multiply by how many there are of each, and add.
#
# </details>

# %% kind="solution" exercise="parameter_count"
def parameter_count(d_model: int, d_ff: int, encoder_blocks: int, decoder_blocks: int) -> int:
    """How many weights the attention and feed-forward matrices of the blocks hold.

    d_model: d; d_ff: width of the feed-forward layer; encoder_blocks, decoder_blocks: how many of each
    returns: an int
    """
    ### BEGIN SOLUTION
    attention = 4 * d_model**2                            # w_q, w_k, w_v, w_o
    feed_forward = 2 * d_model * d_ff                     # w_mlp1, w_mlp2
    encoder = encoder_blocks * (attention + feed_forward)
    decoder = decoder_blocks * (2 * attention + feed_forward)
    return encoder + decoder
    ### END SOLUTION

# %% kind="tests" exercise="parameter_count" points=2
check(parameter_count)

# %% kind="show"
encoder, decoder = parameter_count(512, 2048, 6, 0), parameter_count(512, 2048, 0, 6)
print(f"one encoder block {encoder / 6e6:.2f} million, one decoder block {decoder / 6e6:.2f} million")
print(f"six and six: {encoder / 1e6:.1f} + {decoder / 1e6:.1f} = {(encoder + decoder) / 1e6:.1f} million")
print(f"the encoder's share: {encoder / (encoder + decoder):.0%}")
# a decoder-only block has no source to read, so it is as large as an encoder block
print(f"twelve decoder-only blocks: {parameter_count(512, 2048, 12, 0) / 1e6:.1f} million")

# %% [markdown]
# **Find the mistake.** The chapter says that the extra sublayer costs a decoder block "roughly half again as many"
# attention weights, and that the encoder carries "a third" of the six-and-six budget. Hold both against the numbers
# above.
#
# <details><summary>Answer</summary>
#
# Twice, not half again: $8d^2$ against $4d^2$. And 18.9 of 44.0 million is 43 %. What *is* a third: a whole decoder
# block is a third larger than an encoder block, 4.19 against 3.15 million, since both have the same feed-forward
# layer.
# </details>
#
# ### Weight tying
#
# `tgt_emb` is (V, d), a vector for each word; `w_head` is (d, V), a vector for each word again. The original paper
# uses one matrix for both, and for the source as well: fewer weights, and what a word *means* going in is what it
# *scores* coming out. Your function needs no change for that: pass `tgt_emb.T` as `w_head`. The paper then
# multiplies embeddings by sqrt(d): a head wants entries of about 1/sqrt(d), embeddings next to sines and cosines
# want entries of about 1, and one matrix cannot be both. Here the tables are separate, so nothing is scaled.

# %% kind="show"
src_emb, tgt_emb, *others, _ = model
tied = encoder_decoder_forward(src, tgt, src_emb, tgt_emb, *others, tgt_emb.T, 2)
print("tied:", tuple(tied.shape), f"and {tgt_emb.numel()} weights fewer")

# %% [markdown]
# ## 8 · Padding, when you train
#
# A batch is a rectangle, sentences are not, so short ones are filled up. Where does that hurt?
#
# **Predict:** the cell adds two `<pad>` behind the target, then two behind the source. Which of the two changes the
# logits of the real words?

# %% kind="show"
longer = random_model(12, 9, S=7, T=6, d=8, blocks=2)
def real_words(src, tgt):
    """Logits of the first four target positions, positions cut to fit."""
    src_emb, tgt_emb, enc_pos, dec_pos, *others = longer
    S, T = src.shape[1], tgt.shape[1]
    return encoder_decoder_forward(src, tgt, src_emb, tgt_emb, enc_pos[:S], dec_pos[:T], *others, 2)[:, :4]

two = torch.full((1, 2), float(PAD))
alone = real_words(src, tgt)
print(f"target padded: real words move by {(real_words(src, torch.cat([tgt, two], 1)) - alone).abs().max():.6f}")
print(f"source padded: real words move by {(real_words(torch.cat([src, two], 1), tgt) - alone).abs().max():.6f}")

# %% [markdown]
# Behind the target, padding is harmless: the causal mask hides it from every real word, and the loss skips what the
# padded positions say. In the source it hurts, since encoder and cross-attention read *every* position.
#
# The usual cure is the padding mask of lesson 1, in two places: encoder self-attention and cross-attention, on the
# **keys**. The forward pass graded here has no such mask, so we take the other cure: a batch holds sources of equal
# length, and no source is ever padded. The mask does the same, as this cell shows for one attention.

# %% kind="show"
x = torch.randn(1, 5, 8, generator=random)                # three words, then two <pad>
ids = torch.tensor([[5, 3, 7, PAD, PAD]])
w_q, w_k, w_v, w_o = torch.randn(4, 8, 8, generator=random)
masked = multi_head_attention(x, x, w_q, w_k, w_v, w_o, 2, padding_mask(ids, PAD))[:, :3]
short = multi_head_attention(x[:, :3], x[:, :3], w_q, w_k, w_v, w_o, 2)
print("masked padding equals no padding:", torch.allclose(masked, short, atol=1e-5))

# %% [markdown]
# ## 9 · Teach it French
#
# The corpus is made by rules, small but not word for word: nouns have a gender, articles and adjectives agree, most
# adjectives follow the noun and some precede it, and "not" becomes two words around the verb. The model sees 2,000
# pairs. 200 others are kept back, and so are two sentences that we care about: if it translates those, it has
# learned rules.

# %% kind="given" name="recipe"
WIDTH, HEADS, BLOCKS = 64, 4, 2                           # d, h, and E = L
BATCH, FULL_RUN, SEED = 64, 600, 0                        # sentences a step, steps, first weights
KEPT_BACK = ("the black cat is small", "the weather is lovely today")
SENTENCES = corpus.split(train=2000, held_out=200, seed=7, never_train=KEPT_BACK)

def predict(weights, src, tgt_in):
    """Logits (N, T, V_tgt) for source ids (N, S) and shifted target ids (N, T)."""
    return encoder_decoder_forward(
        src, tgt_in, weights["src_emb"], weights["tgt_emb"],
        positional_encoding(src.shape[1], WIDTH), positional_encoding(tgt_in.shape[1], WIDTH),
        weights["enc_blocks"], weights["dec_blocks"], weights["w_head"], HEADS,
    )  # fmt: skip

# %% kind="show"
for pair in SENTENCES.train[:8]:
    print(f"{' '.join(pair.english):42} {' '.join(pair.french)}")
weights = training.new_weights(WIDTH, BLOCKS, BLOCKS, SEED)
print(sum(weight.numel() for weight in weights.values()), "weights;", len(SENTENCES.train), "pairs")

# %% [markdown]
# Training is your whole chain in a loop: shift, forward, loss, gradient, a small step. Every line below but the
# optimiser's is a function of yours. The rate warms up over 50 steps, because post-norm models are easily thrown off
# by large first steps, and then falls to zero. The curve grows while you wait.

# %% kind="given" name="train"
from attnlab.live import LossCurve


@training.one_thread()
def train(weights, batches, steps, rate=3e-3):
    """Change `weights` in place over `steps` batches (src, tgt). Returns the loss at each step."""
    optimiser, curve = training.AdamW(weights), LossCurve(steps)
    for step, (src, tgt) in zip(range(1, steps + 1), batches, strict=False):
        logits = predict(weights, src, shift_right(tgt, BOS))                 # (N, T, V_tgt)
        loss = sequence_loss(logits, tgt, PAD)            # ()
        warm_up, cool_down = min(1.0, step / 50), 1.0 - (step - 1) / steps
        optimiser.step(training.gradients(loss, weights), rate * warm_up * cool_down)
        curve.add(loss.item())
    return curve.losses

# %% [markdown]
# **Run it twice.** First as it stands: 30 steps, a second. Then set `steps = FULL_RUN`: 600 steps, about 20 seconds
# on two cores. **Predict** the first loss (guessing among 77 words costs 4.34), and whether 30 steps will do.

# %% kind="show"
steps = 30                                                # FULL_RUN for the whole training
weights, losses = training.new_weights(WIDTH, BLOCKS, BLOCKS, SEED), []
losses += train(weights, training.batches(SENTENCES.train, BATCH, SEED), steps)

# %% [markdown]
# The same training has been run once for you; its loss curve and weights come with the course. Both curves, on a
# logarithmic scale:

# %% kind="show"
from attnlab.translator import load_translator

shipped = load_translator()
done = losses + [None] * (len(shipped.losses) - len(losses))                  # nothing yet for the steps to come
both = {"full run": list(shipped.losses), "your run": done}
pictures.curves(list(range(1, len(shipped.losses) + 1)), both, "Loss while training", "step", "loss", log_y=True)

# %% [markdown]
# ### Does it know the rules?
#
# Count held-out sentences that come out right **to the last word**. We need no generation for that: if the best word
# is right at every position while the right words are fed, then feeding back its own best words would have fed the
# same ones. So teacher forcing tells exactly which sentences the greedy decoding of lesson 5 will get right.

# %% kind="given" name="exact"
@training.one_thread()
@torch.no_grad()
def exact(weights, pairs):
    """Fraction of pairs whose every word, </s> included, scores best at its position."""
    right = 0
    for group in training.by_length(pairs).values():
        src, tgt = training.as_batch(group)               # (N, S), (N, T)
        best = predict(weights, src, shift_right(tgt, BOS)).argmax(-1)        # (N, T)
        right += int(((best == tgt) | (tgt == PAD)).all(dim=1).sum())
    return right / len(pairs)

# %% kind="show"
print(f"your run:  {exact(weights, SENTENCES.held_out):.1%} of {len(SENTENCES.held_out)} unseen sentences")
print(f"full run:  {exact(shipped.weights, SENTENCES.held_out):.1%}, through your functions")

# %% [markdown]
# After 30 steps the loss has fallen and not one sentence may be right; after 600 nearly all are. If the shipped
# weights do badly through *your* functions, some clause is off although it passes on easy inputs: the shipped
# weights are the sharpest check of all.
#
# | the loss | what to look at |
# |---|---|
# | below 0.05 after 100 steps of the full run, where it should be near 1 | the target is not shifted |
# | no longer falling near 1.7, which is what French costs without English | the source is not read |
# | above 10 at the first step, where it should be near 5 | a normalisation is missing |
# | an error names gradients | `no_grad`, `detach` or `.item()` in a function of yours |
#
# ## 10 · Break it
#
# The loss sees a mistake while you train. What does a reader see, if the mistake comes after the training? The trained
# translator, made of the library's functions, with one mistake in the encoder at a time. The map is the encoder reading
# itself in its last block, mean of the heads.
#
# **Predict**, by the buttons. Two mistakes give back the right words with their roles exchanged. Which? And is there
# one that changes neither sentence?

# %% kind="show"
from attnlab import break_it

break_it("04_full_forward")

# %% [markdown]
# With no positions, or with positions counted from the wrong end, *the black cat is small* comes back as a small cat
# that is black. A causal mask in the encoder goes unnoticed in both sentences, although half of the map is empty: the
# decoder still reads every source word, and the sentences are short.
#
# **Next:** the model answers questions whose answers it is fed. In lesson 5 it must live on its own words.

# %% [markdown]
# **How far are you?** `progress()` reads your notebooks as they are saved and says what passes, whose code runs, and
# what to do next.

# %% kind="show"
from attnlab import progress

progress()
