"""What training needs: batches without source padding, gradients that say what is wrong, AdamW as PyTorch's."""

from __future__ import annotations

from itertools import islice

import pytest
import torch

from attnlab.corpus import FRENCH, draw
from attnlab.training import AdamW, as_batch, batches, by_length, gradients, new_weights, one_thread
from attnlab.vocabulary import EOS, PAD

PAIRS = draw(300, seed=2)


def test_batches_hold_every_pair_once_a_round_and_no_source_padding() -> None:
    per_round = sum(-(-len(group) // 16) for group in by_length(PAIRS).values())
    stream = batches(PAIRS, 16, seed=0)
    for _ in range(2):
        lots = list(islice(stream, per_round))
        assert sum(len(src) for src, _ in lots) == len(PAIRS)
        assert all((src != PAD).all() for src, _ in lots)
        texts = {FRENCH.decode(row) for _, tgt in lots for row in tgt.tolist()}
        assert len(texts) == len({pair.french for pair in PAIRS})


def test_targets_end_in_eos_and_then_padding() -> None:
    _, tgt = as_batch(by_length(PAIRS)[6])
    for row in tgt.tolist():
        at = row.index(EOS)
        assert PAD not in row[:at]
        assert set(row[at + 1 :]) <= {PAD}


def test_unequal_sources_are_refused() -> None:
    with pytest.raises(ValueError, match="equally long, not"):
        as_batch(PAIRS)


def test_adamw_is_pytorchs() -> None:
    start = torch.randn(7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ours, theirs = start.clone().requires_grad_(), start.clone().requires_grad_()
    optimiser = AdamW({"w": ours}, decay=0.1)
    expected = torch.optim.AdamW([theirs], lr=0.05, betas=(0.9, 0.98), weight_decay=0.1)
    for _ in range(20):
        optimiser.step(gradients((ours**4).sum(), {"w": ours}), 0.05)
        expected.zero_grad()
        (theirs**4).sum().backward()
        expected.step()
    torch.testing.assert_close(ours, theirs)


def test_gradients_say_what_is_wrong() -> None:
    w = {"a": torch.ones(2, requires_grad=True), "b": torch.ones(2, requires_grad=True)}
    with pytest.raises(ValueError, match="no_grad"):
        gradients(torch.tensor(1.0), w)
    with pytest.raises(ValueError, match="does not depend on b"):
        gradients(w["a"].sum(), w)


def test_unused_slots_start_at_zero() -> None:
    assert not new_weights(8, 1, 2, seed=0)["dec_blocks"][:, 10:].any()


def test_one_thread_inside_and_as_many_as_before_after() -> None:
    before = torch.get_num_threads()
    with pytest.raises(KeyError), one_thread():
        assert torch.get_num_threads() == 1
        raise KeyError
    assert torch.get_num_threads() == before
