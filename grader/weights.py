"""The translator's weights, made from the lesson's own text: nobody types or copies them."""

from __future__ import annotations

import torch
from safetensors.torch import save

from attnlab.training import batches, new_weights
from grader.course import Course

__all__ = ["PLACE", "make", "trained"]

PLACE = "notebooks/attnlab/weights/translator.safetensors"
"""Where the file lies in the course."""
LESSON = "04_full_forward"
ROWS = 16
"""Rows of the two position tables: the grammar's longest sentence has 10 words and </s>; learners try longer ones."""


def make(course: Course) -> bytes:
    """Train the translator with the reference and give the file that attnlab.translator reads.

    The same bytes on every run of one machine: seeds are fixed, and the lesson trains on one thread. Takes about 20
    seconds.
    """
    lesson = course.reference.namespaces({})[LESSON]
    weights, losses = trained(course, seed=lesson["SEED"])
    table = lesson["positional_encoding"](ROWS, lesson["WIDTH"])
    tensors = {name: weight.detach() for name, weight in weights.items()}
    tensors |= {"enc_pos_embed": table, "dec_pos_embed": table.clone()}
    tensors |= {"losses": torch.tensor(losses), "num_heads": torch.tensor(lesson["HEADS"])}
    return save({name: tensors[name].contiguous() for name in sorted(tensors)})


def trained(course: Course, seed: int, steps: int | None = None) -> tuple[dict[str, torch.Tensor], list[float]]:
    """Weights and losses of the lesson's training run from this seed; of its first `steps` steps where given."""
    lesson = course.reference.namespaces({})[LESSON]
    weights = new_weights(lesson["WIDTH"], lesson["BLOCKS"], lesson["BLOCKS"], seed)
    stream = batches(lesson["SENTENCES"].train, lesson["BATCH"], seed)
    some = stream if steps is None else [next(stream) for _ in range(steps)]
    losses = lesson["train"](weights, some, lesson["FULL_RUN"])
    return weights, losses
