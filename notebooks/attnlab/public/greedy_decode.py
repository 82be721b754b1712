"""Public checks of lesson 5: the next token, greedy decoding, beam search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.placement import stays_on_device
from attnlab.public.clauses import leaves_inputs_alone
from attnlab.public.examples import table_model
from attnlab.public.probes import on_record, tensor
from attnlab.trial import Trial
from attnlab.verdict import Failed

# next_token -----------------------------------------------------------------------------------------------------------


def _number(value: Any) -> int:
    """The answer as a number, whatever kind of number it is."""
    if isinstance(value, torch.Tensor):
        found = tensor(value)
        if found.numel() == 1:
            return int(found)
    elif isinstance(value, int | float) and value == value and abs(value) < 1e9:  # neither NaN nor infinite
        return int(value)
    raise Failed(f"It returned {describe(value)}; one id is wanted.", "The id is the place of the largest score.")


@check_of("next_token", points=2)
def largest_score_wins(trial: Trial) -> None:
    """The id is the index of the largest score, also where all scores are negative."""
    for best in (5, 0, 2):
        logits = trial.normal(6) - 10.0  # all below 0
        logits[best] = -1.0
        if (got := _number(trial.call(logits))) != best:
            raise Failed(
                f"The largest score stands at {best}; it chose {got}.", "argmax gives the place of the largest."
            )


_WINS = ("largest_score_wins",)


@check_of("next_token", points=1.5, kind="metamorphic", needs=_WINS)
def smallest_id_on_a_tie(trial: Trial) -> None:
    """Where several ids have exactly the largest score, it is the smallest of them; nearly equal is no tie."""
    for tied in ([1, 3], [0, 2, 4], [3, 4]):
        logits = torch.zeros(5, dtype=torch.float64)
        logits[tied] = 2.5
        if (got := _number(trial.call(logits))) != tied[0]:
            raise Failed(f"The ids {tied} tie; it chose {got}.", "argmax keeps the first; topk and sort may not.")
    close = torch.tensor([30.0, 30.0 + 1e-9, 29.0], dtype=torch.float64)
    if (got := _number(trial.call(close))) != 1:
        raise Failed(
            f"Scores 30 and 30 + 1e-9 are no tie; it chose {got}.", "Compare the scores as they are, no softmax."
        )


@check_of("next_token", points=0.25, kind="contract", needs=_WINS)
def id_is_one_integer(trial: Trial) -> None:
    """The id is an int, or an integer tensor without axes on the scores' device."""
    value = trial.call(trial.normal(5))
    if isinstance(value, torch.Tensor):
        if value.dim() or value.is_floating_point() or value.dtype == torch.bool:
            raise Failed(f"It returned {describe(value)}.", "int(...) makes a number of it.")
    elif type(value) is not int:
        raise Failed(f"It returned {describe(value)}; an int is wanted.")
    stays_on_device(trial, trial.normal(5))


_next_alone = leaves_inputs_alone("next_token", lambda t: (t.normal(5),), points=0.25, needs=_WINS)

# seq2seq_greedy_decode ------------------------------------------------------------------------------------------------

_START, _EOS = 1, 4


def _scores(follow: Mapping[int, int], V: int = 6) -> torch.Tensor:
    """Scores (V, V): after id a comes follow[a], else id 5. A second best at id 0 leads astray whoever misreads."""
    scores = torch.zeros(V, V, dtype=torch.float64)
    scores[:, 0] = 1.0
    for a in range(V):
        scores[a, follow.get(a, 5)] = 2.0
    return scores


def _decoded(trial: Trial, follow: Mapping[int, int], budget: int, *, eos: int = _EOS, spare: int = 3) -> list[int]:
    """What the answer decodes when a look-up in a table is the whole model.

    spare: how many positions the table of positions has beyond the budget
    """
    value = trial.call(*table_model(_scores(follow), max(0, budget) + spare), _START, eos, budget)
    if isinstance(value, list | tuple):
        value = torch.tensor([_number(part) for part in value])
    found = tensor(value)
    if found.dim() > 2 or (found.dim() == 2 and found.shape[0] != 1):
        raise Failed(f"It returned {describe(value)}; one row of ids is wanted.")
    return [int(x) for x in found.flatten().tolist()]


