"""Hidden checks of `gelu`."""

from __future__ import annotations

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    agrees,
    alive,
    keeps_dtype,
    leaves_inputs,
)


def _spread(trial: Trial, *shape: int) -> torch.Tensor:
    """Entries from -10 to 10 in equal steps, in random order. Beside 10 either form of GELU does."""
    count = torch.Size(shape).numel()
    order = torch.randperm(count, generator=trial.random)
    return torch.linspace(-10.0, 10.0, count, dtype=torch.float64)[order].reshape(shape)


@check_of("gelu", points=0.25, kind="contract")
def gelu_depends_on_u(trial: Trial) -> None:
    """The output has the shape of u and depends on it."""
    u = _spread(trial, 5, 8)
    alive(trial, (u,), [(-u,)], shape=(5, 8))


@check_of("gelu", points=1.0)
def gelu_is_a_gate(trial: Trial) -> None:
    """Large positive entries pass, large negative ones are held back, and 0 is the smooth step between."""
    help = "0.5 * u * (1 + tanh(...)), term by term: u in front, u^3 inside, sqrt(2/pi) before the bracket."
    agrees(trial, _spread(trial, 9, 9), look=(trace.scaled,), help=help)


@check_of("gelu", points=0.75)
def gelu_is_the_tanh_form(trial: Trial) -> None:
    """The tanh form, not the exact one with erf: they differ by a tenth near u = -3."""
    help = "The library's default is the erf form. Near -3 it gives -0.00405, the tanh form -0.00364."
    agrees(trial, -3.0 + trial.normal(4, 5, scale=0.05), help=help)


@check_of("gelu", points=0.25)
def gelu_of_large_entries(trial: Trial) -> None:
    """Very large entries give u or 0, not NaN."""
    u = 300.0 + trial.normal(2, 4).abs()
    agrees(trial, torch.cat([u, -u, 30.0 * u, -30.0 * u]), help="torch.tanh cannot overflow; exp can.")


@check_of("gelu", points=0.25, needs=("gelu_depends_on_u",))
def gelu_takes_any_shape(trial: Trial) -> None:
    """Any shape will do, also that of a single number; each entry is on its own."""
    for shape in ((), (1,), (2, 1, 2, 3)):
        agrees(trial, _spread(trial, *shape) + 0.5, help="No axis matters here: the same formula for every entry.")


@check_of("gelu", points=0.25, kind="contract", needs=("gelu_depends_on_u",))
def gelu_leaves_input(trial: Trial) -> None:
    """u is left as it was."""
    leaves_inputs(trial, _spread(trial, 4, 5), names="u")


@check_of("gelu", points=0.25, kind="contract", needs=("gelu_depends_on_u",))
def gelu_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of u."""
    keeps_dtype(trial, trial.normal(4, 5))
