"""The shipped translator: it is what the lesson's training gives, it translates, and its attention crosses over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.corpus import Pair
from attnlab.translator import Translator, load_translator
from attnlab.vocabulary import spelled
from grader.course import Course
from grader.weights import LESSON, PLACE, trained

COURSE = Course.find(Path(__file__).parent)
DECODE = "05_greedy_decode"


@pytest.fixture(scope="module")
def spaces() -> Mapping[str, Mapping[str, Any]]:
    """What the lessons' given and solution cells define."""
    return COURSE.reference.namespaces({})


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_translator()


@pytest.fixture(scope="module")
def translate(spaces: Mapping[str, Mapping[str, Any]], translator: Translator) -> Callable[[str], str]:
    decode = spaces[DECODE]["seq2seq_greedy_decode"]
    return lambda text: translator.text(decode(*translator.arguments(text)))


def test_the_file_is_under_a_megabyte() -> None:
    assert (COURSE.root / PLACE).stat().st_size < 1_000_000


def test_the_weights_come_from_the_lessons_own_training(translator: Translator) -> None:
    """Its first steps, run again, give the loss curve that is shipped: a changed recipe wants new weights."""
    _, losses = trained(COURSE, seed=COURSE.reference.namespaces({})[LESSON]["SEED"], steps=25)
    assert losses == pytest.approx(translator.losses[:25], rel=1e-3)  # other processors round otherwise
    assert len(translator.losses) == COURSE.reference.namespaces({})[LESSON]["FULL_RUN"]


def test_held_out_sentences_come_out_exact(spaces: Mapping[str, Mapping[str, Any]], translator: Translator) -> None:
    lesson = spaces[LESSON]
    assert lesson["exact"](translator.weights, lesson["SENTENCES"].held_out) > 0.95


def test_teacher_forcing_and_greedy_decoding_agree(
    spaces: Mapping[str, Mapping[str, Any]], translator: Translator, translate: Callable[[str], str]
) -> None:
    """What lesson 4 counts without generating is what lesson 5 generates: on unseen pairs, and on wrong ones."""
    pairs = spaces[LESSON]["SENTENCES"].held_out[:20]
    wrong = [Pair(pair.english, (*pair.french, "pas")) for pair in pairs[:5]]
    for pair in (*pairs, *wrong):
        generated = translate(" ".join(pair.english)) == spelled(pair.french)
        assert generated == (spaces[LESSON]["exact"](translator.weights, [pair]) == 1.0)


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("the black cat is small", "le chat noir est petit"),
        ("the weather is lovely today", "le temps est magnifique aujourd'hui"),
    ],
)
def test_sentences_that_were_never_trained_on(
    english: str, french: str, translate: Callable[[str], str], spaces: Mapping[str, Mapping[str, Any]]
) -> None:
    assert english in spaces[LESSON]["KEPT_BACK"]
    assert translate(english) == french


def test_cross_attention_on_the_black_cat_is_not_diagonal(
    spaces: Mapping[str, Mapping[str, Any]], translator: Translator
) -> None:
    """To say "chat" it reads "cat", to say "noir" it reads "black": the two words change places."""
    lesson, arguments = spaces[DECODE], translator.arguments("the black cat is small")
    ids = lesson["seq2seq_greedy_decode"](*arguments)
    assert translator.words(ids) == ["<s>", "le", "chat", "noir", "est", "petit", "</s>"]
    weights = lesson["cross_weights"](ids[:-1], *arguments[:7], translator.num_heads)
    assert weights.shape == (6, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(6))
    chat, noir, est, petit = weights[1:5].argmax(-1).tolist()  # rows that say these words
    assert (chat, noir, est, petit) == (2, 1, 3, 4)
    assert weights[0, 2] > 0.25  # the article reads the noun, whose gender it must know; an even share is 0.2


def test_what_it_cannot_read_is_answered_in_words(translator: Translator) -> None:
    with pytest.raises(ValueError, match="not learned 'purple' yet"):
        translator.arguments("the purple cat is small")
    with pytest.raises(ValueError, match="has 17 words; I read at most 16"):
        translator.arguments("very " * 17)


@pytest.mark.slow
def test_training_from_another_seed_learns_the_rules(spaces: Mapping[str, Mapping[str, Any]]) -> None:
    weights, losses = trained(COURSE, seed=1)
    lesson = spaces[LESSON]
    assert losses[0] > 4 > 0.05 > losses[-1]
    assert lesson["exact"](weights, lesson["SENTENCES"].held_out) > 0.95


@pytest.mark.seeds
@pytest.mark.parametrize("seed", range(5))
def test_training_meets_its_figures_from_every_seed(seed: int, spaces: Mapping[str, Mapping[str, Any]]) -> None:
    """Over 95 % of unseen sentences to the last word, in under a minute of one core: the lesson trains on one thread.

    Time of the processor and not of the clock, so that other work beside it costs nothing.
    """
    lesson, began = spaces[LESSON], time.process_time()
    weights, losses = trained(COURSE, seed=seed)
    seconds = time.process_time() - began
    right = lesson["exact"](weights, lesson["SENTENCES"].held_out)
    print(f"seed {seed}: {right:.1%} exact, loss {losses[0]:.2f} to {losses[-1]:.3f}, {seconds:.0f} s")
    assert right > 0.95
    assert seconds < 60
