"""Record how a forward pass reads a sentence, with the weights that come with the course."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from attnlab.corpus import FRENCH
from attnlab.translator import load_translator
from attnlab.vocabulary import BOS, words
from attnlab.widgets.attempt import attempt
from attnlab.widgets.recorder import Recording

__all__ = ["recorded_translation"]


def recorded_translation(
    encoder_decoder_forward: Callable[..., Any],
    english: str = "the black cat is small",
    french: str = "le chat noir est petit",
) -> Recording:
    """Feed a sentence pair through your forward pass and record its attention.

    Raises ValueError for words that the translator does not know.
    """
    translator = load_translator()
    w, src = translator.weights, translator.source(english)[None]  # (1, S)
    target = torch.tensor([[BOS, *FRENCH.encode(french)]], dtype=torch.float32)  # (1, T)
    recording = Recording(encoder_decoder_forward, source=words(english), target=translator.words(target[0]))
    with recording:
        tried = attempt(
            encoder_decoder_forward, src, target, w["src_emb"], w["tgt_emb"], w["enc_pos_embed"][: src.shape[1]],
            w["dec_pos_embed"][: target.shape[1]], w["enc_blocks"], w["dec_blocks"], w["w_head"], translator.num_heads,
        )  # fmt: skip
    recording.problem = recording.problem or tried.problem
    return recording
