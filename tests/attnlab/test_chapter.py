"""Every figure that the chapter prints, to its printed digits."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attnlab import chapter
from grader.course import Course


def printed(values: Tensor, digits: int) -> list[list[str]]:
    """The rows as C's printf would show them; + 0.0 turns -0.0 into 0.0."""
    return [[f"{value:+.{digits}f}" for value in row] for row in (values + 0.0).tolist()]


def as_printed(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def test_the_generator_is_microsofts() -> None:
    # the first numbers after srand(1) are in Microsoft's own examples
    assert list(islice(chapter.microsoft_rand(1), 5)) == [41, 18467, 6334, 26500, 19169]


def test_causal_mask_figure() -> None:
    unmasked, masked = chapter.causal_tables()
    assert printed(unmasked, 2) == [["+0.20"] * 5] * 5
    assert printed(masked, 2) == as_printed("""
        +1.00 +0.00 +0.00 +0.00 +0.00
        +0.50 +0.50 +0.00 +0.00 +0.00
        +0.33 +0.33 +0.33 +0.00 +0.00
        +0.25 +0.25 +0.25 +0.25 +0.00
        +0.20 +0.20 +0.20 +0.20 +0.20
    """)


def test_cross_attention_figure() -> None:
    e = chapter.cross_attention_example()
    assert e.source == ("I", "love", "big", "fat", "cats")
    assert e.target == ("J'", "aime", "les")
    attention = Course.find(Path(__file__)).reference.functions["attention"]
    context, weights = attention(e.dec @ e.w_q.T, e.enc @ e.w_k.T, e.enc @ e.w_v.T)
    assert printed(weights, 2) == as_printed("""
        +0.62 +0.13 +0.08 +0.08 +0.08
        +0.09 +0.63 +0.10 +0.10 +0.09
        +0.06 +0.06 +0.09 +0.33 +0.45
    """)
    assert printed(context, 3) == as_printed("""
        +0.425 +0.175 -0.091 +0.582
        +0.309 +0.477 +0.139 +0.067
        +0.469 +0.076 +0.163 +0.445
    """)


def test_decoder_block_figure() -> None:
    e = chapter.decoder_block_example()
    output = chapter.decoder_block(e.dec, e.enc, e.weights)
    assert output.dtype == torch.float32
    assert printed(output, 3) == as_printed("""
        +0.328 +0.614 -0.260 +0.337 +0.038 +0.418
        +0.072 +0.325 +0.509 -0.057 +0.363 -0.328
        +0.565 -0.028 +0.175 +0.747 -0.153 +0.283
    """)


def test_full_forward_figure() -> None:
    src_ids, tgt_ids, model = chapter.full_forward_example()
    best = chapter.full_forward(src_ids, tgt_ids, model).softmax(dim=-1).max(dim=-1)
    assert best.indices.tolist() == [8, 1, 1]
    assert [f"{p:.3f}" for p in best.values.tolist()] == ["0.125", "0.111", "0.113"]


def test_parameter_arithmetic() -> None:
    count = Course.find(Path(__file__)).reference.functions["parameter_count"]

    def millions(encoder_blocks: int, decoder_blocks: int) -> float:
        return float(count(512, 2048, encoder_blocks, decoder_blocks)) / 1e6

    assert f"{millions(1, 0):.2f} {millions(0, 1):.2f}" == "3.15 4.19"
    assert f"{millions(6, 0):.1f} {millions(0, 6):.1f} {millions(6, 6):.1f}" == "18.9 25.2 44.0"
    # a decoder-only block reads no source, so it is as large as an encoder block
    assert f"{millions(12, 0):.1f}" == "37.7"


def test_an_example_is_fresh_each_time() -> None:
    chapter.cross_attention_example().dec.zero_()
    assert chapter.decoder_block_example().dec.abs().sum() > 0


def test_post_norm_ends_every_block_at_unit_size() -> None:
    e = chapter.decoder_block_example()
    size = chapter.decoder_block(e.dec, e.enc, e.weights, "post").square().mean(dim=-1)
    torch.testing.assert_close(size, torch.ones(3), rtol=1e-3, atol=0)  # eps takes 1e-5 over the mean square


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_depth_and_source_reach_the_logits(norm: chapter.NormPlace) -> None:
    src_ids, tgt_ids, one = chapter.full_forward_example()
    two = chapter.draw_model(blocks=2)
    assert len(two.encoders) == len(two.decoders) == 2
    logits = chapter.full_forward(src_ids, tgt_ids, one, norm)
    assert not torch.allclose(logits, chapter.full_forward(src_ids, tgt_ids, two, norm))
    assert not torch.allclose(logits, chapter.full_forward(src_ids.flip(0), tgt_ids, one, norm))
    # causal: the last target token moves the last row only
    changed = chapter.full_forward(src_ids, torch.tensor([0, 2, 9]), one, norm)
    torch.testing.assert_close(changed[:2], logits[:2])
    assert not torch.allclose(changed[2], logits[2])