@check_of("seq2seq_greedy_decode", points=3)
def best_word_follows(trial: Trial) -> None:
    """After each word comes the one with the largest score; the start token stands first."""
    got = _decoded(trial, {1: 3, 3: 2, 2: 5}, 4)
    if got[:1] != [_START] or len(got) < 3:
        raise Failed(f"The result begins {got[:3]}; the start token {_START} and the best words are wanted.")
    if got[:4] != [1, 3, 2, 5][: len(got[:4])]:
        raise Failed(
            f"Where 3 follows 1, 2 follows 3 and 5 follows 2, it gives {got}.",
            "The newest position predicts: take the last row of scores, then its argmax.",
        )


_BASE = ("best_word_follows",)


@check_of("seq2seq_greedy_decode", points=2, kind="metamorphic", needs=_BASE)
def stops_at_eos(trial: Trial) -> None:
    """When the end token has been appended, nothing follows."""
    got = _decoded(trial, {1: 3, 3: _EOS}, 6)
    if _EOS in got and got.index(_EOS) < len(got) - 1:
        raise Failed(
            f"It went on after the end token: {got}.", "Leave the loop when the appended id equals eos_token_id."
        )
    if len(got) > 3:
        raise Failed(f"The end token is the second word, and it gives {got}.", "Leave the loop at eos_token_id.")


@check_of("seq2seq_greedy_decode", points=1, kind="metamorphic", needs=_BASE)
def eos_is_kept(trial: Trial) -> None:
    """The end token that was chosen is part of the result."""
    got = _decoded(trial, {1: 3, 3: _EOS}, 6)
    if got[:3] != [1, 3, _EOS]:
        raise Failed(f"It gives {got}; [1, 3, {_EOS}] is wanted.", "Append first, then compare with eos_token_id.")


@check_of("seq2seq_greedy_decode", points=2, kind="metamorphic", needs=_BASE)
def budget_counts_new_tokens(trial: Trial) -> None:
    """Without an end token, exactly max_new_tokens ids follow the start token."""
    for budget in (1, 3, 5):
        got = _decoded(trial, {1: 3, 3: 2, 2: 3}, budget, spare=0)
        if len(got) != 1 + budget:
            raise Failed(
                f"With max_new_tokens = {budget} it returned {len(got)} ids; {1 + budget} are wanted.",
                "The start token does not count, and the last token needs no further pass.",
            )


@check_of("seq2seq_greedy_decode", points=1, kind="metamorphic", needs=_BASE)
def no_budget_no_tokens(trial: Trial) -> None:
    """With max_new_tokens of 0 or less, the result is the start token alone."""
    for budget in (0, -2):
        if (got := _decoded(trial, {1: 3}, budget)) != [_START]:
            raise Failed(f"With max_new_tokens = {budget} it gives {got}.", "range of a negative number is empty.")


@check_of("seq2seq_greedy_decode", points=1, kind="metamorphic", needs=_BASE)
def start_may_equal_eos(trial: Trial) -> None:
    """A start token that equals the end token does not stop the loop."""
    got = _decoded(trial, {1: 3, 3: 2, 2: 1}, 5, eos=1)
    if got != [1, 3, 2, 1]:
        raise Failed(f"With start and end token 1 it gives {got}; [1, 3, 2, 1] is wanted.",
                     "Only an id that you just appended can end the sentence.")  # fmt: skip


@check_of("seq2seq_greedy_decode", points=1, kind="metamorphic", needs=_BASE)
def ties_go_to_the_smaller_id(trial: Trial) -> None:
    """Where words tie exactly, the smallest id is chosen."""
    scores = _scores({1: 3, 2: 5})
    scores[1, 2] = scores[1, 3]
    got = [int(x) for x in tensor(trial.call(*table_model(scores, 1), 1, _EOS, 1)).flatten().tolist()]
    if got[-1] != 2:
        raise Failed(f"Ids 2 and 3 tie, and it chose {got[-1]}.", "Your next_token, or argmax, keeps the smaller.")


@check_of("seq2seq_greedy_decode", points=0.5, kind="metamorphic", needs=_BASE)
def words_may_come_again(trial: Trial) -> None:
    """Any word may be chosen, and chosen again: id 0 and the start token are words like others."""
    got = _decoded(trial, {1: 0, 0: 2, 2: 1}, 5)
    if got != [1, 0, 2, 1, 0, 2]:
        raise Failed(f"Where 1, 0 and 2 follow one another in a ring, it gives {got}.", "No word is ever forbidden.")


