"""Hidden checks of `multi_head_attention`."""

from __future__ import annotations

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden.agreement import (
    Args,
    agrees,
    alive_in_batch,
    examples_apart,
    keeps_dtype,
    leaves_inputs,
    moves,
    replaced,
    shaped,
    stays,
)
from solutions.hidden.fingerprints import ROWS
from solutions.hidden.inputs import (
    CALM,
    all_but,
    but_first_example,
    weights,
)


def _heads(trial: Trial, N: int, T: int, S: int, h: int, d: int = 12) -> Args:
    """x_q, x_kv, four matrices and the number of heads."""
    w_q, w_k = weights(trial, 2, d, d, scale=CALM)
    return trial.normal(N, T, d), trial.normal(N, S, d), w_q, w_k, *weights(trial, 2, d, d), h


@check_of("multi_head_attention", points=0.25, kind="contract")
def heads_depend_on_inputs(trial: Trial) -> None:
    """The output has the shape of x_q and depends on the inputs."""
    alive_in_batch(trial, _heads(trial, 1, 3, 3, 2), batched=(0, 1))


@check_of("multi_head_attention", points=1.0)
def heads_match(trial: Trial) -> None:
    """Project with the whole matrices, split into heads, attend, merge, project."""
    help = "Try num_heads = 1 and the shapes after each step: which step is the first to differ from what you expect?"
    agrees(trial, *_heads(trial, 3, 4, 6, 4), look=ROWS, help=help)
    agrees(trial, *_heads(trial, 2, 4, 4, 3), look=ROWS, help=help)


@check_of("multi_head_attention", points=0.5)
def one_head_matches(trial: Trial) -> None:
    """With one head it is attention of the projected inputs, projected once more; one example is enough."""
    help = "Splitting does nothing here: look at the four products with the weights, x @ w, and at the scale."
    agrees(trial, *_heads(trial, 1, 3, 5, 1), look=ROWS, help=help)


@check_of("multi_head_attention", points=0.25, kind="metamorphic", needs=("heads_depend_on_inputs",))
def values_come_from_x_kv(trial: Trial) -> None:
    """With a single key every query gets that position's value, whatever x_q holds."""
    args = _heads(trial, 2, 3, 1, 2)
    before = shaped(trial, args, (2, 3, 12))
    after = shaped(trial, replaced(args, a0=trial.normal(2, 3, 12)), (2, 3, 12))
    help = "Keys and values come from x_kv, only queries from x_q."
    stays(before, after, "With one key to read the output still changes with x_q.", help)


@check_of("multi_head_attention", points=0.75, kind="metamorphic", needs=("heads_depend_on_inputs",))
def heads_heed_mask(trial: Trial) -> None:
    """Positions that are not allowed have no effect, in any head; the others have. The mask broadcasts to (N, T, S)."""
    help = "Give the mask an axis for the heads, (N, 1, T, S): the same for every head, its own for every example."
    # two examples, two heads: a mask of one axis taken for the other's does not raise here
    N, T, S = 2, 3, 4
    args = _heads(trial, N, T, S, 2)
    far = args[1] + 3.0 * trial.normal(N, S, 12)
    # example 0 may not read position 0, example 1 not position 1
    mask = all_but(N, 1, S)
    hidden = ~mask[:, 0, :, None]
    before = shaped(trial, (*args, mask), (N, T, 12))
    after = shaped(trial, (*replaced(args, a1=torch.where(hidden, far, args[1])), mask), (N, T, 12))
    moved = shaped(trial, (*replaced(args, a1=torch.where(hidden, args[1], far)), mask), (N, T, 12))
    for n in range(N):
        stays(before[n], after[n], f"A position that may not be read changes the output of example {n}.", help)
        moves(before[n], moved[n], f"Positions that may be read have no effect in example {n}.", help)
    written_out = shaped(trial, (*args, all_but(N, T, S)), (N, T, 12))
    stays(before, written_out, "Masks (N, 1, S) and (N, T, S) that say the same give different outputs.", help)
    low = torch.ones(T, S, dtype=torch.bool).tril()
    before, after = (
        shaped(trial, (*replaced(args, a1=x), low), (N, T, 12)) for x in (args[1], _but_first(args[1], far))
    )
    stays(before[:, 0], after[:, 0], "A mask (T, S): row 0 changes with a position that it may not read.", help)
    moves(before[:, 1], after[:, 1], "A mask (T, S): row 1 does not change with a position that it may read.", help)


def _but_first(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Position 0 of x, the rest of other."""
    return torch.cat([x[:, :1], other[:, 1:]], dim=1)


@check_of("multi_head_attention", points=0.5, kind="metamorphic", needs=("heads_depend_on_inputs",))
def heads_keep_examples_apart(trial: Trial) -> None:
    """Examples of a batch never influence each other."""
    args = _heads(trial, 3, 3, 3, 2)
    other = replaced(args, a0=but_first_example(trial, args[0]), a1=but_first_example(trial, args[1]))
    examples_apart(trial, args, other, (3, 3, 12))


@check_of("multi_head_attention", points=0.25, kind="contract", needs=("heads_depend_on_inputs",))
def heads_leave_inputs(trial: Trial) -> None:
    """Inputs, weights and mask are left as they were."""
    names = "x_q,x_kv,w_q,w_k,w_v,w_o,num_heads,allowed"
    leaves_inputs(trial, *_heads(trial, 2, 3, 3, 2), all_but(2, 1, 3), names=names)


@check_of("multi_head_attention", points=0.5, kind="contract", needs=("heads_depend_on_inputs",))
def heads_keep_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the inputs."""
    keeps_dtype(trial, *_heads(trial, 2, 3, 3, 2), all_but(2, 1, 3))
