"""Hidden checks of `sequence_loss`."""

from __future__ import annotations

import torch

from attnlab.checking import check_of
from attnlab.compare import describe
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import keeps_dtype, outcome_of, readable, tensor_of, untouched


@check_of("sequence_loss", points=0.25, kind="contract")
def loss_depends_on_logits_and_targets(trial: Trial) -> None:
    """One number, the same on every call, that depends on the logits and on the targets."""
    logits = trial.normal(1, 2, 4)
    logits[0, [0, 1], [1, 3]] += 8.0
    # no zeros among the targets: an answer that takes 0 for padding has a check of its own
    best, worst = (torch.tensor([ids], dtype=torch.float64) for ids in ([1, 3], [2, 2]))
    values = [
        _number(outcome_of(trial, *args).value)
        for args in ((logits, best), (logits, best), (logits, worst), (2 * logits, best))
    ]
    if values[0] != values[1]:
        raise Failed("Two calls with the same arguments gave different numbers.", "Nothing here is random.")
    if len({round(value, 6) for value in values}) != 3:
        raise Failed(
            "Other targets, or other logits, gave the same number.", "It is the mean of -log softmax(logits)[target]."
        )


def _number(value: object) -> float:
    if isinstance(value, float):
        return value
    if not isinstance(value, torch.Tensor) or not readable(value) or value.numel() != 1:
        raise Failed(f"It returned {describe(value)}; a 0-dim tensor is wanted.")
    return float(value.detach().to("cpu", torch.float64).reshape(()))


@check_of("sequence_loss", points=0.625)
def loss_is_the_mean_surprise(trial: Trial) -> None:
    """The mean over all N*T positions of -log softmax(logits)[target], natural logarithm."""
    logits = trial.normal(3, 4, 7, scale=2.0)
    targets = trial.ids(3, 4, high=6) + 1
    agrees(
        trial,
        logits,
        targets,
        help="Softmax runs over the last axis; take minus its logarithm at the target, and average.",
    )


@check_of("sequence_loss", points=0.5)
def loss_leaves_padding_out(trial: Trial) -> None:
    """Positions whose target is pad_id count neither in the sum nor in the number that divides it."""
    logits = trial.normal(3, 4, 6, scale=2.0)
    targets = torch.tensor([[2, 4, 3, 5], [1, 5, 0, 5], [5, 5, 5, 5]]).double()  # uneven, and one row all padding
    agrees(
        trial, logits, targets, 5, help="Divide by the number of positions that count, over the whole batch at once."
    )


@check_of("sequence_loss", points=0.25)
def loss_counts_every_id_unless_told(trial: Trial) -> None:
    """Without pad_id every position counts, id 0 too; pad_id may be 0."""
    logits, targets = trial.normal(2, 3, 4, scale=2.0), torch.tensor([[0, 2, 0], [3, 0, 1]]).double()
    logits[:, :, 0] -= 3.0  # zeros are the surprising ones, so leaving them out shows
    agrees(trial, logits, targets, help="No id is padding unless pad_id says so.")
    agrees(trial, logits, targets, 0, help="pad_id = 0 is a pad_id: ask 'is None', not 'is it true'.")


@check_of("sequence_loss", points=0.25)
def loss_is_stable(trial: Trial) -> None:
    """Logits in the thousands give a finite loss."""
    logits = trial.normal(2, 2, 5)
    logits[0, 0, 1], logits[0, 1, 2], logits[1] = 4000.0, -5000.0, logits[1] - 3000.0
    targets = torch.tensor([[3, 2], [1, 4]]).double()
    agrees(trial, logits, targets, help="Not log(softmax(x)): x - logsumexp(x), which subtracts the maximum first.")


@check_of("sequence_loss", points=0.25, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_takes_float_targets(trial: Trial) -> None:
    """Targets may come as floats that hold integers."""
    _number(outcome_of(trial, trial.normal(2, 3, 4), trial.ids(2, 3, high=4), float_ids=True).value)


@check_of("sequence_loss", points=0.25)
def loss_takes_integer_targets(trial: Trial) -> None:
    """Targets may come as integers, and one position is enough."""
    for logits, ids in ((trial.normal(1, 1, 4), [[2]]), (trial.normal(2, 3, 4), [[1, 3, 2], [2, 1, 3]])):
        for dtype in (torch.int64, torch.int32):
            agrees(trial, logits, torch.tensor(ids, dtype=dtype), 9, help="Cast targets with .long().")


@check_of("sequence_loss", points=0.25, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_is_a_number_without_axes(trial: Trial) -> None:
    """The result is a 0-dim tensor."""
    tensor_of(outcome_of(trial, trial.normal(2, 3, 4), trial.ids(2, 3, high=4)).value)


@check_of("sequence_loss", points=0.25, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_keeps_the_dtype(trial: Trial) -> None:
    """The loss has the logits' dtype and device, and is finite."""
    targets = trial.ids(2, 3, high=4, dtype=torch.int64)
    keeps_dtype(trial, trial.normal(2, 3, 4), targets, dtypes=(torch.float32, torch.float64))


@check_of("sequence_loss", points=0.125, kind="contract", needs=("loss_depends_on_logits_and_targets",))
def loss_leaves_inputs_alone(trial: Trial) -> None:
    """Logits and targets are unchanged afterwards."""
    untouched(trial, trial.normal(2, 3, 4), torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]], dtype=torch.float64), 0)
