"""Hidden checks of `encode`."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnlab.checking import check_of
from attnlab.trial import Trial
from attnlab.verdict import Failed
from solutions.hidden.agreement import agrees
from solutions.hidden.asking import keeps_dtype, moved, outcome_of, same, tensor_of, untouched
from solutions.hidden.inputs import BLOCK, Model, Size, model


@check_of("encode", points=0.125, kind="contract")
def encode_depends_on_the_source(trial: Trial) -> None:
    """The output is (N, S, d), the same for the same sentence and different for another one."""
    m = model(trial, size=replace(BLOCK, L=0))
    ids = torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 1.0]], dtype=torch.float64)
    out, again = (
        tensor_of(outcome_of(trial, ids, *_encoding(m)[1:]).value, 2, *m.enc_pos_embed.shape) for _ in range(2)
    )
    if not same(out, again):
        raise Failed("Two calls with the same arguments gave different numbers.", "Nothing here is random.")
    if not moved(out[0], out[1]):
        raise Failed("Two different sentences came out the same.", "Look the ids up in src_emb.")
    if same(out, m.src_emb[ids.long()]):
        raise Failed("It returned the embeddings as they are.", "Add the positions, then run the blocks.")


@check_of("encode", points=0.375, needs=("encode_depends_on_the_source",))
def encode_adds_positions_and_runs_the_blocks(trial: Trial) -> None:
    """Embeddings plus positions go through the blocks in order."""
    m = model(trial, size=Size(E=2, L=0))
    agrees(
        trial,
        *_encoding(m),
        help="enc = src_emb[src_ids] + enc_pos_embed, then every block of enc_blocks, first to last.",
    )


@check_of("encode", points=0.25)
def encode_takes_no_blocks(trial: Trial) -> None:
    """With E = 0 the embeddings plus positions are the result, and nothing normalises them."""
    m = model(trial, size=Size(E=0, L=0))
    agrees(trial, *_encoding(m), help="Zero blocks is legal. There is no norm before or after the blocks.")


@check_of("encode", points=0.25, kind="metamorphic", needs=("encode_depends_on_the_source",))
def encode_knows_the_order_of_words(trial: Trial) -> None:
    """Position s gets row s of enc_pos_embed, in every example."""
    m = model(trial, size=replace(BLOCK, E=0, L=0))
    ids = torch.zeros(2, 3, dtype=torch.float64)
    out = tensor_of(
        outcome_of(trial, ids, m.src_emb, m.enc_pos_embed, m.enc_blocks, 2).value, 2, *m.enc_pos_embed.shape
    )
    for s in range(1, 3):
        if not same(out[:, s] - out[:, 0], (m.enc_pos_embed[s] - m.enc_pos_embed[0]).expand(2, BLOCK.d)):
            raise Failed(
                "With the same word everywhere and no blocks, positions do not differ by their rows of enc_pos_embed.",
                "(N, S, d) + (S, d) broadcasts over the batch. Assign the sum.",
            )


@check_of("encode", points=0.25, kind="contract", needs=("encode_depends_on_the_source",))
def encode_takes_float_ids(trial: Trial) -> None:
    """Ids come as floats that hold integers."""
    m = model(trial, size=replace(BLOCK, L=0))
    tensor_of(outcome_of(trial, *_encoding(m), float_ids=True).value, 2, *m.enc_pos_embed.shape)


@check_of("encode", points=0.125)
def encode_takes_integer_ids(trial: Trial) -> None:
    """Ids may come as integers too, and one sentence of one word is enough."""
    m = model(trial, size=Size(N=1, S=1, T=1, d=4, h=1, E=1, L=0))
    agrees(trial, m.src_ids.int(), *_encoding(m)[1:], help="Cast ids with .long(), whatever they come as.")


@check_of("encode", points=0.125, kind="metamorphic", needs=("encode_depends_on_the_source",))
def encode_keeps_examples_apart(trial: Trial) -> None:
    """Another sentence in the batch changes nothing."""
    m = model(trial, size=replace(BLOCK, L=0))
    other = m.src_ids.clone()
    other[1] = (other[1] + 1) % 6
    one, two = (
        tensor_of(outcome_of(trial, i, *_encoding(m)[1:]).value, 2, *m.enc_pos_embed.shape) for i in (m.src_ids, other)
    )
    if not same(one[0], two[0]):
        raise Failed("Sentence 0 changed when sentence 1 did.", "Batch examples never read each other.")


@check_of("encode", points=0.25, kind="contract", needs=("encode_depends_on_the_source",))
def encode_keeps_the_dtype(trial: Trial) -> None:
    """The output has the parameters' dtype and device, and is finite, in short dtypes too."""
    keeps_dtype(trial, *_encoding(model(trial, size=replace(BLOCK, L=0))))


@check_of("encode", points=0.25, kind="contract", needs=("encode_depends_on_the_source",))
def encode_leaves_inputs_alone(trial: Trial) -> None:
    """Ids, tables and weights are unchanged afterwards."""
    untouched(trial, *_encoding(model(trial, size=replace(BLOCK, L=0))))


def _encoding(m: Model) -> tuple[object, ...]:
    """The arguments of encode."""
    return m.src_ids, m.src_emb, m.enc_pos_embed, m.enc_blocks, m.num_heads
