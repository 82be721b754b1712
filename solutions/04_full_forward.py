# %% [markdown]
# # Lesson 4 · The full forward pass

# %% kind="given" name="setup"
import torch

from attnlab import check, earlier

multi_head_attention = earlier("02_cross_attention", "multi_head_attention")
layer_norm = earlier("03_decoder_block", "layer_norm")
feed_forward = earlier("03_decoder_block", "feed_forward")
decoder_block = earlier("03_decoder_block", "decoder_block")

# %% [markdown] exercise="positional_encoding" minutes=10 difficulty=2
# Write `positional_encoding`.

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

# %% [markdown] exercise="shift_right" minutes=5 difficulty=1
# Write `shift_right`.

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

# %% [markdown] exercise="encoder_block" minutes=10 difficulty=2
# Write `encoder_block`.

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

# %% [markdown] exercise="encode" minutes=5 difficulty=1
# Write `encode`.

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

# %% [markdown] exercise="encoder_decoder_forward" minutes=20 difficulty=3
# Write `encoder_decoder_forward`.

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

# %% [markdown] exercise="sequence_loss" minutes=10 difficulty=2
# Write `sequence_loss`.

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

# %% [markdown] exercise="parameter_count" minutes=5 difficulty=1
# Write `parameter_count`.

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
