"""The grammar: agreement, places of adjectives, negation; vocabularies; a split that leaks nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.corpus import ADJECTIVES, ENGLISH, FRENCH, NOUNS, Pair, draw, split
from attnlab.vocabulary import BOS, EOS, PAD, UnknownWordError, spelled, words

MANY = draw(20_000, seed=1)
FRENCH_OF = {" ".join(pair.english): spelled(pair.french) for pair in MANY}


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("the black cat is small", "le chat noir est petit"),
        ("the small cat is black", "le petit chat est noir"),
        ("the weather is lovely today", "le temps est magnifique aujourd'hui"),
        ("the weather is not beautiful", "le temps n'est pas beau"),
        ("the bird is red", "l'oiseau est rouge"),
        ("an old tree is black", "un vieil arbre est noir"),
        ("the old house is not white", "la vieille maison n'est pas blanche"),
        ("the mice are not black", "les souris ne sont pas noires"),
        ("the cow does not like the bird", "la vache n'aime pas l'oiseau"),
    ],
)
def test_the_rules_give(english: str, french: str) -> None:
    assert FRENCH_OF[english] == french


def test_the_english_article_hears_the_next_word() -> None:
    for english in FRENCH_OF:
        for article, following in re.findall(r"\b(an?) (\w)", english):
            assert (article == "an") == (following in "aeio"), english


def test_an_english_sentence_has_one_translation() -> None:
    assert len(FRENCH_OF) == len(MANY)


def test_adjectives_stand_on_their_side_of_the_noun() -> None:
    sides = {form: adjective.before for adjective in ADJECTIVES for form in adjective.forms}
    nouns = {form for noun in NOUNS for form in (noun.un, noun.des)}
    seen = set()
    for pair in MANY:
        for left, right in zip(pair.french, pair.french[1:], strict=False):
            if left in sides and right in nouns:
                assert sides[left], pair
                seen.add("before")
            if left in nouns and right in sides:
                assert not sides[right], pair
                seen.add("behind")
    assert seen == {"before", "behind"}


def test_negation_stands_around_the_verb_and_elides() -> None:
    negated = [pair for pair in MANY if "not" in pair.english]
    assert negated
    for pair in MANY:
        assert ("not" in pair.english) == ("pas" in pair.french)
    for pair in negated:
        at = pair.french.index("pas")
        ne, verb = pair.french[at - 2], pair.french[at - 1]
        assert ne == ("n'" if verb[0] in "aeiou" else "ne"), pair


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**32))
def test_a_split_shares_no_sentence(train: int, held_out: int, seed: int) -> None:
    kept_back = ("the weather is lovely today",)
    parts = split(train, held_out, seed, kept_back)
    assert (len(parts.train), len(parts.held_out)) == (train, held_out)
    assert len(set(parts.train) | set(parts.held_out)) == train + held_out
    assert all(" ".join(pair.english) not in kept_back for pair in parts.train + parts.held_out)


def test_the_seed_decides_the_draw() -> None:
    assert draw(50, seed=3) == draw(50, seed=3) != draw(50, seed=4)


@given(st.sampled_from(MANY))
def test_ids_and_back(pair: Pair) -> None:
    for vocabulary, sentence in ((ENGLISH, pair.english), (FRENCH, pair.french)):
        text = spelled(sentence)
        assert words(text) == sentence
        ids = vocabulary.encode(text)
        assert not {PAD, BOS, EOS} & set(ids)
        assert vocabulary.decode([BOS, *ids, EOS, PAD, ids[0]]) == text


def test_capitals_full_stop_and_curly_apostrophe_are_read() -> None:
    plain = "l'oiseau n'est pas rouge aujourd'hui"
    assert FRENCH.encode("L’oiseau n’est pas rouge, aujourd’hui.") == FRENCH.encode(plain)


def test_unknown_words_are_named_once_each() -> None:
    with pytest.raises(UnknownWordError, match="'purple' and 'zebra' yet"):
        ENGLISH.encode("The purple cat is a purple zebra")
    with pytest.raises(UnknownWordError, match="'i', 'don't' and 'know' yet"):
        ENGLISH.encode("I don't know")
    with pytest.raises(UnknownWordError, match="no word"):
        ENGLISH.encode(" . ")
