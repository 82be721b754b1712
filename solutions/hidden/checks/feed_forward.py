"""Hidden checks of `feed_forward`."""

from __future__ import annotations

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden import fingerprints as trace
from solutions.hidden.agreement import (
    Args,
    agrees,
    alive,
    keeps_dtype,
    leaves_inputs,
    replaced,
    shaped,
    stays,
)
from solutions.hidden.inputs import (
    feed_forward_far,
    feed_forward_near,
)


def _layers(trial: Trial, *rows: int, d: int = 12, d_ff: int = 12) -> Args:
    """x (..., d) and the two matrices, for which either form of GELU does, and a tanh made of exponentials."""
    # without a residual beside them outputs are compared more closely, so the first matrix is steeper than a block's
    w_mlp1, w_mlp2 = feed_forward_far(trial, d, d_ff, steep=8.0)
    x = trial.normal(*rows, d)
    largest = (x @ w_mlp1).abs().amax(dim=-1, keepdim=True)
    return x * (20.0 / largest).clamp(max=1.0), w_mlp1, w_mlp2  # from 21.5 on exp(2z) overflows


@check_of("feed_forward", points=0.25, kind="contract")
def ff_depends_on_x(trial: Trial) -> None:
    """The output has the shape of x and depends on the inputs."""
    args, others = (_layers(trial, 2, 3) for _ in range(2))
    alive(trial, args, [others], shape=(2, 3, 12))


@check_of("feed_forward", points=1.0)
def ff_is_two_products(trial: Trial) -> None:
    """The first matrix, GELU, the second matrix, in this order; also when both are square."""
    agrees(trial, *_layers(trial, 3, 6), look=(trace.scaled,), help="gelu(x @ w_mlp1) @ w_mlp2")


@check_of("feed_forward", points=0.5)
def ff_takes_any_width(trial: Trial) -> None:
    """The hidden width may differ from d, and any number of axes may stand before the last."""
    agrees(trial, *_layers(trial, 12, d=12, d_ff=16), help="w_mlp1 is (d, d_ff), w_mlp2 is (d_ff, d): x @ w.")
    agrees(trial, *_layers(trial, 2, 1, 6, d=12, d_ff=8), help="Leave the axes before the last to the matrix product.")


@check_of("feed_forward", points=0.5)
def ff_uses_the_tanh_form(trial: Trial) -> None:
    """The GELU between the products is the tanh form."""
    x = trial.normal(4, 12)
    agrees(trial, x, *feed_forward_near(trial, x), help="Use your gelu: near -3 the erf form is off by a tenth.")


@check_of("feed_forward", points=0.25, kind="metamorphic", needs=("ff_depends_on_x",))
def ff_keeps_tokens_apart(trial: Trial) -> None:
    """Each token is worked on alone."""
    args = _layers(trial, 2, 3)
    other = trial.normal(2, 3, 12, scale=3.0)
    other[0, 0] = args[0][0, 0]
    before, after = (shaped(trial, given, (2, 3, 12)) for given in (args, replaced(args, a0=other)))
    stays(before[0, 0], after[0, 0], "One token's output changes with the other tokens.", "No sum over positions here.")


@check_of("feed_forward", points=0.25, kind="contract", needs=("ff_depends_on_x",))
def ff_leaves_inputs(trial: Trial) -> None:
    """x and both matrices are left as they were."""
    leaves_inputs(trial, *_layers(trial, 2, 3), names="x,w_mlp1,w_mlp2")


@check_of("feed_forward", points=0.25, kind="contract", needs=("ff_depends_on_x",))
def ff_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of x."""
    x = trial.normal(6, 12)
    w_mlp1, w_mlp2 = feed_forward_near(trial, x, gain=1.0)  # small pre-activations: none is large for a short dtype
    keeps_dtype(trial, x.reshape(2, 3, 12), w_mlp1, w_mlp2)
