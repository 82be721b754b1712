"""Hidden checks of `layer_norm`."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    agrees,
    alive,
    keeps_dtype,
    leaves_inputs,
    shaped,
    stays,
)
from solutions.hidden.inputs import (
    FAINT,
    strided,
)


def _tokens(trial: Trial, *shape: int) -> torch.Tensor:
    """Tokens (..., d) of means between -2 and 2 and standard deviations between 1 and 3, far above eps."""
    rows = shape[:-1]
    mean, spread = (torch.rand(*rows, 1, generator=trial.random, dtype=torch.float64) for _ in range(2))
    return 4.0 * mean - 2.0 + (1.0 + 2.0 * spread) * F.layer_norm(trial.normal(*shape), shape[-1:])


_NORM = (trace.nan_rows, trace.one_example, trace.statistics)


@check_of("layer_norm", points=0.5, kind="contract")
def norm_depends_on_x(trial: Trial) -> None:
    """The output has the shape of x and depends on it."""
    alive(trial, (_tokens(trial, 2, 3, 6),), [(_tokens(trial, 2, 3, 6),)], shape=(2, 3, 6))


@check_of("layer_norm", points=1.25)
def norm_is_mean_0_variance_1(trial: Trial) -> None:
    """Each token ends with mean 0 and variance 1, the variance being the mean of the squares (divide by d)."""
    help = "(x - mean) / sqrt(variance + 1e-5), both over the last axis, unbiased=False."
    agrees(trial, _tokens(trial, 3, 4, 6), look=_NORM, help=help)
    agrees(trial, strided(_tokens(trial, 2, 5, 5)), look=_NORM, help=help)


@check_of("layer_norm", points=0.25, needs=("norm_depends_on_x",))
def norm_takes_any_axes(trial: Trial) -> None:
    """Any number of axes may stand before the last, also none."""
    agrees(trial, _tokens(trial, 8), help="Count axes from the end: dim=-1.")
    agrees(trial, _tokens(trial, 2, 1, 3, 8), help="Count axes from the end: dim=-1.")


@check_of("layer_norm", points=0.5, kind="metamorphic", needs=("norm_depends_on_x",))
def norm_keeps_tokens_apart(trial: Trial) -> None:
    """Each token is normalised over its own features; other tokens and examples have no say."""
    x, other = _tokens(trial, 3, 4, 6), 3.0 * _tokens(trial, 3, 4, 6)
    other[0, 0] = x[0, 0]
    before, after = (shaped(trial, (given,), (3, 4, 6)) for given in (x, other))
    help = "Mean and variance over the last axis alone: dim=-1, keepdim=True."
    stays(before[0, 0], after[0, 0], "One token changes with the others.", help)


@check_of("layer_norm", points=0.5)
def norm_adds_eps_inside_root(trial: Trial) -> None:
    """Nearly constant tokens: 1e-5 is added to the variance, under the root."""
    help = "Right for ordinary tokens? Then it is eps: 1e-5, inside the root, sqrt(variance + 1e-5)."
    # standard deviations from a third to three times sqrt(eps)
    spread = FAINT * torch.tensor([1 / 3, 1.0, 3.0], dtype=torch.float64)[:, None]
    agrees(trial, spread * F.layer_norm(trial.normal(2, 3, 8), (8,), eps=0.0), look=_NORM, help=help)


@check_of("layer_norm", points=0.5, needs=("norm_depends_on_x",))
def norm_of_constant_token(trial: Trial) -> None:
    """A token whose features are all equal gives zeros, not NaN."""
    x = _tokens(trial, 2, 3, 6)
    x[0, 1], x[1, 1] = 2.0, 0.0
    # the other tokens are other checks' clauses
    agrees(trial, x, part=_token_1, help="Its variance is 0: eps keeps you from dividing by 0.")


def _token_1(value: Any) -> Any:
    """Token 1 of each example, as (N, d); what has no such token is left to the comparison."""
    return value[:, 1] if isinstance(value, torch.Tensor) and value.dim() == 3 else value


@check_of("layer_norm", points=0.25, kind="contract", needs=("norm_depends_on_x",))
def norm_leaves_input(trial: Trial) -> None:
    """x is left as it was."""
    leaves_inputs(trial, _tokens(trial, 2, 3, 6), names="x")


@check_of("layer_norm", points=0.25, kind="contract", needs=("norm_depends_on_x",))
def norm_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of x."""
    keeps_dtype(trial, _tokens(trial, 2, 3, 6))
