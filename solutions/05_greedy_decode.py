# %% [markdown]
# # Lesson 5 · Greedy decoding

# %% kind="given" name="setup"
import torch

from attnlab import check, earlier

decoder_block = earlier("03_decoder_block", "decoder_block")
encode = earlier("04_full_forward", "encode")

# %% [markdown] exercise="next_token" minutes=5 difficulty=1
# Write `next_token`.

# %% kind="solution" exercise="next_token"
def next_token(logits: torch.Tensor) -> int:
    """The id with the largest score; of several, the smallest.

    logits: (V,), raw scores
    returns: an int in 0 ... V - 1
    """
    ### BEGIN SOLUTION
    return int((logits == logits.max()).nonzero()[0])
    ### END SOLUTION

# %% kind="tests" exercise="next_token" points=4
check(next_token)

# %% [markdown] exercise="seq2seq_greedy_decode" minutes=30 difficulty=3
# Write `seq2seq_greedy_decode`.

# %% kind="solution" exercise="seq2seq_greedy_decode"
def seq2seq_greedy_decode(
    src_ids: torch.Tensor,
    src_emb: torch.Tensor,
    tgt_emb: torch.Tensor,
    enc_pos_embed: torch.Tensor,
    dec_pos_embed: torch.Tensor,
    enc_blocks: torch.Tensor,
    dec_blocks: torch.Tensor,
    w_head: torch.Tensor,
    num_heads: int,
    start_token_id: int,
    eos_token_id: int,
    max_new_tokens: int,
) -> torch.Tensor:
    """Translate one sentence: encode it once, then append the best next token until EOS or the budget.

    src_ids: (S,), integers held as floats
    src_emb: (V_src, d), tgt_emb: (V_tgt, d), enc_pos_embed: (S, d)
    dec_pos_embed: (P, d), P at least max(0, max_new_tokens)
    enc_blocks: (E, 6, d, d), dec_blocks: (L, 12, d, d), w_head: (d, V_tgt)
    start_token_id, eos_token_id: ids of the target vocabulary
    max_new_tokens: how many tokens may be appended; 0 or less appends none
    returns: ids (1 ... 1 + max_new_tokens,), the start token first, EOS last if it was chosen
    """
    ### BEGIN SOLUTION
    enc = encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads)          # (1, S, d), once
    seq = [start_token_id]
    for _ in range(max_new_tokens):
        prefix = torch.tensor(seq, device=src_ids.device)                     # (t,)
        dec = (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None]             # (1, t, d)
        for block in dec_blocks:
            dec = decoder_block(dec, enc, block, num_heads)                   # (1, t, d)
        seq.append(next_token(dec[0, -1] @ w_head))       # the newest position predicts
        if seq[-1] == eos_token_id:
            break
    return torch.tensor(seq, device=src_ids.device)
    ### END SOLUTION

# %% kind="tests" exercise="seq2seq_greedy_decode" points=16
check(seq2seq_greedy_decode)

# %% [markdown] exercise="beam_search" minutes=40 difficulty=4
# A stretch: write `beam_search`.

# %% kind="solution" exercise="beam_search"
def beam_search(
    src_ids: torch.Tensor,
    src_emb: torch.Tensor,
    tgt_emb: torch.Tensor,
    enc_pos_embed: torch.Tensor,
    dec_pos_embed: torch.Tensor,
    enc_blocks: torch.Tensor,
    dec_blocks: torch.Tensor,
    w_head: torch.Tensor,
    num_heads: int,
    start_token_id: int,
    eos_token_id: int,
    max_new_tokens: int,
    beam_width: int,
) -> torch.Tensor:
    """Keep the beam_width best partial sequences instead of one.

    The first twelve arguments are those of seq2seq_greedy_decode.
    beam_width: how many sequences are kept after each step, finished ones among them
    returns: ids of the kept sequence with the largest sum of log-probabilities; ties go to the smaller ids
    """
    ### BEGIN SOLUTION
    enc = encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads)          # (1, S, d)

    def log_p(seq: list[int]) -> torch.Tensor:
        prefix = torch.tensor(seq, device=src_ids.device)                     # (t,)
        dec = (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None]             # (1, t, d)
        for block in dec_blocks:
            dec = decoder_block(dec, enc, block, num_heads)                   # (1, t, d)
        return torch.log_softmax(dec[0, -1] @ w_head, dim=-1)                 # (V_tgt,)

    def finished(seq: list[int]) -> bool:
        return len(seq) > 1 and seq[-1] == eos_token_id

    beam = [(0.0, [start_token_id])]                      # (sum of log-probabilities, ids), best first
    for _ in range(max_new_tokens):
        grown = [(total, seq) for total, seq in beam if finished(seq)]
        for total, seq in beam:
            if not finished(seq):
                grown += [(total + p, [*seq, token]) for token, p in enumerate(log_p(seq).tolist())]
        beam = sorted(grown, key=lambda kept: (-kept[0], kept[1]))[:beam_width]
        if all(finished(seq) for _, seq in beam):
            break
    return torch.tensor(beam[0][1], device=src_ids.device)
    ### END SOLUTION

# %% kind="tests" exercise="beam_search" points=0
check(beam_search)
