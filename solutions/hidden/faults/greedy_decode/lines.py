"""Lines of the solution cell that faults of several kinds change."""

ENC = "enc = encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads) "
PREFIX = "prefix = torch.tensor(seq, device=src_ids.device) "
DEC = "dec = (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None] "
STEP = "dec = decoder_block(dec, enc, block, num_heads)"
APPEND = "seq.append(next_token(dec[0, -1] @ w_head)) "
TEST = "if seq[-1] == eos_token_id:\n            break"
RETURN = "    return torch.tensor(seq, device=src_ids.device)\n"
