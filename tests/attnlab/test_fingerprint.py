"""A wrong result in words."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.widgets.fingerprint import fingerprint

RIGHT = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]], dtype=torch.float64)


def changed(*rows: int, by: float = 0.5) -> torch.Tensor:
    made = RIGHT.clone()
    made[list(rows)] += torch.tensor([by, -by, 0.0])
    return made


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        (RIGHT, "Every number is right."),
        (changed(0, 1), "Only the last row is right. All rows sum to 1, as they should."),
        (changed(1, 2), "Only row 0 is right. All rows sum to 1, as they should."),
        (changed(1), "Only row 1 is wrong. All rows sum to 1, as they should."),
        (
            RIGHT.T,
            "No row is right. Rows and columns have changed places. The columns sum to 1, where the rows should.",
        ),
        (2 * RIGHT, "No row is right. Everything is 2 times what is right. Some rows do not sum to 1."),
        (0 * RIGHT, "No row is right. Everything is 0. Some rows do not sum to 1."),
        (RIGHT / 0 * 0, "NaN in every row."),
    ],
)
def test_what_is_said(mine: torch.Tensor, said: str) -> None:
    assert fingerprint(mine, RIGHT) == said


def test_nan_is_told_by_its_rows() -> None:
    mine = RIGHT.clone()
    mine[2, 1] = torch.nan
    assert fingerprint(mine, RIGHT) == "NaN in row 2 (the last), and in no other."


def test_a_batch_of_which_one_example_is_right() -> None:
    right = torch.stack([RIGHT, RIGHT.flip(0)])
    mine = torch.stack([RIGHT, changed(0, 1, 2)])
    assert fingerprint(mine, right).startswith("Only example 0 of the batch is right.")


@given(st.integers(0, 2), st.integers(0, 2), st.floats(0.01, 10.0))
def test_one_wrong_entry_is_never_called_right(row: int, column: int, by: float) -> None:
    mine = RIGHT.clone()
    mine[row, column] += by
    assert fingerprint(mine, RIGHT) != "Every number is right."
