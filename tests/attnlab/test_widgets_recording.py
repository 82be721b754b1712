"""Weights are recorded where they are made, whatever the style, and nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnlab.stand_ins import STAND_INS
from attnlab.widgets.recorder import recorded_attention

HEAD = """
import math, torch
import torch.nn.functional as F

def split(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)

def attention(q, k, v, allowed=None):
    weights = masked_softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), allowed)
    return weights @ v, weights

def wide(allowed, N, T, S):
    return None if allowed is None else allowed.expand(N, T, S)[:, None]
"""
STYLES = {
    "attention": """
def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = split(x_q @ w_q, num_heads), split(x_kv @ w_k, num_heads), split(x_kv @ w_v, num_heads)
    mixed, _ = attention(q, k, v, wide(allowed, len(x_q), x_q.shape[1], x_kv.shape[1]))
    return mixed.transpose(1, 2).flatten(2) @ w_o
""",
    "masked softmax only": """
def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = split(x_q @ w_q, num_heads), split(x_kv @ w_k, num_heads), split(x_kv @ w_v, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = masked_softmax(scores, wide(allowed, len(x_q), x_q.shape[1], x_kv.shape[1]))
    return (weights @ v).transpose(1, 2).flatten(2) @ w_o
""",
    "torch's softmax": """
def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = split(x_q @ w_q, num_heads), split(x_kv @ w_k, num_heads), split(x_kv @ w_v, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~wide(allowed, len(x_q), x_q.shape[1], x_kv.shape[1]), -torch.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_o
""",
    "the library's attention": """
def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = split(x_q @ w_q, num_heads), split(x_kv @ w_k, num_heads), split(x_kv @ w_v, num_heads)
    mask = wide(allowed, len(x_q), x_q.shape[1], x_kv.shape[1])
    return F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2) @ w_o
""",
    "head by head": """
def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = (m.chunk(num_heads, -1) for m in (x_q @ w_q, x_kv @ w_k, x_kv @ w_v))
    return torch.cat([attention(*qkv, allowed)[0] for qkv in zip(q, k, v)], -1) @ w_o
""",
    "heads in the batch": """
def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = (split(m, num_heads).flatten(0, 1) for m in (x_q @ w_q, x_kv @ w_k, x_kv @ w_v))
    N, T, S = len(x_q), x_q.shape[1], x_kv.shape[1]
    mask = None if allowed is None else allowed.expand(N, T, S).repeat_interleave(num_heads, 0)
    return attention(q, k, v, mask)[0].unflatten(0, (N, -1)).transpose(1, 2).flatten(2) @ w_o
""",
    "an object that is called": """
class Attention:
    def __call__(self, q, k, v, allowed=None):
        weights = masked_softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), allowed)
        return weights @ v, weights
attention = Attention()
def multi_head_attention(x_q, x_kv, w_q, w_k, w_v, w_o, num_heads, allowed=None):
    q, k, v = split(x_q @ w_q, num_heads), split(x_kv @ w_k, num_heads), split(x_kv @ w_v, num_heads)
    mixed, _ = attention(q, k, v, wide(allowed, len(x_q), x_q.shape[1], x_kv.shape[1]))
    return mixed.transpose(1, 2).flatten(2) @ w_o
""",
}
BLOCK = """
def cross_attention(dec, enc, block, num_heads, enc_allowed=None):
    return multi_head_attention(dec, enc, *block[4:8], num_heads, enc_allowed)

def decoder_block(dec, enc, block, num_heads):
    causal = torch.ones(dec.shape[1], dec.shape[1], dtype=torch.bool).tril()
    dec = layer_norm(dec + multi_head_attention(dec, dec, *block[:4], num_heads, causal))
    return layer_norm(dec + cross_attention(dec, enc, block, num_heads))

def forward(dec, enc, blocks, num_heads):
    for block in blocks:
        dec = decoder_block(dec, enc, block, num_heads)
    return dec
"""
N, T, S, d, h = 2, 4, 3, 8, 2


def notebook(source: str) -> dict[str, Any]:
    """The names that a notebook with this text would hold."""
    names: dict[str, Any] = {name: STAND_INS[name] for name in ("masked_softmax", "layer_norm")}
    exec(HEAD + source, names)
    return names


@pytest.fixture
def inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(*shape, generator=random, dtype=torch.float64) for shape in ((N, T, d), (N, S, d), (2, 12, d, d))
    )


def by_hand(x_q: torch.Tensor, x_kv: torch.Tensor, block: torch.Tensor, first: int, causal: bool) -> torch.Tensor:
    """Weights (h, T, S) of the first example, head by head."""
    made = []
    for q, k in zip((x_q[0] @ block[first]).chunk(h, -1), (x_kv[0] @ block[first + 1]).chunk(h, -1), strict=True):
        scores = q @ k.T / (d / h) ** 0.5
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape).triu(1).bool(), -torch.inf)
        made.append(scores.softmax(-1))
    return torch.stack(made)


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_seen(style: str, inputs: Any) -> None:
    names, (dec, enc, blocks) = notebook(STYLES[style] + BLOCK), inputs
    with recorded_attention(names["forward"]) as seen:
        names["forward"](dec, enc, blocks, h)
    assert seen.problem == ""
    assert [(a.kind, a.layer, tuple(a.weights.shape)) for a in seen.attentions] == [
        ("decoder", 0, (h, T, T)), ("cross", 0, (h, T, S)), ("decoder", 1, (h, T, T)), ("cross", 1, (h, T, S)),
    ]  # fmt: skip
    first = seen.attentions[0]
    torch.testing.assert_close(first.weights, by_hand(dec, dec, blocks[0], 0, causal=True))
    assert first.allowed is not None and first.allowed.equal(torch.ones(T, T).tril().bool())
    assert first.made_by == "made by your functions" and first.warnings() == ()


@pytest.mark.parametrize("length", [S, T])
def test_self_and_cross_attention_are_never_taken_for_each_other(length: int, inputs: Any) -> None:
    """Also where both maps are square: the swap that a title once hid."""
    names, (dec, enc, blocks) = notebook(STYLES["attention"] + BLOCK), inputs
    enc = torch.cat([enc, enc], dim=1)[:, :length]
    with recorded_attention(names["forward"]) as seen:
        names["forward"](dec, enc, blocks[:1], h)
    (own,), (cross,) = seen.of("decoder"), seen.of("cross")
    torch.testing.assert_close(own.weights, by_hand(dec, dec, blocks[0], 0, causal=True))
    assert own.title.startswith("decoder self-attention") and cross.title.startswith("cross-attention")
    assert own.weights.triu(1).sum() == 0 and cross.weights[..., -1].min() > 0


def test_attention_inside_the_block_is_told_by_its_order(inputs: Any) -> None:
    source = """
