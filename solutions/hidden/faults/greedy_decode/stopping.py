"""Named faults of greedy decoding that stops at the wrong time."""

from __future__ import annotations

from attnlab.fault import Fault, fault
from solutions.hidden.faults.greedy_decode.lines import APPEND, TEST

_LOOP = "for _ in range(max_new_tokens):"

FAULTS: tuple[Fault, ...] = (
    fault(
        "decode_never_stops",
        "seq2seq_greedy_decode",
        TEST,
        "pass",
        words="EOS did not stop the loop",
        help="After appending a token compare it with eos_token_id, and break.",
        symptom="The sentence goes on after its end.",
    ),
    fault(
        "decode_drops_eos",
        "seq2seq_greedy_decode",
        TEST,
        "if seq[-1] == eos_token_id:\n            seq.pop()\n            break",
        words="EOS was left out of the result",
        help="Append first, then test: EOS belongs to the result.",
        symptom="The last id is missing where the sentence ended by itself.",
    ),
    fault(
        "decode_stops_one_late",
        "seq2seq_greedy_decode",
        "if seq[-1] == eos_token_id:",
        "if eos_token_id in seq[1:-1]:",
        words="EOS was noticed one step late",
        help="Test the token just appended, in the same step.",
        symptom="One token follows EOS.",
    ),
    fault(
        "decode_tests_before_the_step",
        "seq2seq_greedy_decode",
        _LOOP,
        _LOOP + "\n        if seq[-1] == eos_token_id:\n            break",
        words="EOS was tested before the step, so that a start token equal to EOS stops it",
        help="The test applies to a token that was just appended.",
        symptom="Only the start token comes back where it equals EOS.",
    ),
    fault(
        "decode_stops_at_any_eos",
        "seq2seq_greedy_decode",
        "if seq[-1] == eos_token_id:",
        "if eos_token_id in seq:",
        words="the start token counted when looking for EOS",
        help="Look at the token just appended alone.",
        symptom="One token, and no more, where the start token equals EOS.",
    ),
    fault(
        "decode_stops_at_zero",
        "seq2seq_greedy_decode",
        "if seq[-1] == eos_token_id:",
        "if seq[-1] in (0, eos_token_id):",
        words="id 0 ended the sentence too",
        help="Only eos_token_id does.",
        symptom="Short sentences wherever id 0 is chosen.",
    ),
    fault(
        "decode_stops_at_zero_only",
        "seq2seq_greedy_decode",
        "if seq[-1] == eos_token_id:",
        "if not seq[-1]:",
        words="id 0 was EOS, whatever eos_token_id says",
        help="Compare with eos_token_id.",
        symptom="Right only where EOS is 0.",
    ),
    fault(
        "decode_stops_at_two",
        "seq2seq_greedy_decode",
        "if seq[-1] == eos_token_id:",
        "if seq[-1] == 2:",
        words="id 2 was EOS, whatever eos_token_id says",
        help="Compare with eos_token_id.",
        symptom="Right only where EOS is 2.",
    ),
    fault(
        "decode_stops_at_start",
        "seq2seq_greedy_decode",
        "if seq[-1] == eos_token_id:",
        "if seq[-1] in (start_token_id, eos_token_id):",
        words="the start token ended the sentence when it came again",
        help="Only eos_token_id does.",
        symptom="Short sentences wherever the start token is chosen.",
    ),
    fault(
        "decode_stops_at_a_repeat",
        "seq2seq_greedy_decode",
        "if seq[-1] == eos_token_id:",
        "if seq[-1] == eos_token_id or seq[-1] in seq[:-1]:",
        words="a word that came before ended the sentence",
        help="Words may come again; only eos_token_id ends the loop.",
        symptom="Short sentences wherever a word comes twice.",
    ),
    fault(
        "decode_bans_zero",
        "seq2seq_greedy_decode",
        APPEND,
        "seq.append(1 + next_token((dec[0, -1] @ w_head)[1:])) ",
        words="id 0 could not be chosen",
        help="Id 0 is an ordinary word.",
        symptom="Another word wherever id 0 is the best.",
    ),
    fault(
        "decode_bans_start",
        "seq2seq_greedy_decode",
        APPEND,
        "scores = dec[0, -1] @ w_head\n        scores[start_token_id] = -torch.inf\n        "
        "seq.append(next_token(scores)) ",
        words="the start token could not be chosen",
        help="No word is banned.",
        symptom="Another word wherever the start token is the best.",
    ),
    fault(
        "decode_bans_repeats",
        "seq2seq_greedy_decode",
        APPEND,
        "scores = dec[0, -1] @ w_head\n        scores[seq] = -torch.inf\n        seq.append(next_token(scores)) ",
        words="no word could come twice",
        help="No word is banned.",
        symptom="Another word wherever one would come again.",
    ),
    fault(
        "decode_bans_bigrams",
        "seq2seq_greedy_decode",
        APPEND,
        "scores = dec[0, -1] @ w_head\n        for a, b in zip(seq, seq[1:]):\n            if a == seq[-1]:\n"
        "                scores[b] = -torch.inf\n        seq.append(next_token(scores)) ",
        words="no pair of words could come twice",
        help="No word is banned.",
        symptom="Another word wherever a pair would come again.",
    ),
    fault(
        "decode_bans_early_eos",
        "seq2seq_greedy_decode",
        APPEND,
        "scores = dec[0, -1] @ w_head\n        if len(seq) < max_new_tokens:\n            scores[eos_token_id] = "
        "-torch.inf\n"
        "        seq.append(next_token(scores)) ",
        words="EOS could not be chosen before the last step",
        help="EOS may come at any step.",
        symptom="Sentences always fill the budget.",
    ),
)
