"""What a wrong output looks like, in words: the traces that common mistakes leave, without a hidden value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from attnlab.compare import RELATIVE, TIGHTEST

__all__ = [
    "Fingerprint", "Seen", "column_sums", "extra_entries", "first_seen", "from_inputs", "mask_values", "nan_rows",
    "one_example", "only_one_row", "row_sums", "scaled", "statistics", "turned_round",
]  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """A trace that was found. words: a sentence without its full stop. help: what to look at, or ""."""

    words: str
    help: str = ""


Fingerprint = Callable[[torch.Tensor, torch.Tensor], Seen | None]
"""Called with the answer's and the expected output, float64, of one shape, where they differ."""


def first_seen(got: torch.Tensor, want: torch.Tensor, look: Iterable[Fingerprint]) -> Seen | None:
    """The first trace that shows; none in outputs without entries."""
    if not want.numel():
        return None
    return next((seen for trace in look if (seen := trace(got, want))), None)


def near(got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    """Bool, True where an entry is right by the course's tolerance. NaN is never right."""
    size = float(want.abs().max()) if want.numel() else 0.0
    return (got - want).abs() <= max(RELATIVE * size, TIGHTEST)


def nan_rows(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """NaN, and in which rows of the last two axes."""
    nan = got.isnan() & ~want.isnan()
    if not nan.any() or got.dim() < 2:
        return None
    if nan.all():
        return Seen("Every entry is NaN", "Look for 0 * infinity, infinity - infinity, or a division by 0.")
    per_row = nan.any(dim=-1).reshape(-1, got.shape[-2])
    rows = per_row.any(dim=0).nonzero().flatten().tolist()
    last = got.shape[-2] - 1
    if rows == [0] and last > 0:
        help = "A row is NaN when no key is left for it. Position 0 may read itself: is the diagonal hidden?"
        return Seen("NaN in row 0 only", help)
    if rows == [last] and last > 0:
        help = "No key was left for the last row: is the mask the wrong way round?"
        return Seen(f"NaN in row {last} only, the last", help)
    plural = "s" if len(rows) > 1 else ""
    return Seen(f"NaN in row{plural} {', '.join(map(str, rows))}", "A row is NaN when no key is left for it.")


def only_one_row(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """Only the last row right, or only the first."""
    if got.dim() < 2 or got.shape[-2] < 2:
        return None
    right = near(got, want).all(dim=-1).reshape(-1, got.shape[-2]).all(dim=0)
    if right[-1] and not right[:-1].any():
        help = "The last row reads every position. Rows before it do so only if the causal mask is missing."
        return Seen("Only the last row is right", help)
    if right[0] and not right[1:].any():
        return Seen("Only the first row is right", "Compare what row 1 may read with what row 0 may read.")
    return None


def one_example(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """Some examples of the batch right, others not."""
    if got.dim() < 3 or got.shape[0] < 2:
        return None
    right = near(got, want).flatten(1).all(dim=1).tolist()
    if not any(right) or all(right):
        return None
    good, bad = right.index(True), right.index(False)
    help = "Look for a mask or an axis of one example that is used for all of them."
    return Seen(f"Example {good} is right, example {bad} is not", help)


def row_sums(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """For weights: a row whose sum is not what it ought to be, which is 1 or 0."""
    sums, wanted = got.sum(dim=-1), want.sum(dim=-1)
    wrong = ~near(sums, wanted)
    if not wrong.any() or got.isnan().any() or got.dim() < 2:
        return None
    if near(got.sum(dim=(-2, -1)), torch.ones(())).all():
        return Seen("The whole matrix sums to 1, not each row", "Softmax runs over the keys, the last axis, alone.")
    index = wrong.nonzero()[0].tolist()
    total, target = float(sums[tuple(index)]), round(float(wanted[tuple(index)]))
    help = "Each row of weights sums to 1. Hide keys before the softmax, not after it."
    if target == 0:
        help = "A row in which nothing may be read gets no weight at all."
    return Seen(f"Row {index[-1]} sums to {total:.3g}; it ought to sum to {target}", help)


def column_sums(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """For weights: the columns sum to 1, so the softmax ran over the queries."""
    if got.dim() < 2 or got.isnan().any() or not near(got.sum(dim=-2), torch.ones(())).all():
        return None
    if near(want.sum(dim=-2), torch.ones(())).all():
        return None
    return Seen("The columns sum to 1, not the rows", "Softmax runs over the keys: dim=-1.")


def extra_entries(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """For weights: something where nothing ought to be."""
    extra = (want == 0.0) & (got.abs() > TIGHTEST)
    if not extra.any() or got.isnan().any():
        return None
    index = extra.nonzero()[0].tolist()
    help = "Give them minus infinity before the softmax: 0 or a finite number still leaves e to some power."
    return Seen(f"A key that may not be read has weight, first at {index}", help)


def scaled(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """Every entry off by one factor."""
    if not bool(want.abs().max() > TIGHTEST) or not got.isfinite().all():
        return None
    factor = float((got * want).sum() / (want * want).sum())
    if abs(factor) < RELATIVE or not near(got, factor * want).all():
        return None
    return Seen(f"Every entry is {factor:.4g} times what it ought to be", "One factor is wrong, all else is right.")


def turned_round(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """For tables of yes and no, and for square ones: the opposite, or the transposed."""
    if near(got, 1.0 - want).all():
        return Seen("Every entry is the opposite of what it ought to be", "True stands for: may be read.")
    square = got.dim() >= 2 and got.shape[-1] == got.shape[-2]
    if square and near(got, want.transpose(-2, -1)).all():
        return Seen("It is the right table transposed", "The query goes down the rows, the key across the columns.")
    return None


def mask_values(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """For masks: numbers to be added to scores instead of True and False."""
    if not ((got < -TIGHTEST) & (want >= 0.0)).any():
        return None
    help = "A mask here holds True where a key may be read, not numbers to be added to the scores."
    return Seen("It holds numbers below zero", help)


def statistics(got: torch.Tensor, want: torch.Tensor) -> Seen | None:
    """For normalised tokens: a mean that is not 0, or a variance that is not what the eps leaves of 1."""
    if not got.isfinite().all() or got.dim() < 1 or got.shape[-1] < 2:
        return None
    mean = got.mean(dim=-1)
    if (mean.abs() > 10 * RELATIVE).any():
        size = float(mean.abs().max())
        return Seen(f"A token's mean is off 0 by {size:.3g}", "Normalise last, and take the mean away.")
    power, wanted = ((t**2).mean(dim=-1) for t in (got, want))
    off = (power - wanted).abs() > 10 * RELATIVE * wanted
    if not off.any():
        return None
    ratio = float((power / wanted.clamp_min(TIGHTEST))[off].flatten()[0])
    d = got.shape[-1]
    if bool(((power / wanted - (d - 1) / d).abs() < RELATIVE).all()):
        help = "Divide the sum of squares by d, not by d - 1: unbiased=False."
        return Seen(f"Every variance is (d-1)/d of the right one, d = {d}", help)
    return Seen(f"A token's variance is {ratio:.3g} times the right one", "Each token ends with mean 0 and variance 1.")


def from_inputs(names: str, *inputs: torch.Tensor) -> Fingerprint:
    """A trace that shows where the output is one of the inputs. names: their names, with commas."""

    def trace(got: torch.Tensor, want: torch.Tensor) -> Seen | None:  # noqa: ARG001
        for name, given in zip(names.split(","), inputs, strict=True):
            if got.shape == given.shape and near(got, given.double()).all():
                return Seen(f"It is {name.strip()}, unchanged")
        return None

    return trace


ROWS = (nan_rows, only_one_row, one_example, scaled)
"""What shows in outputs of one row a query."""
