"""Named faults of lesson greedy_decode."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_TOKEN = "return int((logits == logits.max()).nonzero()[0])"
_ENC = "enc = encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads) "
_SEQ = "seq = [start_token_id]"
_LOOP = "for _ in range(max_new_tokens):"
_PREFIX = "prefix = torch.tensor(seq, device=src_ids.device) "
_DEC = "dec = (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None] "
_BLOCKS = "for block in dec_blocks:"
_STEP = "dec = decoder_block(dec, enc, block, num_heads)"
_APPEND = "seq.append(next_token(dec[0, -1] @ w_head)) "
_TEST = "if seq[-1] == eos_token_id:\n            break"
_RETURN = "    return torch.tensor(seq, device=src_ids.device)\n"
_GROWN = "grown = [(total, seq) for total, seq in beam if finished(seq)]"
_GROW = "grown += [(total + p, [*seq, token]) for token, p in enumerate(log_p(seq).tolist())]"
_SORT = "beam = sorted(grown, key=lambda kept: (-kept[0], kept[1]))[:beam_width]"
_DONE = "if all(finished(seq) for _, seq in beam):"
_FINISHED = "return len(seq) > 1 and seq[-1] == eos_token_id"
_LOG_P = "return torch.log_softmax(dec[0, -1] @ w_head, dim=-1) "
_BEST = "    return torch.tensor(beam[0][1], device=src_ids.device)\n"

_NEXT = (
    fault(
        "token_last_of_a_tie", "next_token", "nonzero()[0]", "nonzero()[-1]",
        words="the largest index of a tie were taken",
        help="On an exact tie the smaller id wins: argmax and max() keep the first.",
        symptom="Right until two scores tie.",
    ),
    fault(
        "token_sorted", "next_token", _TOKEN, "return int(torch.argsort(logits, stable=True)[-1])",
        words="scores were sorted and the last one taken",
        help="A rising sort puts the largest of equal ids last. Use argmax.",
        symptom="Right until two scores tie.",
    ),
    fault(
        "token_topk", "next_token", _TOKEN, "return int(logits.topk(1).indices)",
        words="topk(1) were used, which promises no order among ties",
        help="argmax and max() keep the first of equal scores; topk need not.",
        symptom="Right until scores tie, and then sometimes.",
    ),
    fault(
        "token_loop_lets_equals_win", "next_token", _TOKEN,
        "best = 0\n    for i in range(len(logits)):\n        if logits[i] >= logits[best]:\n            best = i\n    return best",
        words="an equal score replaced the best so far",
        help="Write > instead of >=.",
        symptom="Right until two scores tie.",
    ),
    fault(
        "token_loop_from_zero", "next_token", _TOKEN,
        "best, top = 0, 0.0\n    for i in range(len(logits)):\n        if logits[i] > top:\n"
        "            best, top = i, float(logits[i])\n    return best",
        words="the search began with a best score of 0",
        help="Begin with the first score: all of them may be negative.",
        symptom="Id 0 wherever all scores are negative.",
    ),
    fault(
        "token_loop_from_a_billion", "next_token", _TOKEN,
        "best, top = 0, -1e9\n    for i in range(len(logits)):\n        if logits[i] > top:\n"
        "            best, top = i, float(logits[i])\n    return best",
        words="the search began with a best score of -1e9",
        help="Begin with the first score, or with minus infinity.",
        symptom="Id 0 wherever all scores are below -1e9.",
    ),
    fault(
        "token_smallest", "next_token", "logits.max()", "logits.min()",
        words="the smallest score were taken",
        help="The largest score wins.",
        symptom="The most unlikely word is chosen.",
    ),
    fault(
        "token_largest_size", "next_token", "(logits == logits.max())", "(logits.abs() == logits.abs().max())",
        words="signs were dropped before comparing",
        help="A large negative score is an unlikely word.",
        symptom="Right while all scores are positive.",
    ),
    fault(
        "token_value", "next_token", _TOKEN, "return float(logits.max())",
        words="the largest score were returned and not its index",
        help="argmax gives the index, max the score.",
        symptom="A number that is no id.",
    ),
    fault(
        "token_counts_from_one", "next_token", _TOKEN, "return int((logits == logits.max()).nonzero()[0]) + 1",
        words="ids were counted from 1",
        help="Ids begin with 0.",
        symptom="Every id is one too large.",
    ),
    fault(
        "token_skips_zero", "next_token", _TOKEN, "return int(logits[1:].argmax()) + 1 if len(logits) > 1 else 0",
        words="id 0 could not be chosen",
        help="Id 0 is an ordinary word.",
        symptom="Right until id 0 is the best.",
    ),
    fault(
        "token_skips_last", "next_token", _TOKEN, "return int(logits[:-1].argmax()) if len(logits) > 1 else 0",
        words="the last id could not be chosen",
        help="Look at all V scores.",
        symptom="Right until the last id is the best.",
    ),
    fault(
        "token_softmax_first", "next_token", "(logits == logits.max())", "(logits.softmax(-1) == logits.softmax(-1).max())",
        words="scores went through a softmax before they were compared",
        help="Compare raw scores: softmax rounds close ones to ties.",
        symptom="Close scores become ties, and the smaller id wins.",
    ),
    fault(
        "token_exp_first", "next_token", "(logits == logits.max())", "(logits.exp() == logits.exp().max())",
        words="scores were compared after exp",
        help="Compare raw scores: exp overflows for large ones and rounds close ones.",
        symptom="Large scores all become infinity, and the smallest id wins.",
    ),
    fault(
        "token_half_precision", "next_token", _TOKEN, "return int(logits.bfloat16().argmax())",
        words="scores were rounded to half precision before they were compared",
        help="Compare scores in the dtype they come in.",
        symptom="Close scores become ties.",
    ),
    fault(
        "token_whole_scores", "next_token", _TOKEN, "return int(logits.round().argmax())",
        words="scores were rounded before they were compared",
        help="Compare scores as they are.",
        symptom="Close scores become ties.",
    ),
    fault(
        "token_as_float", "next_token", _TOKEN, "return float((logits == logits.max()).nonzero()[0])",
        words="the id were a float",
        help="int(...) makes an id of it.",
        symptom="A decimal point in the id.",
    ),
    fault(
        "token_with_an_axis", "next_token", _TOKEN, "return (logits == logits.max()).nonzero()[0]",
        words="the id came in a tensor with an axis",
        help="int(...) or .item() takes it out.",
        symptom="shape (1,) instead of a number.",
    ),
    fault(
        "token_all_of_a_tie", "next_token", _TOKEN, "return (logits == logits.max()).nonzero().squeeze()",
        words="all ids of a tie were returned",
        help="Take the first: one id is wanted.",
        symptom="Right until two scores tie.",
    ),
    fault(
        "token_sampled", "next_token", _TOKEN, "return int(torch.multinomial((logits - logits.max()).exp(), 1))",
        words="the id were drawn at random by its probability",
        help="Greedy decoding takes the best word, always.",
        symptom="Two calls give different ids.",
    ),
    fault(
        "token_in_place", "next_token", _TOKEN, "return int(logits.sub_(logits.max()).argmax())",
        words="the maximum were subtracted from the scores in place",
        help="Methods that end in _ write into the caller's tensor.",
        symptom="The caller's scores change.",
    ),
)  # fmt: skip

_STOPPING = (
    fault(
        "decode_never_stops", "seq2seq_greedy_decode", _TEST, "pass",
        words="EOS did not stop the loop",
        help="After appending a token compare it with eos_token_id, and break.",
        symptom="The sentence goes on after its end.",
    ),
    fault(
        "decode_drops_eos", "seq2seq_greedy_decode", _TEST, "if seq[-1] == eos_token_id:\n            seq.pop()\n            break",
        words="EOS were left out of the result",
        help="Append first, then test: EOS belongs to the result.",
        symptom="The last id is missing where the sentence ended by itself.",
    ),
    fault(
        "decode_stops_one_late", "seq2seq_greedy_decode", "if seq[-1] == eos_token_id:", "if eos_token_id in seq[1:-1]:",
        words="EOS were noticed one step late",
        help="Test the token just appended, in the same step.",
        symptom="One token follows EOS.",
    ),
    fault(
        "decode_tests_before_the_step", "seq2seq_greedy_decode", _LOOP,
        _LOOP + "\n        if seq[-1] == eos_token_id:\n            break",
        words="EOS were tested before the step, so that a start token equal to EOS stops it",
        help="The test applies to a token that was just appended.",
        symptom="Only the start token comes back where it equals EOS.",
    ),
    fault(
        "decode_stops_at_any_eos", "seq2seq_greedy_decode", "if seq[-1] == eos_token_id:", "if eos_token_id in seq:",
        words="the start token counted when looking for EOS",
        help="Look at the token just appended alone.",
        symptom="One token, and no more, where the start token equals EOS.",
    ),
    fault(
        "decode_stops_at_zero", "seq2seq_greedy_decode", "if seq[-1] == eos_token_id:", "if seq[-1] in (0, eos_token_id):",
        words="id 0 ended the sentence too",
        help="Only eos_token_id does.",
        symptom="Short sentences wherever id 0 is chosen.",
    ),
    fault(
        "decode_stops_at_zero_only", "seq2seq_greedy_decode", "if seq[-1] == eos_token_id:", "if not seq[-1]:",
        words="id 0 were EOS, whatever eos_token_id says",
        help="Compare with eos_token_id.",
        symptom="Right only where EOS is 0.",
    ),
    fault(
        "decode_stops_at_two", "seq2seq_greedy_decode", "if seq[-1] == eos_token_id:", "if seq[-1] == 2:",
        words="id 2 were EOS, whatever eos_token_id says",
        help="Compare with eos_token_id.",
        symptom="Right only where EOS is 2.",
    ),
    fault(
        "decode_stops_at_start", "seq2seq_greedy_decode", "if seq[-1] == eos_token_id:", "if seq[-1] in (start_token_id, eos_token_id):",
        words="the start token ended the sentence when it came again",
        help="Only eos_token_id does.",
        symptom="Short sentences wherever the start token is chosen.",
    ),
    fault(
        "decode_stops_at_a_repeat", "seq2seq_greedy_decode", "if seq[-1] == eos_token_id:", "if seq[-1] == eos_token_id or seq[-1] in seq[:-1]:",
        words="a word that came before ended the sentence",
        help="Words may come again; only eos_token_id ends the loop.",
        symptom="Short sentences wherever a word comes twice.",
    ),
    fault(
        "decode_bans_zero", "seq2seq_greedy_decode", _APPEND, "seq.append(1 + next_token((dec[0, -1] @ w_head)[1:])) ",
        words="id 0 could not be chosen",
        help="Id 0 is an ordinary word.",
        symptom="Another word wherever id 0 is the best.",
    ),
    fault(
        "decode_bans_start", "seq2seq_greedy_decode", _APPEND,
        "scores = dec[0, -1] @ w_head\n        scores[start_token_id] = -torch.inf\n        seq.append(next_token(scores)) ",
        words="the start token could not be chosen",
        help="No word is banned.",
        symptom="Another word wherever the start token is the best.",
    ),
    fault(
        "decode_bans_repeats", "seq2seq_greedy_decode", _APPEND,
        "scores = dec[0, -1] @ w_head\n        scores[seq] = -torch.inf\n        seq.append(next_token(scores)) ",
        words="no word could come twice",
        help="No word is banned.",
        symptom="Another word wherever one would come again.",
    ),
    fault(
        "decode_bans_bigrams", "seq2seq_greedy_decode", _APPEND,
        "scores = dec[0, -1] @ w_head\n        for a, b in zip(seq, seq[1:]):\n            if a == seq[-1]:\n"
        "                scores[b] = -torch.inf\n        seq.append(next_token(scores)) ",
        words="no pair of words could come twice",
        help="No word is banned.",
        symptom="Another word wherever a pair would come again.",
    ),
    fault(
        "decode_bans_early_eos", "seq2seq_greedy_decode", _APPEND,
        "scores = dec[0, -1] @ w_head\n        if len(seq) < max_new_tokens:\n            scores[eos_token_id] = -torch.inf\n"
        "        seq.append(next_token(scores)) ",
        words="EOS could not be chosen before the last step",
        help="EOS may come at any step.",
        symptom="Sentences always fill the budget.",
    ),
)  # fmt: skip

_BUDGET = (
    fault(
        "decode_budget_counts_start", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(max_new_tokens - 1)",
        words="the start token counted against the budget",
        help="max_new_tokens counts appended tokens.",
        symptom="One token too few.",
    ),
    fault(
        "decode_budget_one_more", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(max_new_tokens + 1)",
        words="one token more than the budget were appended",
        help="The loop runs max_new_tokens times.",
        symptom="One token too many, or an error where position rows run out.",
    ),
    fault(
        "decode_at_least_one", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(max(1, max_new_tokens))",
        words="at least one token were appended",
        help="B = max(0, max_new_tokens): without budget only the start token is returned.",
        symptom="A token although the budget is 0.",
    ),
    fault(
        "decode_negative_budget_is_positive", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(abs(max_new_tokens))",
        words="a negative budget lost its sign",
        help="B = max(0, max_new_tokens).",
        symptom="Tokens although the budget is negative.",
    ),
    fault(
        "decode_negative_budget_is_endless", "seq2seq_greedy_decode", "range(max_new_tokens)",
        "range(max_new_tokens if max_new_tokens >= 0 else len(dec_pos_embed))",
        words="a negative budget meant no limit",
        help="B = max(0, max_new_tokens).",
        symptom="Tokens although the budget is negative.",
    ),
    fault(
        "decode_zero_budget_is_endless", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(max_new_tokens or len(dec_pos_embed))",
        words="a budget of 0 meant no limit",
        help="B = max(0, max_new_tokens).",
        symptom="Tokens although the budget is 0.",
    ),
    fault(
        "decode_fills_the_position_table", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(len(dec_pos_embed) if max_new_tokens > 0 else 0)",
        words="the position table set the budget",
        help="The table may be longer than max_new_tokens.",
        symptom="Too many tokens where the table is long.",
    ),
    fault(
        "decode_spares_a_row", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(min(max_new_tokens, len(dec_pos_embed) - 1))",
        words="one position row were kept for the last token",
        help="The last token needs no pass: B rows suffice for B tokens.",
        symptom="One token too few where the table has exactly B rows.",
    ),
    fault(
        "decode_extra_pass", "seq2seq_greedy_decode", _RETURN,
        "    prefix = torch.tensor(seq, device=src_ids.device)\n"
        "    _ = tgt_emb[prefix] + dec_pos_embed[torch.arange(len(seq), device=src_ids.device)]\n" + _RETURN,
        words="one more decoder pass followed the last token",
        help="The last appended token is returned without a pass of its own.",
        symptom="IndexError where the table has exactly B rows.",
    ),
    fault(
        "decode_limits_the_length", "seq2seq_greedy_decode", _TEST,
        _TEST.replace("eos_token_id:", "eos_token_id or len(seq) >= max_new_tokens:"),
        words="the length with the start token were held to the budget",
        help="The result has up to 1 + max_new_tokens ids.",
        symptom="One token too few.",
    ),
    fault(
        "decode_budget_of_source_length", "seq2seq_greedy_decode", "range(max_new_tokens)", "range(min(max_new_tokens, src_ids.shape[0]))",
        words="no translation could be longer than its source",
        help="Only max_new_tokens and EOS end the loop.",
        symptom="Too few tokens where the source is short.",
    ),
)  # fmt: skip

_CHOICE = (
    fault(
        "decode_first_position", "seq2seq_greedy_decode", "dec[0, -1] @ w_head", "dec[0, 0] @ w_head",
        words="the first position predicted the next token",
        help="The newest position does: dec[:, -1].",
        symptom="The same token again and again.",
    ),
    fault(
        "decode_mean_of_positions", "seq2seq_greedy_decode", "dec[0, -1] @ w_head", "dec[0].mean(dim=0) @ w_head",
        words="the mean of all positions predicted the next token",
        help="The newest position does, alone.",
        symptom="The first token is right, later ones are not.",
    ),
    fault(
        "decode_sum_of_positions", "seq2seq_greedy_decode", "dec[0, -1] @ w_head", "dec[0].sum(dim=0) @ w_head",
        words="the sum of all positions predicted the next token",
        help="The newest position does, alone.",
        symptom="The first token is right, later ones are not.",
    ),
    fault(
        "decode_position_before_last", "seq2seq_greedy_decode", "dec[0, -1] @ w_head", "dec[0, max(len(seq) - 2, 0)] @ w_head",
        words="the position before the last predicted the next token",
        help="The newest position does: dec[:, -1].",
        symptom="Every token comes twice.",
    ),
    fault(
        "decode_best_of_all_positions", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)",
        "next_token((dec[0] @ w_head).flatten()) % w_head.shape[1]",
        words="the largest score of all positions were taken",
        help="Take the last row first, then its best word.",
        symptom="The first token is right, later ones need not be.",
    ),
    fault(
        "decode_flattened_argmax", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)", "next_token((dec[0] @ w_head).flatten())",
        words="positions and words were flattened before the largest score was sought",
        help="argmax gave an id beyond the vocabulary: take the last row first.",
        symptom="IndexError from the second or third token on.",
    ),
    fault(
        "decode_best_position", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)", "int((dec[0] @ w_head).argmax(dim=0)[-1])",
        words="the best position were chosen and not the best word",
        help="argmax over the vocabulary, which is the last axis.",
        symptom="Ids smaller than the length.",
    ),
    fault(
        "decode_worst_word", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)", "next_token(-(dec[0, -1] @ w_head))",
        words="the smallest score were taken",
        help="The largest score wins.",
        symptom="Nonsense.",
    ),
    fault(
        "decode_ties_to_the_larger", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)",
        "int(torch.argsort(dec[0, -1] @ w_head, stable=True)[-1])",
        words="the larger id of a tie were taken",
        help="argmax keeps the first of equal scores.",
        symptom="Right until two scores tie.",
    ),
    fault(
        "decode_softmax_first", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)", "next_token((dec[0, -1] @ w_head).softmax(-1))",
        words="scores went through a softmax before they were compared",
        help="Compare raw scores: softmax rounds close ones to ties.",
        symptom="Right unless scores are very close.",
    ),
    fault(
        "decode_log_softmax_first", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)", "next_token((dec[0, -1] @ w_head).log_softmax(-1))",
        words="scores went through a log-softmax before they were compared",
        help="Compare raw scores: subtracting logsumexp rounds close ones to ties.",
        symptom="Right unless scores are very close.",
    ),
    fault(
        "decode_half_precision", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)", "next_token((dec[0, -1] @ w_head).bfloat16())",
        words="scores were rounded to half precision before they were compared",
        help="Compare scores in the parameters' dtype.",
        symptom="Right unless scores are close.",
    ),
    fault(
        "decode_samples", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)",
        "int(torch.multinomial((0.1 * (dec[0, -1] @ w_head)).softmax(-1), 1))",
        words="tokens were drawn at random by their probability",
        help="Greedy decoding takes the best word, always.",
        symptom="Two calls give different sentences.",
    ),
    fault(
        "decode_head_tied", "seq2seq_greedy_decode", "next_token(dec[0, -1] @ w_head)", "next_token(dec[0, -1] @ tgt_emb.T)",
        words="the head were the target embedding, transposed",
        help="Use w_head.",
        symptom="w_head has no effect.",
    ),
)  # fmt: skip

_PREFIXES = (
    fault(
        "decode_last_token_only", "seq2seq_greedy_decode", _DEC, "dec = (tgt_emb[prefix[-1:]] + dec_pos_embed[len(seq) - 1 : len(seq)])[None] ",
        words="only the last token were decoded, without a cache",
        help="Run the whole prefix: earlier words vanished.",
        symptom="The first token is right, later ones are not.",
    ),
    fault(
        "decode_last_token_at_the_first_place", "seq2seq_greedy_decode", _DEC, "dec = (tgt_emb[prefix[-1:]] + dec_pos_embed[:1])[None] ",
        words="only the last token were decoded, at position 0",
        help="Run the whole prefix, each token at its own position.",
        symptom="The first token is right, later ones are not.",
    ),
    fault(
        "decode_forgets_the_start", "seq2seq_greedy_decode", _DEC,
        "dec = (tgt_emb[prefix[1:] if len(seq) > 1 else prefix] + dec_pos_embed[: max(len(seq) - 1, 1)])[None] ",
        words="the start token were left out of the prefix once there was another",
        help="The prefix begins with the start token at every step.",
        symptom="The first token is right, later ones are not.",
    ),
    fault(
        "decode_forgets_the_newest", "seq2seq_greedy_decode", _PREFIX, "prefix = torch.tensor([start_token_id, *seq[:-1]], device=src_ids.device) ",
        words="the prefix lagged one token behind",
        help="Decode all of seq, the token just appended included.",
        symptom="The first token comes twice.",
    ),
    fault(
        "decode_window_of_two", "seq2seq_greedy_decode", _DEC,
        "dec = (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None, -2:] ",
        words="only the last two tokens were decoded",
        help="Run the whole prefix.",
        symptom="The first two tokens are right, later ones are not.",
    ),
    fault(
        "decode_reversed_prefix", "seq2seq_greedy_decode", _DEC, "dec = (tgt_emb[prefix.flip(0)] + dec_pos_embed[: len(seq)])[None] ",
        words="the prefix were fed from its end",
        help="Append new tokens at the end, and feed them in that order.",
        symptom="The first token is right, later ones are not.",
    ),
    fault(
        "decode_no_positions", "seq2seq_greedy_decode", _DEC, "dec = tgt_emb[prefix][None] ",
        words="target positions were not added",
        help="dec = tgt_emb[seq] + dec_pos_embed[: len(seq)].",
        symptom="dec_pos_embed has no effect.",
    ),
    fault(
        "decode_first_position_for_all", "seq2seq_greedy_decode", "dec_pos_embed[: len(seq)]", "dec_pos_embed[:1]",
        words="every token got the first position's row",
        help="Row p goes to token p: dec_pos_embed[: len(seq)].",
        symptom="The first token is right, later ones need not be.",
    ),
    fault(
        "decode_newest_position_for_all", "seq2seq_greedy_decode", "dec_pos_embed[: len(seq)]", "dec_pos_embed[len(seq) - 1]",
        words="every token got the newest position's row",
        help="Row p goes to token p: dec_pos_embed[: len(seq)].",
        symptom="Right without decoder blocks, wrong with them.",
    ),
    fault(
        "decode_positions_from_one", "seq2seq_greedy_decode", "dec_pos_embed[: len(seq)]", "dec_pos_embed.roll(-1, 0)[: len(seq)]",
        words="positions were counted from 1",
        help="The start token is at position 0.",
        symptom="dec_pos_embed[0] has no effect.",
    ),
    fault(
        "decode_last_position_rows", "seq2seq_greedy_decode", "dec_pos_embed[: len(seq)]", "dec_pos_embed[-len(seq) :]",
        words="the last rows of the position table were used",
        help="Rows 0 to len(seq) - 1: dec_pos_embed[: len(seq)], without a minus.",
        symptom="Right only where the table is as long as the prefix.",
    ),
    fault(
        "decode_target_zero_is_padding", "seq2seq_greedy_decode", _DEC,
        "dec = (tgt_emb[prefix] * (prefix != 0)[:, None] + dec_pos_embed[: len(seq)])[None] ",
        words="target id 0 were padding with an embedding of zeros",
        help="Id 0 is an ordinary word.",
        symptom="Right until id 0 is chosen.",
    ),
    fault(
        "decode_target_scaled", "seq2seq_greedy_decode", _DEC,
        "dec = (tgt_emb[prefix] * tgt_emb.shape[1] ** 0.5 + dec_pos_embed[: len(seq)])[None] ",
        words="target embeddings were multiplied by sqrt(d)",
        help="The paper does so; this model does not.",
        symptom="Other tokens with and without decoder blocks.",
    ),
    fault(
        "decode_stale_state", "seq2seq_greedy_decode", _DEC,
        "dec = torch.cat([dec, (tgt_emb[prefix[-1:]] + dec_pos_embed[len(seq) - 1 : len(seq)])[None]], 1) "
        "if len(seq) > 1 else (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None] ",
        words="a step started from the last step's output instead of from the embeddings",
        help="For each prefix start afresh with dec = tgt_emb[seq] + positions.",
        symptom="Right without decoder blocks and at the first step, wrong later.",
    ),
)  # fmt: skip

_MODEL = (
    fault(
        "decode_no_causal_mask", "seq2seq_greedy_decode", _STEP,
        "dec = torch.cat([decoder_block(dec.roll(-t - 1, 1), enc, block, num_heads)[:, -1:] for t in range(dec.shape[1])], 1)",
        words="self-attention read later tokens of the prefix too",
        help="Earlier rows must not read later ones, also when the future seems not to be there: the next block reads those rows.",
        symptom="Right with one decoder block, other tokens with two.",
    ),
    fault(
        "decode_reads_itself", "seq2seq_greedy_decode", _STEP, "dec = decoder_block(dec, dec, block, num_heads)",
        words="cross-attention took keys and values from the decoder",
        help="Change the source and nothing moves: keys and values come from enc.",
        symptom="The source has no effect.",
    ),
    fault(
        "decode_source_not_encoded", "seq2seq_greedy_decode", _ENC, "enc = (src_emb[src_ids.long()] + enc_pos_embed)[None] ",
        words="no encoder block ran",
        help="Encode the source first.",
        symptom="enc_blocks has no effect.",
    ),
    fault(
        "decode_source_positions_missing", "seq2seq_greedy_decode", "src_emb, enc_pos_embed, enc_blocks, num_heads) ",
        "src_emb, 0 * enc_pos_embed, enc_blocks, num_heads) ",
        words="source positions were not added",
        help="enc = src_emb[src_ids] + enc_pos_embed.",
        symptom="The order of the source words makes no difference.",
    ),
    fault(
        "decode_source_reversed", "seq2seq_greedy_decode", "encode(src_ids[None],", "encode(src_ids.flip(0)[None],",
        words="the source were read backwards",
        help="Old recurrent models did so; attention needs no such trick.",
        symptom="Positions and words do not match.",
    ),
    fault(
        "decode_source_shortened", "seq2seq_greedy_decode", _STEP, "dec = decoder_block(dec, enc[:, : dec.shape[1]], block, num_heads)",
        words="step t read the first t source words only",
        help="Cross-attention masks nothing: every step reads the whole source.",
        symptom="The last source words have no effect on the first tokens.",
    ),
    fault(
        "decode_source_zero_is_padding", "seq2seq_greedy_decode", _STEP,
        "dec = decoder_block(dec, enc[:, src_ids != 0], block, num_heads)",
        words="source id 0 were padding",
        help="Id 0 is an ordinary word.",
        symptom="Right for sources without id 0.",
    ),
    fault(
        "decode_source_last_word", "seq2seq_greedy_decode", _STEP, "dec = decoder_block(dec, enc[:, -1:], block, num_heads)",
        words="the decoder read the last source word only",
        help="Cross-attention reads all of enc.",
        symptom="The first source word has no effect.",
    ),
    fault(
        "decode_first_block_only", "seq2seq_greedy_decode", _BLOCKS, "for block in dec_blocks[:1]:",
        words="only the first decoder block ran",
        help="Every block runs, first to last.",
        symptom="Right with one block, other tokens with two.",
    ),
    fault(
        "decode_last_block_only", "seq2seq_greedy_decode", _BLOCKS, "for block in dec_blocks[-1:]:",
        words="only the last decoder block ran",
        help="Every block runs, first to last.",
        symptom="Right with one block, other tokens with two.",
    ),
    fault(
        "decode_blocks_reversed", "seq2seq_greedy_decode", _BLOCKS, "for block in dec_blocks.flip(0):",
        words="decoder blocks ran from last to first",
        help="Block 0 comes first.",
        symptom="Right with one block, other tokens with two.",
    ),
    fault(
        "decode_first_block_for_all", "seq2seq_greedy_decode", _STEP, "dec = decoder_block(dec, enc, dec_blocks[0], num_heads)",
        words="every decoder block used the first one's weights",
        help="Use the loop's own block.",
        symptom="Right with one block, other tokens with two.",
    ),
    fault(
        "decode_no_blocks", "seq2seq_greedy_decode", _STEP, "pass",
        words="no decoder block ran",
        help="Run every block of dec_blocks on the prefix.",
        symptom="The source has no effect.",
    ),
    fault(
        "decode_one_head", "seq2seq_greedy_decode", _STEP, "dec = decoder_block(dec, enc, block, 1)",
        words="the decoder had one head of the full width, whatever num_heads says",
        help="Hand num_heads on.",
        symptom="Right with one head, other tokens with more.",
    ),
    fault(
        "decode_encoder_one_head", "seq2seq_greedy_decode", "enc_pos_embed, enc_blocks, num_heads) ", "enc_pos_embed, enc_blocks, 1) ",
        words="the encoder had one head of the full width, whatever num_heads says",
        help="Hand num_heads on.",
        symptom="Right with one head, other tokens with more.",
    ),
    fault(
        "decode_context_changes", "seq2seq_greedy_decode", _STEP, _STEP + "\n            enc = enc + dec.mean(dim=1, keepdim=True)",
        words="the context changed from block to block and from step to step",
        help="enc is fixed once it is encoded.",
        symptom="The first token may be right, later ones are not.",
    ),
    fault(
        "decode_norm_on_the_embedding", "seq2seq_greedy_decode", _BLOCKS,
        "dec = (dec - dec.mean(-1, keepdim=True)) / (dec.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()\n        " + _BLOCKS,
        words="target embeddings were normalised before the first decoder block",
        help="There is no norm outside the blocks.",
        symptom="Other tokens with decoder blocks.",
    ),
    fault(
        "decode_spare_slots", "seq2seq_greedy_decode", _STEP,
        "dec = decoder_block(dec, enc, torch.cat([block[:8], block[8:10] + block[10:12], block[10:]]), num_heads)",
        words="slots 10 and 11 took part",
        help="Slots 10 and 11 are unused, whatever they hold.",
        symptom="Right as long as they hold zeros.",
    ),
    fault(
        "decode_needs_a_block", "seq2seq_greedy_decode", _APPEND,
        "block.shape\n        " + _APPEND,
        words="at least one decoder block were needed",
        help="With L = 0 a loop over blocks never runs, so its variable is not there afterwards.",
        symptom="UnboundLocalError with L = 0.",
    ),
)  # fmt: skip

_FORM = (
    fault(
        "decode_encodes_every_step", "seq2seq_greedy_decode", _PREFIX,
        "enc = encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads)\n        " + _PREFIX,
        words="the source were encoded again at every step",
        help="Right answer, but the encoder runs for every token. Move it above the loop.",
        symptom="The same tokens, more slowly.",
    ),
    fault(
        "decode_encodes_every_block", "seq2seq_greedy_decode", _STEP,
        "dec = decoder_block(dec, encode(src_ids[None], src_emb, enc_pos_embed, enc_blocks, num_heads), block, num_heads)",
        words="the source were encoded again for every decoder block",
        help="Right answer, but the encoder runs for every block of every step. Move it above the loops.",
        symptom="The same tokens, much more slowly.",
    ),
    fault(
        "decode_drops_the_start", "seq2seq_greedy_decode", _RETURN, "    return torch.tensor(seq[1:], device=src_ids.device)\n",
        words="the start token were left out of the result",
        help="Return all of seq, the start token first.",
        symptom="One id too few, at the front.",
    ),
    fault(
        "decode_starts_with_bos_one", "seq2seq_greedy_decode", _RETURN, "    return torch.tensor([1, *seq[1:]], device=src_ids.device)\n",
        words="the result began with id 1, whatever start_token_id says",
        help="Begin with start_token_id.",
        symptom="Right only where the start token is 1.",
    ),
    fault(
        "decode_returns_a_list", "seq2seq_greedy_decode", _RETURN, "    return seq\n",
        words="a list were returned",
        help="torch.tensor(seq, device=src_ids.device) makes a tensor of it.",
        symptom="A list has no shape.",
    ),
    fault(
        "decode_returns_floats", "seq2seq_greedy_decode", _RETURN, "    return torch.tensor(seq, device=src_ids.device).to(src_ids.dtype)\n",
        words="ids were returned as floats",
        help="Return integers, though the source ids come as floats.",
        symptom="A decimal point behind each id.",
    ),
    fault(
        "decode_returns_a_batch", "seq2seq_greedy_decode", _RETURN, "    return torch.tensor([seq], device=src_ids.device)\n",
        words="the result had a batch axis",
        help="One source, one row: shape (length,).",
        symptom="shape (1, length) instead of (length,).",
    ),
    fault(
        "decode_returns_bytes", "seq2seq_greedy_decode", _RETURN, "    return torch.tensor(seq, device=src_ids.device).to(torch.int16)\n",
        words="ids were returned in a short integer type",
        help="int64, torch's own choice, or int32.",
        symptom="Vocabularies above 32767 words overflow.",
    ),
    fault(
        "decode_pads_with_eos", "seq2seq_greedy_decode", _RETURN,
        "    seq = seq + [eos_token_id] * (1 + max(0, max_new_tokens) - len(seq))\n" + _RETURN,
        words="the result were padded with EOS to 1 + max_new_tokens ids",
        help="Do not pad: the result ends with the first EOS.",
        symptom="Trailing EOS where the sentence ended by itself.",
    ),
    fault(
        "decode_pads_with_zero", "seq2seq_greedy_decode", _RETURN,
        "    seq = seq + [0] * (1 + max(0, max_new_tokens) - len(seq))\n" + _RETURN,
        words="the result were padded with zeros to 1 + max_new_tokens ids",
        help="Do not pad: the result ends with the first EOS.",
        symptom="Trailing zeros where the sentence ended by itself.",
    ),
    fault(
        "decode_always_ends_with_eos", "seq2seq_greedy_decode", _RETURN,
        "    seq = seq if seq[-1] == eos_token_id else [*seq, eos_token_id]\n" + _RETURN,
        words="EOS were put at the end even where the budget ended the loop",
        help="EOS is in the result only where it was chosen.",
        symptom="One id too many where the budget ended the loop.",
    ),
    fault(
        "decode_ids_not_cast", "seq2seq_greedy_decode", _ENC,
        "src_emb[src_ids]\n    " + _ENC,
        words="float source ids were used as indices",
        help="Cast with .long() before the look-up.",
        symptom="IndexError: tensors used as indices must be long, int, byte or bool.",
    ),
    fault(
        "decode_in_place", "seq2seq_greedy_decode", _SEQ, "dec_pos_embed.mul_(2.0)\n    dec_pos_embed = dec_pos_embed / 2.0\n    " + _SEQ,
        words="dec_pos_embed itself were written to",
        help="Methods that end in _ and += write into the caller's tensor.",
        symptom="A second call gives other tokens.",
    ),
    fault(
        "decode_clears_spare_slots", "seq2seq_greedy_decode", _SEQ, "dec_blocks[:, 10:] = 0.0\n    " + _SEQ,
        words="dec_blocks itself were written to",
        help="Leave inputs unchanged, unused slots too.",
        symptom="The caller's weights change.",
    ),
    fault(
        "decode_single_precision", "seq2seq_greedy_decode", _DEC, "dec = (tgt_emb[prefix].float() + dec_pos_embed[: len(seq)].float())[None] ",
        words="target embeddings were made float32, which other dtypes refuse to meet",
        help="Leave out .float(): the parameters' dtype is the right one.",
        symptom="RuntimeError: expected both to have the same dtype.",
    ),
)  # fmt: skip

_BEAM = (
    fault(
        "beam_worst_first", "beam_search", "(-kept[0], kept[1])", "(kept[0], kept[1])",
        words="the smallest sums were kept",
        help="Log-probabilities are negative: the largest is nearest to 0.",
        symptom="Nonsense.",
    ),
    fault(
        "beam_ties_to_the_larger", "beam_search", "(-kept[0], kept[1])", "(-kept[0], [-token for token in kept[1]])",
        words="the larger ids of a tie were kept",
        help="Sort by falling sum, then by rising ids.",
        symptom="Right until two sums tie.",
    ),
    fault(
        "beam_is_greedy", "beam_search", "[:beam_width]", "[:1]",
        words="one sequence were kept, whatever beam_width says",
        help="Keep beam_width of them.",
        symptom="The result is always the greedy one.",
    ),
    fault(
        "beam_one_wider", "beam_search", "[:beam_width]", "[: beam_width + 1]",
        words="one sequence more than beam_width were kept",
        help="Keep beam_width of them.",
        symptom="Width 1 is not greedy.",
    ),
    fault(
        "beam_raw_scores", "beam_search", _LOG_P, "return dec[0, -1] @ w_head ",
        words="raw scores were added instead of log-probabilities",
        help="log_softmax over the vocabulary first.",
        symptom="Words after which scores are high win.",
    ),
    fault(
        "beam_adds_probabilities", "beam_search", _LOG_P, "return torch.softmax(dec[0, -1] @ w_head, dim=-1) ",
        words="probabilities were added instead of their logarithms",
        help="Probabilities multiply, so their logarithms add.",
        symptom="Longer sentences win.",
    ),
    fault(
        "beam_forgets_the_sum", "beam_search", "total + p,", "p,",
        words="only the last word's log-probability were kept",
        help="Add it to the sequence's sum.",
        symptom="The last word alone decides.",
    ),
    fault(
        "beam_drops_finished", "beam_search", _GROWN, "grown = []",
        words="finished sequences were dropped",
        help="A finished sequence keeps its sum and its place.",
        symptom="Short sentences never win, or an error where none is left.",
    ),
    fault(
        "beam_grows_finished", "beam_search", _FINISHED, "return False",
        words="sequences went on after EOS",
        help="A sequence that ends in EOS is kept as it is.",
        symptom="Words follow EOS.",
    ),
    fault(
        "beam_stops_at_the_first", "beam_search", "if all(finished", "if any(finished",
        words="the first finished sequence stopped the search",
        help="Stop when all kept sequences are finished.",
        symptom="Short sentences win too early.",
    ),
    fault(
        "beam_returns_the_last", "beam_search", "beam[0][1]", "beam[-1][1]",
        words="the last of the kept sequences were returned",
        help="The best is the first after sorting.",
        symptom="A worse sentence comes back wherever beam_width > 1.",
    ),
    fault(
        "beam_corrects_length", "beam_search", _BEST,
        "    best = max(beam, key=lambda kept: kept[0] / max(len(kept[1]) - 1, 1))\n    return torch.tensor(best[1], device=src_ids.device)\n",
        words="sums were divided by the length",
        help="Compare the sums as they are.",
        symptom="Longer sentences win.",
    ),
    fault(
        "beam_prefers_finished", "beam_search", _BEST,
        "    best = ([kept for kept in beam if finished(kept[1])] or beam)[0]\n    return torch.tensor(best[1], device=src_ids.device)\n",
        words="a finished sequence were returned even where an unfinished one had the larger sum",
        help="The best is the best by sum, finished or not.",
        symptom="A worse sentence comes back when the budget ends the search.",
    ),
    fault(
        "beam_start_is_finished", "beam_search", "len(seq) > 1 and seq[-1]", "seq[-1]",
        words="a start token that equals EOS were finished already",
        help="The test applies to appended tokens.",
        symptom="Only the start token comes back where it equals EOS.",
    ),
    fault(
        "beam_budget_counts_start", "beam_search", "range(max_new_tokens)", "range(max_new_tokens - 1)",
        words="the start token counted against the budget",
        help="max_new_tokens counts appended tokens.",
        symptom="One token too few.",
    ),
    fault(
        "beam_at_least_one", "beam_search", "range(max_new_tokens)", "range(max(1, max_new_tokens))",
        words="at least one token were appended",
        help="B = max(0, max_new_tokens).",
        symptom="A token although the budget is 0.",
    ),
    fault(
        "beam_last_token_only", "beam_search", "dec = (tgt_emb[prefix] + dec_pos_embed[: len(seq)])[None] ",
        "dec = (tgt_emb[prefix[-1:]] + dec_pos_embed[len(seq) - 1 : len(seq)])[None] ",
        words="only the last token of each sequence were decoded",
        help="Run the whole prefix.",
        symptom="Right without decoder blocks, wrong with them.",
    ),
    fault(
        "beam_in_place", "beam_search", "beam = [(0.0, [start_token_id])] ", "w_head *= 2.0\n    w_head = w_head / 2.0\n    beam = [(0.0, [start_token_id])] ",
        words="w_head itself were written to",
        help="*= writes into the caller's tensor.",
        symptom="A second call gives another result.",
    ),
    fault(
        "beam_returns_a_list", "beam_search", _BEST, "    return beam[0][1]\n",
        words="a list were returned",
        help="torch.tensor(...) makes a tensor of it.",
        symptom="A list has no shape.",
    ),
)  # fmt: skip

FAULTS: tuple[Fault, ...] = (
    *_NEXT, *_STOPPING, *_BUDGET, *_CHOICE, *_PREFIXES, *_MODEL, *_FORM, *_BEAM,
)  # fmt: skip
