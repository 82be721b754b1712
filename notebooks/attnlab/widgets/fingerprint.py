"""Where a wrong result is right, in words: which rows, which example, off by which factor."""

from __future__ import annotations

import torch

from attnlab.compare import RELATIVE, TIGHTEST

__all__ = ["fingerprint"]


def fingerprint(mine: torch.Tensor, right: torch.Tensor) -> str:
    """How `mine` (..., rows, columns) differs from `right`, in one or two sentences. Shapes are the same."""
    a, b = mine.double(), right.double()
    wrong = _wrong(a, b)
    if not wrong.any():
        return "Every number is right."
    told = [_nan(a)] if a.isnan().any() else [_rows(wrong)]
    if not a.isnan().any():
        told += filter(None, (_factor(a, b), _turned(a, b), _sums(a, b)))
    return " ".join(told)


def _wrong(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    finite = b[b.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    return ~(((a - b).abs() <= max(RELATIVE * largest, TIGHTEST)) | (a == b))


def _nan(a: torch.Tensor) -> str:
    rows = _any_of_rows(a.isnan())
    count = len(rows)
    where = [n for n, found in enumerate(rows) if found]
    if len(where) == count:
        return "NaN in every row."
    last = " (the last)" if where == [count - 1] else ""
    return f"NaN in {_listed(where)}{last}, and in no other."


def _rows(wrong: torch.Tensor) -> str:
    """Which rows are right everywhere, and whether that depends on the example."""
    if wrong.dim() > 2:
        examples = wrong.flatten(1).any(dim=1).tolist()
        if not all(examples):
            return f"Only {_listed([n for n, bad in enumerate(examples) if not bad], 'example')} of the batch is right."
    rows = _any_of_rows(wrong)
    right = [n for n, bad in enumerate(rows) if not bad]
    if not right:
        columns = wrong.reshape(-1, wrong.shape[-1]).any(dim=0).tolist()
        fine = [n for n, bad in enumerate(columns) if not bad]
        return f"No row is right; {_listed(fine, 'column')} is." if fine else "No row is right."
    if right == [len(rows) - 1]:
        return "Only the last row is right."
    if right == [0]:
        return "Only row 0 is right."
    bad = [n for n, is_bad in enumerate(rows) if is_bad]
    return f"Only {_listed(bad)} is wrong." if len(bad) < len(right) else f"Only {_listed(right)} is right."


def _factor(a: torch.Tensor, b: torch.Tensor) -> str:
    """Whether everything is off by one factor."""
    factor = float((a * b).sum() / (b * b).sum().clamp(min=1e-30))  # least squares; all zeros give 0
    if not a.any():
        return "Everything is 0."
    return f"Everything is {factor:.3g} times what is right." if not _wrong(a, factor * b).any() else ""


def _turned(a: torch.Tensor, b: torch.Tensor) -> str:
    square = a.shape[-1] == a.shape[-2]
    return "Rows and columns have changed places." if square and not _wrong(a, b.transpose(-2, -1)).any() else ""


def _sums(a: torch.Tensor, b: torch.Tensor) -> str:
    """For weights: what sums to 1."""
    if b.shape[-1] < 2 or ((b.sum(dim=-1) - 1).abs() > TIGHTEST).any() or (b < 0).any():
        return ""
    rows, columns = ((a.sum(dim=axis) - 1).abs() <= TIGHTEST for axis in (-1, -2))
    if rows.all():
        return "All rows sum to 1, as they should."
    return "The columns sum to 1, where the rows should." if columns.all() else "Some rows do not sum to 1."


def _any_of_rows(where: torch.Tensor) -> list[bool]:
    rows: list[bool] = where.any(dim=-1).reshape(-1, where.shape[-2]).any(dim=0).tolist()
    return rows


def _listed(numbers: list[int], what: str = "row") -> str:
    if len(numbers) == 1:
        return f"{what} {numbers[0]}"
    return f"each of the {what}s {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
