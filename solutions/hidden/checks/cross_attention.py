"""Hidden checks of `cross_attention`."""

from __future__ import annotations

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from solutions.hidden.agreement import (
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
    BlockInputs,
    Size,
    all_but,
    but_first_example,
    decoder_inputs,
    weights,
)


def _block(trial: Trial, N: int, T: int, S: int, h: int) -> BlockInputs:
    return decoder_inputs(trial, "strong", Size(N=N, T=T, S=S, h=h))


@check_of("cross_attention", points=0.25, kind="contract")
def cross_depends_on_inputs(trial: Trial) -> None:
    """The output has the shape of dec and depends on the inputs."""
    alive_in_batch(trial, _block(trial, 1, 3, 3, 2).args, batched=(0, 1))


@check_of("cross_attention", points=1.0)
def cross_matches(trial: Trial) -> None:
    """Queries from dec, keys and values from enc, with slots 4 ... 7 as w_q, w_k, w_v, w_o."""
    help = "multi_head_attention(dec, enc, ...) with block[4:8]."
    agrees(trial, *_block(trial, 3, 4, 6, 4).args, look=ROWS, help=help)
    agrees(trial, *_block(trial, 1, 5, 2, 1).args, look=ROWS, help=help)


@check_of("cross_attention", points=0.5)
def cross_is_never_causal(trial: Trial) -> None:
    """Every query reads every source position, also when S == T."""
    help = "The source is fully known: no causal mask here."
    agrees(trial, *_block(trial, 2, 5, 5, 2).args, look=ROWS, help=help)


@check_of("cross_attention", points=0.5, kind="metamorphic", needs=("cross_depends_on_inputs",))
def cross_ignores_other_slots(trial: Trial) -> None:
    """Slots outside 4 ... 7 change nothing."""
    x = _block(trial, 2, 3, 4, 2)
    other = weights(trial, 12, 12, 12)
    other[4:8] = x.block[4:8]
    before, after = (shaped(trial, replaced(x.args, a2=block), (2, 3, 12)) for block in (x.block, other))
    stays(before, after, "The output changes with slots outside 4 ... 7.", "Slots 0 ... 3 belong to self-attention.")


@check_of("cross_attention", points=0.75, kind="metamorphic", needs=("cross_depends_on_inputs",))
def cross_heeds_enc_allowed(trial: Trial) -> None:
    """Source positions that enc_allowed (N, 1, S) hides have no effect; each example has its own."""
    help = "Pass enc_allowed on as the mask; True stands for: may be read."
    x = _block(trial, 2, 3, 4, 2)
    allowed = all_but(2, 1, 4)
    far = x.enc + 3.0 * trial.normal(2, 4, 12)
    before = shaped(trial, (*x.args, allowed), (2, 3, 12))
    after = shaped(trial, (*replaced(x.args, a1=torch.where(allowed[:, 0, :, None], x.enc, far)), allowed), (2, 3, 12))
    moved = shaped(trial, (*replaced(x.args, a1=torch.where(allowed[:, 0, :, None], far, x.enc)), allowed), (2, 3, 12))
    for n in range(2):
        stays(before[n], after[n], f"A hidden source position changes the output of example {n}.", help)
        moves(before[n], moved[n], f"Source positions that may be read have no effect in example {n}.", help)


@check_of("cross_attention", points=0.5, kind="metamorphic", needs=("cross_depends_on_inputs",))
def cross_keeps_examples_apart(trial: Trial) -> None:
    """Examples of a batch never influence each other."""
    x = _block(trial, 3, 3, 3, 2)
    other = replaced(x.args, a0=but_first_example(trial, x.dec), a1=but_first_example(trial, x.enc))
    examples_apart(trial, x.args, other, (3, 3, 12))


@check_of("cross_attention", points=0.25, kind="contract", needs=("cross_depends_on_inputs",))
def cross_leaves_inputs(trial: Trial) -> None:
    """dec, enc, block and mask are left as they were."""
    names = "dec,enc,block,num_heads,enc_allowed"
    leaves_inputs(trial, *_block(trial, 2, 3, 3, 2).args, all_but(2, 1, 3), names=names)


@check_of("cross_attention", points=0.25, kind="contract", needs=("cross_depends_on_inputs",))
def cross_keeps_dtype(trial: Trial) -> None:
    """The output has the dtype and the device of the inputs."""
    keeps_dtype(trial, *_block(trial, 2, 3, 3, 2).args, all_but(2, 1, 3))
