"""Hidden checks of `parameter_count`."""

from __future__ import annotations

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import readable


@check_of("parameter_count", points=0.125, kind="contract")
def count_depends_on_every_argument(trial: Trial) -> None:
    """A number that grows with each of its arguments."""
    values = []
    for args in ((8, 12, 2, 3), (9, 12, 2, 3), (8, 13, 2, 3), (8, 12, 3, 3), (8, 12, 2, 4)):
        value = trial.call(*args)
        value = value.item() if readable(value) and value.numel() == 1 else value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Failed(f"It returned {describe(value)}; a number is wanted.")
        values.append(value)
    if not all(value > values[0] for value in values[1:]):
        raise Failed("One argument more did not make the number larger.", "Each of the four arguments counts.")


@check_of("parameter_count", points=0.375)
def count_of_encoder_blocks(trial: Trial) -> None:
    """An encoder block holds four d x d matrices and two d x d_ff matrices."""
    d, d_ff, E = _sizes(trial)
    agrees(trial, d, d_ff, E, 0, help="w_q, w_k, w_v and w_o; then w_mlp1 (d, d_ff) and w_mlp2 (d_ff, d). No biases.")


@check_of("parameter_count", points=0.5)
def count_of_decoder_blocks(trial: Trial) -> None:
    """A decoder block holds twice the attention matrices of an encoder block, and one feed-forward pair."""
    d, d_ff, L = _sizes(trial)
    agrees(trial, d, d_ff, 0, L, help="Self-attention and cross-attention have four matrices each.")


@check_of("parameter_count", points=0.375)
def count_of_both_together(trial: Trial) -> None:
    """Both stacks add up."""
    d, d_ff, E = _sizes(trial)
    agrees(trial, d, d_ff, E, E + 2, help="Blocks of the encoder and of the decoder, each with its own price.")


@check_of("parameter_count", points=0.125, needs=("count_depends_on_every_argument",))
def count_of_nothing(trial: Trial) -> None:
    """No blocks hold no weights."""
    agrees(trial, 8, 32, 0, 0, help="Embeddings and the head are not counted here.")


@check_of("parameter_count", points=0.5, kind="contract", needs=("count_depends_on_every_argument",))
def count_is_a_whole_number(trial: Trial) -> None:
    """The number is an int."""
    value = trial.call(6, 10, 1, 2)
    if isinstance(value, torch.Tensor) or not isinstance(value, int):
        raise Failed(
            f"It returned {describe(value)}; an int is wanted.", "/ gives a float even where nothing is left over."
        )


def _sizes(trial: Trial) -> tuple[int, int, int]:
    """d, a d_ff that is neither d nor 4d, and a number of blocks above 1."""
    a, b, c = (int(torch.randint(6, (), generator=trial.random)) for _ in range(3))
    return 10 + a, 20 + b, 2 + c