@check_of("seq2seq_greedy_decode", points=2.5)
def sentence_of_a_whole_model(trial: Trial) -> None:
    """With two blocks on each side and two heads, all seven words are right."""
    on_record(
        trial,
        "seq2seq_greedy_decode/model",
        "Run the whole prefix through every block, with its positions 0, 1, ... and the causal mask.",
    )


@check_of("seq2seq_greedy_decode", points=1, kind="contract", needs=_BASE)
def encodes_once(trial: Trial) -> None:
    """The source is encoded once, however many words follow."""
    work: dict[tuple[int, int], int] = {}
    for E in (0, 2):
        for budget in (1, 4):
            args = list(table_model(_scores({1: 3, 3: 2, 2: 3}), budget))
            args[5] = trial.normal(E, 6, 6, 6, scale=0.6)  # 1.5 / sqrt(d)
            args[6] = torch.zeros(1, 12, 6, 6, dtype=torch.float64)  # a block that leaves the order of the scores alone
            work[E, budget] = trial.outcome(*args, _START, _EOS, budget).operations
    one, four = (work[2, budget] - work[0, budget] for budget in (1, 4))
    if four > 2 * one + 5:  # four runs of the encoder cost about 4 * one; 5 leaves room for odds and ends
        raise Failed(
            f"For four words the encoder did {four / max(one, 1):.1f} times the work that it did for one.",
            "Right answer, but the encoder belongs above the loop.",
        )


@check_of("seq2seq_greedy_decode", points=0.5, kind="contract", needs=_BASE)
def result_is_a_row_of_ids(trial: Trial) -> None:
    """The result is a one-dimensional integer tensor on the source's device."""
    value = trial.call(*table_model(_scores({1: 3}), 3), _START, _EOS, 3)
    if not isinstance(value, torch.Tensor) or value.dim() != 1 or value.is_floating_point():
        raise Failed(f"It returned {describe(value)}.", "torch.tensor(ids) makes integers of a list of ints.")
    args = list(table_model(_scores({1: 3}), 2))
    args[5] = trial.normal(1, 6, 6, 6, scale=0.6)  # a block on each side, so that masks are made
    args[6] = torch.zeros(1, 12, 6, 6, dtype=torch.float64)
    stays_on_device(trial, *args, _START, _EOS, 2)


_decode_alone = leaves_inputs_alone(
    "seq2seq_greedy_decode",
    lambda _: (*table_model(_scores({1: 3, 3: 2}), 3), _START, _EOS, 3),
    points=0.5,
    needs=_BASE,
)

# beam_search ----------------------------------------------------------------------------------------------------------


@check_of("beam_search", points=0)
def finds_the_better_sentence(trial: Trial) -> None:
    """With beam_width = 2 it finds a sentence whose first word is only the second best."""
    on_record(
        trial,
        "beam_search/detour",
        "Keep finished sentences among the kept ones, and compare sums of log-probabilities, not of scores.",
    )


@check_of("beam_search", points=0)
def width_one_is_greedy(trial: Trial) -> None:
    """With beam_width = 1 it gives the greedy sentence."""
    on_record(trial, "beam_search/one", "Of all continuations keep the one with the largest sum of log-probabilities.")


@check_of("beam_search", points=0)
def beam_of_a_whole_model(trial: Trial) -> None:
    """With beam_width = 3 and two blocks on each side, the best of the kept sentences is right."""
    on_record(trial, "beam_search/model", "No length correction; ties go to the smaller ids.")


@check_of("beam_search", points=0, needs=("width_one_is_greedy",))
def beam_keeps_to_the_budget(trial: Trial) -> None:
    """With max_new_tokens of 0 it gives the start token alone, and never more than max_new_tokens ids after it."""
    for budget in (0, 2):
        value = trial.call(*table_model(_scores({1: 3, 3: 2, 2: 3}), budget), _START, _EOS, budget, 2)
        if tensor(value).numel() > 1 + budget:
            raise Failed(f"With max_new_tokens = {budget} it returned {tensor(value).numel()} ids.")
