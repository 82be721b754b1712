"""The course in a table: lessons, their exercises, points, and the library calls that would be the exercise itself."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EXERCISES", "LESSONS", "Exercise"]


@dataclass(frozen=True)
class Exercise:
    """One graded function.

    library: names of library functions and modules that may not be called inside it, because it is to write them.
    A name ending in * stands for all that begin so.
    """

    name: str
    lesson: str
    points: int
    library: tuple[str, ...] = ()


# each with the low-level names under which the same functions can be called, too
_SDPA = ("scaled_dot_product_attention", "_scaled_dot_product_*")
_MHA = ("multi_head_attention_forward", "MultiheadAttention", "_native_multi_head_attention")
_NORM = ("layer_norm", "LayerNorm", "native_layer_norm", "group_norm", "GroupNorm", "native_group_norm")
_GELU = ("gelu", "gelu_", "GELU")
_FAST = ("_transformer_encoder_layer_fwd",)
_LOSS = ("cross_entropy*", "CrossEntropyLoss", "nll_loss*", "NLLLoss*")

_TABLE = (
    Exercise("causal_mask", "01_mask", 4),
    Exercise("padding_mask", "01_mask", 4),
    Exercise("masked_softmax", "01_mask", 8),
    Exercise("split_heads", "02_cross_attention", 3),
    Exercise("merge_heads", "02_cross_attention", 3),
    Exercise("attention", "02_cross_attention", 6, (*_SDPA, *_MHA)),
    Exercise("multi_head_attention", "02_cross_attention", 4, _MHA),
    Exercise("cross_attention", "02_cross_attention", 4, _MHA),
    Exercise("layer_norm", "03_decoder_block", 4, _NORM),
    Exercise("gelu", "03_decoder_block", 3, _GELU),
    Exercise("feed_forward", "03_decoder_block", 3),
    Exercise("decoder_block", "03_decoder_block", 10, ("TransformerDecoderLayer",)),
    Exercise("positional_encoding", "04_full_forward", 3),
    Exercise("shift_right", "04_full_forward", 2),
    Exercise("encoder_block", "04_full_forward", 4, ("TransformerEncoderLayer", *_FAST)),
    Exercise("encode", "04_full_forward", 2, ("Transformer*", *_FAST)),
    Exercise("encoder_decoder_forward", "04_full_forward", 8, ("Transformer*", *_FAST)),
    Exercise("sequence_loss", "04_full_forward", 3, _LOSS),
    Exercise("parameter_count", "04_full_forward", 2),
    Exercise("next_token", "05_greedy_decode", 4),
    Exercise("seq2seq_greedy_decode", "05_greedy_decode", 16),
    Exercise("beam_search", "05_greedy_decode", 0),
)

EXERCISES: dict[str, Exercise] = {exercise.name: exercise for exercise in _TABLE}
"""Every exercise by name, in the order of the course."""

LESSONS: dict[str, tuple[Exercise, ...]] = {
    lesson: tuple(e for e in _TABLE if e.lesson == lesson) for lesson in dict.fromkeys(e.lesson for e in _TABLE)
}
"""Every lesson by name, with its exercises in order."""
