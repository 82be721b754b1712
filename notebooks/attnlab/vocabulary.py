"""Words and ids: a vocabulary turns sentences into numbers and back, and answers politely what it does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["BOS", "EOS", "PAD", "SPECIAL", "UnknownWordError", "Vocabulary", "spelled", "words"]

PAD, BOS, EOS = 0, 1, 2
"""Ids of the three words that are no words: padding, begin of sentence, end of sentence. The same in both languages."""
SPECIAL = ("<pad>", "<s>", "</s>")


_WORD = re.compile(
    r"aujourd'hui"  # one word, whatever it holds
    r"|</?\w+>"  # <s> and its like
    r"|\b[dln]'"  # elided: stands for le, la, ne, de
    r"|[\w'-]+"
    r"|[^\w\s.!?,]"
)


def words(text: str) -> tuple[str, ...]:
    """The words of a sentence in small letters, without . ! ? and comma; "l'" and "n'" are words of their own."""
    return tuple(_WORD.findall(text.lower().replace("’", "'")))


def spelled(tokens: Iterable[str]) -> str:
    """Words as a sentence: nothing between "l'" or "n'" and the next word."""
    return re.sub(r"(\b[ln]') ", r"\1", " ".join(tokens))


class UnknownWordError(ValueError):
    """A sentence holds words that the vocabulary lacks. Its text names them."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of one language; a word's id is its place.

    words: begins with <pad>, <s>, </s>
    """

    language: str
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def encode(self, text: str | Sequence[str]) -> list[int]:
        """The ids of a sentence, given as text or as words. Raises UnknownWordError, which names every unknown word."""
        tokens = words(text) if isinstance(text, str) else text
        unknown = list(dict.fromkeys(w for w in tokens if w not in self._ids))
        if unknown:
            raise UnknownWordError(_politely(self, unknown))
        if not tokens:
            raise UnknownWordError("There is no word in this sentence. Try: the black cat is small")
        return [self._ids[w] for w in tokens]

    def decode(self, ids: Iterable[int]) -> str:
        """Ids as a sentence, as far as the first </s>, without <s> and <pad>."""
        tokens: list[str] = []
        for i in ids:
            if int(i) == EOS:
                break
            tokens += [self.words[int(i)]] * (int(i) not in (PAD, BOS))
        return spelled(tokens)


def _politely(vocabulary: Vocabulary, unknown: list[str]) -> str:
    named = " and ".join([", ".join(f"'{w}'" for w in unknown[:-1])] * (len(unknown) > 1) + [f"'{unknown[-1]}'"])
    known = sorted(vocabulary.words[len(SPECIAL) :])
    return f"I have not learned {named} yet. I know {len(known)} {vocabulary.language} words: {', '.join(known)}."
