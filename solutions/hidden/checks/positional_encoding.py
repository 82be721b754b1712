"""Hidden checks of `positional_encoding`."""

from __future__ import annotations

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.placement import stays_at_home
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import moved, same, tensor_of


@check_of("positional_encoding", points=0.25, kind="contract")
def pe_gives_each_position_a_row(trial: Trial) -> None:
    """One row of d features per position, the rows differing from one another, and the same on every call."""
    first, second = (tensor_of(trial.call(5, 6), 5, 6) for _ in range(2))
    if not same(first, second):
        raise Failed("Two calls with the same arguments gave different tables.", "Nothing here is random.")
    if not all(moved(first[0], row) for row in first[1:]):
        raise Failed("Two positions have the same row.", "Row i holds sines and cosines of multiples of i.")


@check_of("positional_encoding", points=0.75)
def pe_alternates_sine_and_cosine(trial: Trial) -> None:
    """Even columns hold the sine and odd columns the cosine of i / 10000^(2*floor(j/2)/d)."""
    for length, d in ((4, 2), (7, 12)):
        agrees(
            trial,
            length,
            d,
            help="Columns 2k and 2k+1 share one angle; the first takes its sine, the second its cosine.",
        )


@check_of("positional_encoding", points=0.5)
def pe_takes_an_odd_width(trial: Trial) -> None:
    """An odd d is allowed: the last column is a sine without a cosine beside it."""
    for d in (3, 7):
        agrees(
            trial,
            5,
            d,
            help="With odd d there is one sine more than there are cosines; the exponent still divides by d.",
        )


@check_of("positional_encoding", points=0.5)
def pe_holds_far_positions(trial: Trial) -> None:
    """Far positions keep the same formula, exactly."""
    # 300: above what bfloat16 and int8 can count, below where two right float32 formulas differ by 1e-4
    agrees(
        trial, 300, 8, help="Position i itself is multiplied by the frequency, without rounding and without wrapping."
    )


@check_of("positional_encoding", points=0.25)
def pe_takes_one_position_and_one_feature(trial: Trial) -> None:
    """One position, or one feature, is enough."""
    for length, d in ((1, 4), (3, 1), (1, 1)):
        agrees(
            trial, length, d, help="Position 0 is sin 0 and cos 0 in turn; a single column is the sine of the position."
        )


@check_of("positional_encoding", points=0.25, kind="metamorphic", needs=("pe_gives_each_position_a_row",))
def pe_rows_do_not_depend_on_the_length(trial: Trial) -> None:
    """A longer table begins with the shorter one."""
    short, long = tensor_of(trial.call(4, 6), 4, 6), tensor_of(trial.call(9, 6), 9, 6)
    if not same(short, long[:4]):
        raise Failed(
            "The first rows of a longer table are not those of a shorter one.", "The angle depends on i, j and d alone."
        )


@check_of("positional_encoding", points=0.5, kind="contract", needs=("pe_gives_each_position_a_row",))
def pe_is_of_the_default_dtype(trial: Trial) -> None:
    """The table is of torch's default dtype, and on its default device."""
    value = trial.call(3, 4)
    if not isinstance(value, torch.Tensor) or value.dtype != torch.get_default_dtype():
        raise Failed(
            f"It returned {describe(value)}.", "torch.get_default_dtype() is float32 unless somebody changed it."
        )
    stays_at_home(trial, 3, 4)
