"""Named faults of greedy decoding that miscounts its steps."""

from __future__ import annotations

from attnlab.fault import Fault, fault
from solutions.hidden.faults.greedy_decode.lines import RETURN, TEST

FAULTS: tuple[Fault, ...] = (
    fault(
        "decode_budget_counts_start",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(max_new_tokens - 1)",
        words="the start token counted against the budget",
        help="max_new_tokens counts appended tokens.",
        symptom="One token too few.",
    ),
    fault(
        "decode_budget_one_more",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(max_new_tokens + 1)",
        words="one token more than the budget was appended",
        help="The loop runs max_new_tokens times.",
        symptom="One token too many, or an error where position rows run out.",
    ),
    fault(
        "decode_at_least_one",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(max(1, max_new_tokens))",
        words="at least one token was appended",
        help="B = max(0, max_new_tokens): without budget only the start token is returned.",
        symptom="A token although the budget is 0.",
    ),
    fault(
        "decode_negative_budget_is_positive",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(abs(max_new_tokens))",
        words="a negative budget lost its sign",
        help="B = max(0, max_new_tokens).",
        symptom="Tokens although the budget is negative.",
    ),
    fault(
        "decode_negative_budget_is_endless",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(max_new_tokens if max_new_tokens >= 0 else len(dec_pos_embed))",
        words="a negative budget meant no limit",
        help="B = max(0, max_new_tokens).",
        symptom="Tokens although the budget is negative.",
    ),
    fault(
        "decode_zero_budget_is_endless",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(max_new_tokens or len(dec_pos_embed))",
        words="a budget of 0 meant no limit",
        help="B = max(0, max_new_tokens).",
        symptom="Tokens although the budget is 0.",
    ),
    fault(
        "decode_fills_the_position_table",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(len(dec_pos_embed) if max_new_tokens > 0 else 0)",
        words="the position table set the budget",
        help="The table may be longer than max_new_tokens.",
        symptom="Too many tokens where the table is long.",
    ),
    fault(
        "decode_spares_a_row",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(min(max_new_tokens, len(dec_pos_embed) - 1))",
        words="one position row was kept for the last token",
        help="The last token needs no pass: B rows suffice for B tokens.",
        symptom="One token too few where the table has exactly B rows.",
    ),
    fault(
        "decode_extra_pass",
        "seq2seq_greedy_decode",
        RETURN,
        "    prefix = torch.tensor(seq, device=src_ids.device)\n"
        "    _ = tgt_emb[prefix] + dec_pos_embed[torch.arange(len(seq), device=src_ids.device)]\n" + RETURN,
        words="one more decoder pass followed the last token",
        help="The last appended token is returned without a pass of its own.",
        symptom="IndexError where the table has exactly B rows.",
    ),
    fault(
        "decode_limits_the_length",
        "seq2seq_greedy_decode",
        TEST,
        TEST.replace("eos_token_id:", "eos_token_id or len(seq) >= max_new_tokens:"),
        words="the length with the start token was held to the budget",
        help="The result has up to 1 + max_new_tokens ids.",
        symptom="One token too few.",
    ),
    fault(
        "decode_budget_of_source_length",
        "seq2seq_greedy_decode",
        "range(max_new_tokens)",
        "range(min(max_new_tokens, src_ids.shape[0]))",
        words="no translation could be longer than its source",
        help="Only max_new_tokens and EOS end the loop.",
        symptom="Too few tokens where the source is short.",
    ),
)
