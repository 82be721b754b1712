"""The stand-ins agree with the reference, keep its contract, and note their use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.examine import examine
from attnlab.exercises import EXERCISES
from attnlab.recording import record
from attnlab.stand_ins import STAND_INS
from grader.course import Course

COURSE = Course.find(Path(__file__).parent)
RIGHT = COURSE.reference.functions
F64 = torch.float64


def draw(seed: int, *shape: int, scale: float = 1.0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64) * scale


def masks(T: int, S: int) -> Iterator[torch.Tensor | None]:
    yield None
    yield torch.ones(T, S, dtype=torch.bool).tril()
    yield torch.rand(2, 1, S, generator=torch.Generator().manual_seed(1)) < 0.6
    some = torch.rand(2, T, S, generator=torch.Generator().manual_seed(2)) < 0.6
    some[0, 0] = False  # a query that may read nothing
    yield some
    yield torch.tensor(True)
    yield torch.zeros(S, dtype=torch.bool)


def cases() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Exercise and arguments: masks of every shape, S = T and not, one head and several, no blocks, lying strides."""
    for length in (1, 5):
        yield "causal_mask", (length,)
    ids = torch.tensor([[3, 0, 0], [1, 2, 0]])
    yield from (("padding_mask", (each, pad)) for each in (ids, ids.double()) for pad in (0, 2))
    for T, S in ((3, 4), (4, 4)):
        for allowed in masks(T, S):
            yield "masked_softmax", (draw(1, 2, T, S), allowed)
            yield "masked_softmax", (draw(1, 2, S, T, scale=1e12).transpose(1, 2), allowed)
            for h in (1, 2, 4):
                w = draw(2, 4, 8, 8, scale=0.5)
                yield "multi_head_attention", (draw(3, 2, T, 8), draw(4, 2, S, 8), *w, h, allowed)
                yield "multi_head_attention", (draw(3, T, 2, 8).transpose(0, 1), draw(4, 2, S, 8), *w.mT, h, allowed)
        for enc_allowed, h in product((None, torch.tensor([[[True] * (S - 1) + [False]], [[False] * S]])), (1, 2)):
            yield "cross_attention", (draw(5, 2, T, 8), draw(6, 2, S, 8), draw(7, 12, 8, 8, scale=0.5), h, enc_allowed)
        yield "decoder_block", (draw(5, 2, T, 8), draw(6, 2, S, 8), draw(7, 12, 8, 8, scale=0.5), 2)
        yield "decoder_block", (draw(5, 2, T, 8), draw(6, 2, S, 8), draw(7, 12, 8, 8, scale=0.5), 1)
    for scale in (1.0, 3e-3, 0.0):
        yield "layer_norm", (draw(8, 2, 3, 6, scale=scale) + 1,)
    yield "layer_norm", (draw(8, 3, 6).T,)
    yield "feed_forward", (draw(9, 2, 3, 4, scale=3.0), draw(10, 4, 7), draw(11, 7, 4))
    for E in (0, 1, 3):
        src_ids = torch.tensor([[0.0, 4.0, 2.0], [3.0, 3.0, 1.0]], dtype=F64)
        yield "encode", (src_ids, draw(12, 5, 8), draw(13, 3, 8), draw(14, E, 6, 8, 8, scale=0.5), 2)


CASES = list(cases())


@pytest.mark.parametrize("name", STAND_INS)
def test_agrees_with_the_reference(name: str) -> None:
    mine = [args for exercise, args in CASES if exercise == name]
    assert mine
    for args in mine:
        stand_in, right = (functions[name](*args) for functions in (STAND_INS, RIGHT))
        torch.testing.assert_close(stand_in, right, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", STAND_INS)
def test_leaves_inputs_alone_and_notes_its_use(name: str) -> None:
    args = next(args for exercise, args in CASES if exercise == name)
    outcome = record(STAND_INS[name], args)
    assert outcome.changed == ()
    assert f"stand_in:{name}" in outcome.library


@pytest.mark.parametrize("name", STAND_INS)
def test_cannot_be_handed_in(name: str) -> None:
    findings = examine(name, STAND_INS[name])
    assert findings.points == 0
    assert "this exercise is to write that function" in findings.results[0].rationale


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_keeps_the_dtype(dtype: torch.dtype) -> None:
    for name, args in CASES:
        sent = tuple(a.to(dtype) if isinstance(a, torch.Tensor) and a.dtype == F64 else a for a in args)
        if name in ("padding_mask", "causal_mask"):
            continue
        value = STAND_INS[name](*sent)
        assert isinstance(value, torch.Tensor)
        assert value.dtype == dtype
        assert value.isfinite().all()


@pytest.mark.parametrize("name", STAND_INS)
def test_keeps_the_device(name: str) -> None:
    for exercise, args in CASES:
        if exercise != name:
            continue
        sent = tuple(a.to("meta") if isinstance(a, torch.Tensor) else a for a in args)
        value = STAND_INS[name](*sent, **({"device": "meta"} if name == "causal_mask" else {}))
        assert isinstance(value, torch.Tensor)
        assert value.device.type == "meta"


def test_hidden_keys_weigh_nothing_at_any_scale() -> None:
    scores, allowed = draw(1, 3, 4) - 1e12, torch.ones(3, 4, dtype=torch.bool).tril()
    weights = STAND_INS["masked_softmax"](scores, allowed)
    assert isinstance(weights, torch.Tensor)
    assert not weights[~allowed].any()
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, dtype=F64))


def test_a_row_with_no_key_gives_gradients_that_are_numbers() -> None:
    scores = draw(1, 3, 4).requires_grad_()
    allowed = torch.ones(3, 4, dtype=torch.bool)
    allowed[1] = False
    weights = STAND_INS["masked_softmax"](scores, allowed)
    assert isinstance(weights, torch.Tensor)
    (weights**2).sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


def test_all_that_a_lesson_takes_has_a_stand_in_and_nothing_else_has() -> None:
    taken = set()
    for lesson in COURSE.lessons.values():
        for cell in lesson.of_kind("given", "solution", "show"):
            for node in ast.walk(ast.parse(cell.source)):
                match node:
                    case ast.Call(
                        func=ast.Name(id="earlier"), args=[ast.Constant(value=place), ast.Constant(value=name)]
                    ):
                        assert EXERCISES[name].lesson == place
                        taken.add(name)
    assert taken == set(STAND_INS)
