"""A small piece of English and French made by rules: pairs of sentences, and the words of both languages.

The rules are few but not word for word: French nouns have a gender, adjectives and articles agree with them, most
adjectives stand behind the noun, some before it, and "not" becomes two words around the verb.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from attnlab.vocabulary import SPECIAL, Vocabulary, words

__all__ = ["ENGLISH", "FRENCH", "Pair", "Split", "draw", "split"]


@dataclass(frozen=True)
class Pair:
    """One sentence in both languages, as words."""

    english: tuple[str, ...]
    french: tuple[str, ...]


@dataclass(frozen=True)
class Noun:
    """singular and plural in English, singular and plural in French; acts: it can see, eat and like."""

    one: str
    many: str
    un: str
    des: str
    feminine: bool = False
    acts: bool = False


@dataclass(frozen=True)
class Adjective:
    """A describing word.

    forms: French masculine, feminine, their plurals, and masculine before a vowel
    before: it stands before the noun
    """

    english: str
    forms: tuple[str, str, str, str, str]
    before: bool = False


def _regular(english: str, masculine: str, feminine: str = "", before: bool = False) -> Adjective:
    feminine = feminine or masculine + ("" if masculine.endswith("e") else "e")
    return Adjective(english, (masculine, feminine, masculine + "s", feminine + "s", masculine), before)


NOUNS = (
    Noun("cat", "cats", "chat", "chats", acts=True),
    Noun("dog", "dogs", "chien", "chiens", acts=True),
    Noun("bird", "birds", "oiseau", "oiseaux", acts=True),
    Noun("horse", "horses", "cheval", "chevaux", acts=True),
    Noun("mouse", "mice", "souris", "souris", feminine=True, acts=True),
    Noun("cow", "cows", "vache", "vaches", feminine=True, acts=True),
    Noun("house", "houses", "maison", "maisons", feminine=True),
    Noun("tree", "trees", "arbre", "arbres"),
    Noun("star", "stars", "étoile", "étoiles", feminine=True),
    Noun("book", "books", "livre", "livres"),
)
WEATHER = Noun("weather", "weather", "temps", "temps")
"""Stands alone: there is one weather, it does nothing, and few adjectives suit it."""

ADJECTIVES = (
    _regular("black", "noir"),
    _regular("white", "blanc", "blanche"),
    _regular("red", "rouge"),
    _regular("green", "vert"),
    _regular("lovely", "magnifique"),
    _regular("small", "petit", before=True),
    _regular("big", "grand", before=True),
    _regular("young", "jeune", before=True),
    Adjective("old", ("vieux", "vieille", "vieux", "vieilles", "vieil"), before=True),
    Adjective("beautiful", ("beau", "belle", "beaux", "belles", "bel"), before=True),
)
FOR_WEATHER = tuple(a for a in ADJECTIVES if a.english in ("lovely", "beautiful"))

VERBS = (("see", "sees", "voit", "voient"), ("eat", "eats", "mange", "mangent"), ("like", "likes", "aime", "aiment"))
"""English plain and with its s; French for one and for many."""


def _vowel(word: str) -> bool:
    return word[0] in "aeioué"


@dataclass(frozen=True)
class _Phrase:
    """A noun phrase: article, perhaps an adjective, noun."""

    noun: Noun
    adjective: Adjective | None
    definite: bool
    plural: bool

    def english(self) -> list[str]:
        noun = self.noun.many if self.plural else self.noun.one
        rest = [self.adjective.english, noun] if self.adjective else [noun]
        return ["the" if self.definite else "an" if _vowel(rest[0]) else "a", *rest]

    def french(self) -> list[str]:
        noun = self.noun.des if self.plural else self.noun.un
        if self.adjective is None:
            rest = [noun]
        elif self.adjective.before:
            rest = [self.agreed(self.adjective, before=noun), noun]
        else:
            rest = [noun, self.agreed(self.adjective)]
        return [self._article(rest[0]), *rest]

    def agreed(self, adjective: Adjective, before: str = "") -> str:
        """The form of `adjective` that goes with this noun; `before` is the word that follows it, if it is the noun."""
        if before and _vowel(before) and not self.plural and not self.noun.feminine:
            return adjective.forms[4]
        return adjective.forms[self.noun.feminine + 2 * self.plural]

    def _article(self, following: str) -> str:
        if not self.definite:
            return "une" if self.noun.feminine else "un"
        if self.plural:
            return "les"
        if _vowel(following):
            return "l'"
        return "la" if self.noun.feminine else "le"


def _phrase(rng: random.Random, nouns: Sequence[Noun]) -> _Phrase:
    noun = rng.choice(nouns)
    adjective = rng.choice(ADJECTIVES) if rng.random() < 0.6 else None
    plural = rng.random() < 0.3
    return _Phrase(noun, adjective, definite=plural or rng.random() < 0.6, plural=plural)  # "a" has no plural here


def _description(rng: random.Random) -> Pair:
    """NOUN PHRASE is [not] [very] ADJECTIVE [today]."""
    if rng.random() < 0.1:
        subject, adjective = _Phrase(WEATHER, None, definite=True, plural=False), rng.choice(FOR_WEATHER)
    else:
        subject, adjective = _phrase(rng, NOUNS), rng.choice(ADJECTIVES)
    not_, very, today = rng.random() < 0.3, rng.random() < 0.3, rng.random() < 0.3
    very = very and adjective.english != "lovely"  # nobody says "très magnifique"
    be = "are" if subject.plural else "is"
    english = [*subject.english(), be, *["not"] * not_, *["very"] * very, adjective.english]
    is_ = "sont" if subject.plural else "est"
    verb = [_ne(is_), is_, "pas"] if not_ else [is_]
    french = [*subject.french(), *verb, *["très"] * very, subject.agreed(adjective)]
    return Pair((*english, *["today"] * today), (*french, *["aujourd'hui"] * today))


def _action(rng: random.Random) -> Pair:
    """NOUN PHRASE [does not] VERB NOUN PHRASE [today]."""
    subject, (plain, with_s, one, many) = _phrase(rng, [n for n in NOUNS if n.acts]), rng.choice(VERBS)
    not_, today = rng.random() < 0.3, rng.random() < 0.2
    thing = _phrase(rng, NOUNS)
    if not_:  # "ne ... pas" before "un" would want "de"; one rule less
        thing = _Phrase(thing.noun, thing.adjective, definite=True, plural=thing.plural)
    does_not = ["do" if subject.plural else "does", "not"] * not_
    english = [*subject.english(), *does_not, plain if not_ or subject.plural else with_s, *thing.english()]
    verb = many if subject.plural else one
    french = [*subject.french(), *([_ne(verb), verb, "pas"] if not_ else [verb]), *thing.french()]
    return Pair((*english, *["today"] * today), (*french, *["aujourd'hui"] * today))


def _ne(verb: str) -> str:
    return "n'" if _vowel(verb) else "ne"


def draw(count: int, seed: int) -> list[Pair]:
    """`count` different pairs, drawn by the rules; the same ones for the same seed."""
    rng, found = random.Random(seed), dict[Pair, None]()  # a dict keeps the order in which they were drawn
    while len(found) < count:
        found[(_description if rng.random() < 0.6 else _action)(rng)] = None
    return list(found)


@dataclass(frozen=True)
class Split:
    """Pairs to learn from, and pairs kept back to see whether the rules were learned and not the sentences."""

    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...]


@cache
def split(train: int, held_out: int, seed: int, never_train: tuple[str, ...] = ()) -> Split:
    """`train` and `held_out` different pairs, no sentence in both.

    never_train: English sentences that must not be learned from; they are left out of both parts
    """
    kept_back = {words(text) for text in never_train}
    pairs = [p for p in draw(train + held_out + len(kept_back), seed) if p.english not in kept_back]
    return Split(tuple(pairs[:train]), tuple(pairs[train : train + held_out]))


def _vocabulary(language: str, parts: Iterable[Iterable[str]]) -> Vocabulary:
    return Vocabulary(language, (*SPECIAL, *sorted({word for part in parts for word in part})))


def _english() -> Iterator[Iterable[str]]:
    yield ("the", "a", "an", "is", "are", "not", "very", "today", "do", "does", WEATHER.one)
    yield from ((n.one, n.many) for n in NOUNS)
    yield (a.english for a in ADJECTIVES)
    yield from ((plain, with_s) for plain, with_s, _, _ in VERBS)


def _french() -> Iterator[Iterable[str]]:
    yield ("le", "la", "les", "l'", "un", "une", "est", "sont", "ne", "n'", "pas", "très", "aujourd'hui", WEATHER.un)
    yield from ((n.un, n.des) for n in NOUNS)
    yield from (a.forms for a in ADJECTIVES)
    yield from ((one, many) for _, _, one, many in VERBS)


ENGLISH = _vocabulary("English", _english())
FRENCH = _vocabulary("French", _french())
