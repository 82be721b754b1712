"""Ask a decoder and read the ids from whatever form they come in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from attnlab.compare import describe
from attnlab.trial import Trial
from attnlab.verdict import AnswerError, Failed, Verdict
from solutions.hidden.asking import outcome_of, readable
from solutions.hidden.decode_tables import Decoding

__all__ = ["INTEGERS", "decoded", "no_rows", "tokens_of", "value_of"]

INTEGERS = (torch.int32, torch.int64)


def no_rows(rows: int, vocabulary: int) -> torch.Tensor:
    """Position rows that add nothing."""
    return torch.zeros(rows, vocabulary, dtype=torch.float64)


def decoded(trial: Trial, d: Decoding) -> tuple[list[int], list[int]]:
    """The ids that the answer returns and those of the reference, both with the start token."""
    expected = trial.expected(*d.args)
    tokens = tokens_of(value_of(trial, d))
    trial.calls[-1] = replace(trial.calls[-1], agrees=tokens == expected.tolist())
    return tokens, expected.tolist()


def value_of(trial: Trial, d: Decoding) -> Any:
    """What the answer returns. Where it cannot do without blocks, which has its own check, it is given empty ones."""
    try:
        return outcome_of(trial, *d.args).value
    except AnswerError as error:
        if error.verdict is not Verdict.ERRORED or len(d.dec_blocks):
            raise
        try:
            return outcome_of(trial, *d.with_empty_blocks.args).value
        except AnswerError as again:
            if again.verdict is not Verdict.ERRORED:
                raise
        raise


def tokens_of(value: Any) -> list[int]:
    """The ids in a tensor of one row, or in a list. Raises Failed where it holds none."""
    if readable(value) and value.dim() and value.shape[-1] == value.numel():
        value = value.reshape(-1).tolist()
    if isinstance(value, list | tuple):
        value = [v.item() if readable(v) and v.numel() == 1 else v for v in value]
        if all(isinstance(v, int | float) and v == v and abs(v) < 2**53 and v == int(v) for v in value):
            return [int(v) for v in value]
    raise Failed(f"It returned {describe(value)}; a row of ids is wanted.")