def decoder_block(dec, enc, block, num_heads):
    for x, at in ((dec, 0), (enc, 4)):
        q, k, v = (split(y, num_heads) for y in (dec @ block[at], x @ block[at + 1], x))
        dec = dec + attention(q, k, v)[0].transpose(1, 2).flatten(2)
    return dec
"""
    names, (dec, enc, blocks) = notebook(source), inputs
    with recorded_attention(names["decoder_block"]) as seen:
        names["decoder_block"](dec, enc, blocks[0], h)
    assert [(a.kind, tuple(a.weights.shape)) for a in seen.attentions] == [("decoder", (h, T, T)), ("cross", (h, T, S))]


def test_stand_ins_are_seen_and_named(inputs: Any) -> None:
    names, (dec, enc, blocks) = {"decoder_block": STAND_INS["decoder_block"]}, inputs
    exec("def forward(dec, enc, blocks, h):\n    return decoder_block(dec, enc, blocks[0], h)", names)
    with recorded_attention(names["forward"], source="x y z", target="a b c d") as seen:
        names["forward"](dec, enc, blocks, h)
    own, cross = seen.attentions
    assert own.made_by == "made by the library's stand-in" and own.keys == ("a", "b", "c", "d")
    assert (cross.kind, cross.queries, cross.keys) == ("cross", ("a", "b", "c", "d"), ("x", "y", "z"))


def test_encoder_and_decoder_are_told_apart() -> None:
    encode = STAND_INS["encode"]
    names: dict[str, Any] = {"encode": encode}
    exec("def forward(*args):\n    return encode(*args)", names)
    src_emb, blocks = torch.randn(5, d), torch.randn(2, 6, d, d)
    with recorded_attention(names["forward"], source="a b c") as seen:
        names["forward"](torch.tensor([[0.0, 4.0, 1.0]]), src_emb, torch.zeros(3, d), blocks, h)
    assert [(a.kind, a.layer, a.keys) for a in seen.attentions] == [("encoder", n, ("a", "b", "c")) for n in (0, 1)]


def test_another_length_is_another_pass(inputs: Any) -> None:
    names, (dec, enc, blocks) = notebook(STYLES["attention"] + BLOCK), inputs
    with recorded_attention(names["forward"]) as seen:
        for length in (1, 2, 3):
            names["forward"](dec[:, :length], enc, blocks, h)
    assert [(a.layer, a.weights.shape[1]) for a in seen.of("cross")] == [(n, t) for t in (1, 2, 3) for n in (0, 1)]


def test_words_that_do_not_fit_give_way_to_numbers(inputs: Any) -> None:
    names, (dec, enc, blocks) = notebook(STYLES["attention"] + BLOCK), inputs
    with recorded_attention(names["forward"], source="only two", target=["a", "b", "c", "d"]) as seen:
        names["forward"](dec, enc, blocks, h)
    assert seen.of("cross")[0].keys == ("0", "1", "2") and seen.of("cross")[0].queries == ("a", "b", "c", "d")


def test_nothing_is_left_behind_whatever_happens(inputs: Any) -> None:
    names, (dec, enc, blocks) = notebook(STYLES["attention"] + BLOCK), inputs
    before = dict(names)
    with recorded_attention(names["forward"]) as seen:
        names["forward"](dec, enc[..., :3], blocks, h)
    assert seen.problem.startswith("forward raised RuntimeError: mat1 and mat2")
    assert [a.kind for a in seen.attentions] == ["decoder"]  # what was made before
    assert names == before
    with pytest.raises(KeyboardInterrupt), recorded_attention(names["forward"]):
        raise KeyboardInterrupt
    assert names == before


def test_a_function_that_is_defined_anew_meanwhile_stays() -> None:
    names = notebook(STYLES["attention"] + BLOCK)
    with recorded_attention(names["forward"]):
        exec("def attention(*args): return 1", names)
    assert names["attention"]() == 1


def test_a_stub_inside_is_named(inputs: Any) -> None:
    names, (dec, enc, blocks) = notebook(STYLES["attention"] + BLOCK), inputs
    exec("def attention(*args):\n    raise NotImplementedError", names)
    with recorded_attention(names["forward"]) as seen:
        names["forward"](dec, enc, blocks, h)
    assert seen.problem == "attention is not written yet. Write it, run its cell, then this one again."


def test_plain_weights_want_a_kind() -> None:
    names = notebook("")
    q, k, v = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 4)
    for kind, count in ((None, 0), ("cross", 1)):
        with recorded_attention(names["attention"], kind=kind) as seen:
            names["attention"](q, k, v)
        assert len(seen.attentions) == count
