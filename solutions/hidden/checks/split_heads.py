"""Hidden checks of `split_heads`."""

from __future__ import annotations

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden.agreement import (
    agrees,
    alive,
    keeps_dtype,
    leaves_inputs,
)
from solutions.hidden.inputs import strided


@check_of("split_heads", points=0.5, kind="contract")
def split_depends_on_x(trial: Trial) -> None:
    """The output is computed from the input."""
    alive(trial, (trial.normal(2, 3, 8), 4), [(trial.normal(2, 3, 8), 4)])


@check_of("split_heads", points=1.5)
def split_cuts_features(trial: Trial) -> None:
    """Head i of (N, h, T, d_k) holds features i*d_k ... (i+1)*d_k - 1 of every token."""
    help = "Cut the last axis into (h, d_k) first, then swap the axes of tokens and heads."
    agrees(trial, trial.normal(2, 3, 8), 4, help=help)
    agrees(trial, trial.normal(3, 3, 9), 3, help=help)
    agrees(trial, strided(trial.normal(2, 5, 6)), 2, help=help)


@check_of("split_heads", points=0.5, needs=("split_depends_on_x",))
def split_takes_any_number(trial: Trial) -> None:
    """One head, one feature a head, one token and one example are all allowed."""
    for (N, T, d), h in (((2, 3, 4), 1), ((2, 3, 4), 4), ((1, 1, 6), 3)):
        agrees(trial, trial.normal(N, T, d), h, help="Axes of length 1 stay: no squeeze.")


@check_of("split_heads", points=0.25, kind="contract", needs=("split_depends_on_x",))
def split_leaves_input(trial: Trial) -> None:
    """The input is left as it was."""
    leaves_inputs(trial, trial.normal(2, 3, 8), 2, names="x,num_heads")


@check_of("split_heads", points=0.25, kind="contract", needs=("split_depends_on_x",))
def split_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the input."""
    keeps_dtype(trial, trial.normal(2, 3, 8), 2)
