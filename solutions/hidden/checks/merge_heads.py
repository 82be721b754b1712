"""Hidden checks of `merge_heads`."""

from __future__ import annotations

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden.agreement import (
    agrees,
    alive,
    keeps_dtype,
    leaves_inputs,
)

_HELP_MERGE = "Swap the axes of heads and tokens back first, then join heads and features."


@check_of("merge_heads", points=0.5, kind="contract")
def merge_depends_on_x(trial: Trial) -> None:
    """The output is computed from the input."""
    alive(trial, (trial.normal(2, 4, 3, 2),), [(trial.normal(2, 4, 3, 2),)])


@check_of("merge_heads", points=1.0)
def merge_joins_heads(trial: Trial) -> None:
    """Every token of (N, T, h*d_k) holds the features of head 0, then those of head 1, and so on."""
    agrees(trial, trial.normal(2, 4, 3, 2), help=_HELP_MERGE)
    agrees(trial, trial.normal(3, 3, 3, 3), help=_HELP_MERGE)


@check_of("merge_heads", points=0.5)
def merge_undoes_split(trial: Trial) -> None:
    """It takes what split_heads gives, a transposed view, and restores what was split."""
    agrees(trial, trial.normal(2, 3, 4, 2).transpose(1, 2), help=_HELP_MERGE)


@check_of("merge_heads", points=0.5, needs=("merge_depends_on_x",))
def merge_takes_any_number(trial: Trial) -> None:
    """One head, one feature a head, one token and one example are all allowed."""
    for shape in ((2, 1, 3, 4), (2, 4, 3, 1), (1, 3, 1, 2)):
        agrees(trial, trial.normal(*shape), help="Axes of length 1 are no exception: no squeeze.")


@check_of("merge_heads", points=0.25, kind="contract", needs=("merge_depends_on_x",))
def merge_leaves_input(trial: Trial) -> None:
    """The input is left as it was."""
    leaves_inputs(trial, trial.normal(2, 4, 3, 2), names="x")


@check_of("merge_heads", points=0.25, kind="contract", needs=("merge_depends_on_x",))
def merge_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the input."""
    keeps_dtype(trial, trial.normal(2, 4, 3, 2))
