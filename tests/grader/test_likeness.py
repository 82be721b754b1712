"""When two behaviours count as the same: rounding apart, never by luck, whatever the values are."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.trial import Call
from grader.likeness import FLOOR, SLACK, Behaviour, behave, unlike

INF, NAN = math.inf, math.nan


def apart(seen: object, ours: object, coarsest: torch.dtype = torch.float64) -> float:
    return unlike(Call((), {}, seen), Behaviour(ours), coarsest)


def f64(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(
    ("seen", "ours"),
    [
        (f64(1, 2), f64(1, 2)),
        (f64(NAN, 2, INF, -INF), f64(NAN, 2, INF, -INF)),
        (f64(), f64()),
        (f64(1, 2).float(), f64(1, 2).float()),
        (torch.tensor([True]), torch.tensor([True])),
        ([f64(1), f64(2)], (f64(1), f64(2))),
        (3, 3),
        (torch.tensor(3), 3),
        (3, torch.tensor(3)),
        (0.5, 0.5),
        (NAN, NAN),
        (True, True),
        (None, None),
        (10**400, 10**400),
        (torch.empty(2, device="meta"), torch.empty(2, device="meta")),
    ],
)
def test_the_same_is_the_same(seen: object, ours: object) -> None:
    assert apart(seen, ours) == 0.0


@pytest.mark.parametrize(
    ("seen", "ours"),
    [
        (f64(1, 2), f64(1, 2.001)),
        (f64(NAN, 2), f64(1, 2)),
        (f64(1, 2), f64(NAN, 2)),
        (f64(NAN, 2), f64(2, NAN)),
        (f64(INF), f64(-INF)),
        (f64(INF), f64(NAN)),
        (f64(1, 2), f64(1, 2).float()),
        (f64(1, 2), f64(1, 2)[None]),
        (f64(1), torch.tensor([1])),
        (torch.tensor([1]), torch.tensor([True])),
        (torch.tensor([1], dtype=torch.uint8), torch.tensor([1])),
        (torch.tensor([256]), torch.tensor([0], dtype=torch.uint8)),
        (f64(1) * 1j, f64(1)),
        (f64(1).to_sparse(), f64(1)),
        (torch.empty(1, device="meta"), torch.empty(1)),
        ((f64(1),), (f64(1), f64(2))),
        (f64(1), (f64(1),)),
        ([[[[[1]]]]], [[[[[1]]]]]),  # deeper than any value of the course
        ([0] * 5000, [0] * 5000),
        (1.0, 1),
        (True, 1),
        (10**400, 1.0),
        ("x", "x"),
        (None, 1),
        (1, None),
        (object(), object()),
    ],
)
def test_what_differs_is_infinitely_far(seen: object, ours: object) -> None:
    assert apart(seen, ours) == INF


class Hostile:
    """A value that strikes back when it is touched."""

    def __eq__(self, other: object) -> bool:
        raise SystemExit

    def __len__(self) -> int:
        raise SystemExit

    def __getattribute__(self, name: str) -> object:
        if name == "__class__":
            return Hostile
        raise SystemExit

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("ours", [f64(1), 1, 0.5, True, (1,), [1], None])
def test_odd_values_are_not_touched(ours: object) -> None:
    assert apart(Hostile(), ours) == INF


@given(st.floats(-1e12, 1e12), st.floats(-0.9, 0.9))
def test_rounding_is_forgiven_in_proportion(value: float, share: float) -> None:
    scale = max(abs(value), FLOOR)
    near, far = value + share * SLACK * scale, value + 3.0 * SLACK * scale
    assert apart(f64(near), f64(value)) <= 1.0
    assert apart(f64(far), f64(value)) == INF
    assert apart(near, value) <= 1.0
    assert apart(far, value) == INF


def test_coarse_inputs_are_held_to_their_own_rounding() -> None:
    seen, ours = f64(1.0 + 6e-5).float(), f64(1.0).float()
    assert apart(seen.double(), ours.double()) == INF
    assert apart(seen.double(), ours.double(), torch.float32) <= 1.0
    assert apart(f64(2.0).bfloat16(), f64(1.0).bfloat16()) <= 1.0
    assert apart(f64(NAN).bfloat16(), f64(1.0).bfloat16()) == INF


def test_ids_may_be_of_either_integer_dtype() -> None:
    ids = torch.tensor([1, 2])
    assert apart(ids.int(), ids) == 1.0
    assert apart(ids.int() + 1, ids) == INF


def test_exceptions_are_compared_by_kind_then_by_words() -> None:
    def raising(message: str) -> Call:
        return Call((), {}, None, raised=message)

    ours = Behaviour(raised="It raised IndexError: out of range")
    assert unlike(raising("It raised IndexError: out of range"), ours) == 0.0
    assert unlike(raising("It raised IndexError: too far"), ours) == 1.0
    assert unlike(raising("It raised IndexError."), ours) == 1.0
    assert unlike(raising("It raised KeyError: out of range"), ours) == INF
    assert unlike(Call((), {}, 1), ours) == INF
    assert unlike(raising("It raised IndexError: out of range"), Behaviour(1)) == INF


def test_behaviour_notes_changed_inputs_and_leaves_ours_alone() -> None:
    x, y = f64(1, NAN), f64(3)

    def writes(a: torch.Tensor, b: torch.Tensor, *, c: torch.Tensor) -> torch.Tensor:
        c.zero_()
        return a.mul_(2) + b

    done = behave(writes, (x, y), {"c": y})
    assert done.changed == (0,)
    assert x[0] == 1.0 and y.item() == 3.0
    assert unlike(Call((), {}, done.value), done) == INF  # the same value, but nothing was written
    assert unlike(Call((), {}, done.value, changed=(0,)), done) == 0.0


def test_behaviour_keeps_how_inputs_lie_in_memory() -> None:
    x = torch.arange(6.0).reshape(2, 3).transpose(0, 1)
    assert behave(lambda a: a.view(6), (x,), {}).raised.startswith("It raised RuntimeError")
