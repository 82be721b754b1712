"""Hidden checks of `beam_search`."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnlab.checking import check_of
from attnlab.compare import describe, difference
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.asking import untouched
from solutions.hidden.decode_tables import Decoding, log_table, model, table
from solutions.hidden.decoding import INTEGERS, decoded, no_rows


@check_of("beam_search", points=0.0, kind="contract")
def beam_of_one_is_greedy(trial: Trial) -> None:
    """With beam_width 1 the result is the greedy one."""
    _beam(trial, _crossroads(trial, 1), "Keep the single best continuation after each step.")


@check_of("beam_search", points=0.0)
def beam_finds_a_better_sentence(trial: Trial) -> None:
    """A worse first token may lead to a better sum of log-probabilities, and is found."""
    _beam(trial, _crossroads(trial, 2), "Grow every kept sequence by every word, then keep the best beam_width of all.")


@check_of("beam_search", points=0.0)
def beam_adds_log_probabilities(trial: Trial) -> None:
    """Sums are of log-probabilities: raw scores are made into them first."""
    d = _crossroads(trial, 2)
    lift = torch.zeros(6, 1, dtype=torch.float64)
    lift[1] = 30.0  # a constant on all scores after word 1 changes raw sums and no probability
    _beam(trial, replace(d, tgt_emb=d.tgt_emb + lift), "log_softmax over the vocabulary before adding.")


@check_of("beam_search", points=0.0)
def beam_keeps_finished_sequences(trial: Trial) -> None:
    """A finished sequence keeps its sum and its place among the kept, and may be the best."""
    rows = _rows({0: {5: 45, 1: 55}, 1: {2: 50, 3: 50}, 2: {3: 50, 4: 50}, 3: {4: 50, 2: 50}, 4: {2: 50, 3: 50}})
    _beam(trial, _beams(trial, rows, budget=3, width=2), "A sequence that ends in EOS is kept as it is and not grown.")
    rows = _rows({0: {5: 30, 1: 70}, 1: {2: 90, 3: 10}})
    _beam(trial, _beams(trial, rows, budget=2, width=2), "The best by sum is returned, finished or not.")


@check_of("beam_search", points=0.0)
def beam_stops_when_all_are_finished(trial: Trial) -> None:
    """The loop ends when all kept sequences are finished, and not at the first finished one."""
    rows = _rows({0: {1: 60, 5: 40}, 1: {5: 90, 2: 10}, 2: {3: 50, 4: 50}})
    _beam(trial, _beams(trial, rows, budget=5, width=2), "Go on while one kept sequence is unfinished.")


@check_of("beam_search", points=0.0)
def beam_corrects_no_length(trial: Trial) -> None:
    """Sums are not divided by the length."""
    rows = _rows({0: {5: 40, 1: 60}, 1: {2: 62, 3: 38}, 2: {4: 98, 3: 2}, 3: {4: 100}, 4: {5: 100}})
    _beam(trial, _beams(trial, rows, budget=5, width=3), "Compare the sums as they are.")


@check_of("beam_search", points=0.0)
def beam_breaks_ties_to_the_smaller(trial: Trial) -> None:
    """Equal sums go to the smaller ids."""
    rows = _rows(
        {0: {1: 30, 2: 30, 3: 30, 4: 10}, 1: {2: 50, 4: 50}, 2: {2: 50, 4: 50}, 3: {2: 50, 4: 50}, 4: {4: 100}}
    )
    for width in (1, 2):
        _beam(trial, _beams(trial, rows, budget=2, width=width), "Sort by falling sum, then by rising ids.")


@check_of("beam_search", points=0.0)
def beam_minds_start_and_budget(trial: Trial) -> None:
    """A start token that equals EOS is not finished; without budget the start token alone is returned."""
    d = _crossroads(trial, 2)
    _beam(trial, replace(d, eos=d.start), "The test for EOS applies to appended tokens.")
    for budget in (0, -2):
        _beam(trial, replace(d, budget=budget), "B = max(0, max_new_tokens).")


@check_of("beam_search", points=0.0)
def beam_may_be_wider_than_the_vocabulary(trial: Trial) -> None:
    """A width above the number of candidates keeps them all."""
    _beam(trial, _crossroads(trial, 50), "topk wants k no larger than what there is.")


@check_of("beam_search", points=0.0)
def beam_runs_the_model(trial: Trial) -> None:
    """Encoder and decoder blocks choose the tokens, as in the greedy decode."""
    d = model(trial, encoder_blocks=1, decoder_blocks=1, budget=3)
    _beam(trial, replace(d, width=2), "Each kept prefix is decoded whole, at its own positions.")


@check_of("beam_search", points=0.0, kind="contract", needs=("beam_of_one_is_greedy",))
def beam_leaves_inputs_alone(trial: Trial) -> None:
    """Ids, tables and weights are unchanged afterwards, and the result is a row of integers."""
    d = _crossroads(trial, 2)
    untouched(trial, *d.args)
    value = trial.call(*d.args)
    if not isinstance(value, torch.Tensor) or value.dim() != 1 or value.dtype not in INTEGERS:
        raise Failed(f"It returned {describe(value)}; a one-dimensional tensor of integers is wanted.")


def _rows(weights: dict[int, dict[int, float]]) -> torch.Tensor:
    """Log-probabilities (6, 6) of a little grammar: word to next word to its share in percent. The rest share 0.01."""
    return log_table([[weights.get(w, {}).get(n, 0.01 / 6) for n in range(6)] for w in range(6)])


def _beams(trial: Trial, rows: torch.Tensor, *, budget: int, width: int) -> Decoding:
    """A beam search from word 0 to EOS 5."""
    d = table(trial, rows, no_rows(budget + 2, 6), start=0, eos=5, budget=budget)
    return replace(d, width=width)


def _crossroads(trial: Trial, width: int) -> Decoding:
    """Greedy goes by the better first word and comes to a bad second; a beam of 2 does not."""
    rows = _rows({0: {1: 55, 2: 45}, 1: {3: 40, 4: 35, 2: 25}, 2: {4: 95, 3: 5}, 3: {5: 100}, 4: {5: 90, 1: 10}})
    return _beams(trial, rows, budget=3, width=width)


def _beam(trial: Trial, d: Decoding, help: str) -> None:
    """Raises Failed unless the answer's ids are the reference's."""
    tokens, expected = decoded(trial, d)
    if tokens != expected:
        found = difference(torch.tensor(tokens), torch.tensor(expected)) or "the ids differ"
        raise Failed(f"With beam_width = {d.width} and max_new_tokens = {d.budget}: {found}.", help)
