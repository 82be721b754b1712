"""Public mistakes to try out, and the translator that is made with one of them.

Each is a small edit of the library's own functions. They are here to be looked at; what grading looks for is not in
this package.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import torch

from attnlab import stand_ins
from attnlab.fault import Edit, Fault, fault
from attnlab.recording import ran
from attnlab.translator import Translator
from attnlab.vocabulary import BOS, EOS

__all__ = ["MISTAKES", "OUTCOMES", "Functions", "edited", "encoded", "outcome", "read_through", "translated"]

Functions = Mapping[str, Callable[..., Any]]

# The text that is edited ----------------------------------------------------------------------------------------------

_SDPA = "mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"
_BY_HAND = "mixed = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask) @ v"
_OPENED = Edit("multi_head_attention", _SDPA, _BY_HAND)
"""Made first, also where nothing is wrong: attention through `masked_softmax`, so that lesson 1's mistakes reach it."""

_TRIANGLE = "device=device).tril()"
_FILL = "scores = scores.masked_fill(~allowed, -torch.inf)"
_CUT = ".reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)"
_SELF = "dec + multi_head_attention(dec, dec, block[0]"
_CROSS = "dec = layer_norm(dec + cross_attention(dec, enc, block, num_heads))"
_NETWORK = "return layer_norm(dec + feed_forward(dec, block[8], block[9]))"
_NORM = "return F.layer_norm(x, x.shape[-1:], eps=1e-5)"
_LOOK_UP = "enc = F.embedding(src_ids.long(), src_emb) + enc_pos_embed"

_MASK = (
    fault(
        "future_is_read", "causal_mask", _TRIANGLE, "device=device)",
        words="no key is hidden, so every position reads the words after it",
        help="The sentence may survive for a while, since the newest word has no future. Earlier rows are computed "
        "otherwise than in training, and that adds up.",
        symptom="Only the last row of the mask is right.",
    ),
    fault(
        "diagonal_hidden", "causal_mask", _TRIANGLE, "device=device).tril(-1)",
        words="a position may not read itself",
        help="The first word has nothing to read, and no later one knows which word it has just been fed.",
        symptom="Row 0 is empty.",
    ),
    fault(
        "triangle_turned", "causal_mask", _TRIANGLE, "device=device).triu()",
        words="each position reads itself and the future",
        help="The newest word reads itself alone: it has forgotten the sentence so far.",
        symptom="The triangle points the other way.",
    ),
    fault(
        "hidden_score_is_0", "masked_softmax", _FILL, "scores = scores.masked_fill(~allowed, 0.0)",
        words="hidden keys get the score 0",
        help="The exponential of 0 is 1, an ordinary weight: hidden keys are read like any other.",
        symptom="There is colour above the diagonal.",
    ),
    fault(
        "struck_out_after", "masked_softmax", _FILL, "return torch.softmax(scores, dim=-1) * allowed",
        words="hidden keys are struck out after the softmax",
        help="The order of the scores stays, so the words may survive. The row sums do not: look at the decoder's map.",
        symptom="Rows sum to less than 1.",
    ),
    fault(
        "penalty_of_1e9", "masked_softmax", _FILL, "scores = scores.masked_fill(~allowed, -1e9)",
        words="hidden keys get the score -1e9",
        help="With scores of ordinary size nobody can tell. That is why grading asks at other sizes, too.",
        symptom="None at all, here.",
    ),
    fault(
        "softmax_over_queries", "masked_softmax",
        "return torch.softmax(scores.masked_fill(nothing, 0.0), dim=-1)",
        "return torch.softmax(scores.masked_fill(nothing, 0.0), dim=-2)",
        words="the softmax runs over the queries",
        help="The keys are the last axis.",
        symptom="Columns sum to 1.",
    ),
)  # fmt: skip

_ATTENTION = (
    fault(
        "source_not_read", "cross_attention", "multi_head_attention(dec, enc, ", "multi_head_attention(dec, dec, ",
        words="keys and values come from the target",
        help="What is left is a model of French: every source gets the same sentence.",
        symptom="The source has no effect.",
    ),
    fault(
        "keys_and_values_swapped", "cross_attention", "block[5], block[6]", "block[6], block[5]",
        words="the matrices of keys and values have changed places",
        help="The shapes agree, so nothing complains. The slots are w_q, w_k, w_v, w_o.",
        symptom="The map points at the wrong words, and what is read there is not what was meant.",
    ),
    fault(
        "heads_interleaved", "multi_head_attention", _CUT, ".reshape(*x.shape[:2], -1, num_heads).permute(0, 3, 1, 2)",
        words="head 0 takes features 0, h, 2h, ... instead of the first d_k",
        help="Consecutive features belong to one head: cut the last axis into (h, d_k), in this order.",
        symptom="Right with one head, wrong with two.",
    ),
    fault(
        "merged_without_moving", "multi_head_attention",
        "return mixed.transpose(1, 2).flatten(2) @ w_o", "return mixed.reshape(N, T, -1) @ w_o",
        words="the heads are joined without moving their axis back",
        help="A block's weights are made before that, its results after: positions get what others have read.",
        symptom="Right for one position, wrong for two.",
    ),
    Fault(
        "not_scaled",
        (Edit("multi_head_attention", " / q.shape[-1] ** 0.5", ""),),
        words="the scores are not divided by the root of d_k",
        help="The best key of each row stays the best, but the others lose what they had: look how sharp the map is.",
        symptom="Each row has one bright cell.",
    ),
    Fault(
        "scaled_by_sqrt_d",
        (Edit("multi_head_attention", "q.shape[-1] ** 0.5", "x_q.shape[-1] ** 0.5"),),
        words="the scores are divided by the root of d instead of d_k",
        help="A little too flat, and the words survive. A translation that is right proves little.",
        symptom="The map is a little paler.",
    ),
)  # fmt: skip

_BLOCK = (
    fault(
        "no_residual", "decoder_block", _SELF, _SELF.removeprefix("dec + "),
        words="the self-attention replaces what came in instead of being added",
        help="Each position has lost its own word, and knows only what it read.",
        symptom="With all weights zero, nothing of the token is left.",
    ),
    fault(
        "answer_thrown_away", "decoder_block", _CROSS, _CROSS.replace("cross", "0 * cross"),
        words="what the cross-attention gives is not added",
        help="The map is there, and nobody uses it: the sentence is the same for every source.",
        symptom="The source has no effect.",
    ),
    fault(
        "network_left_out", "decoder_block", _NETWORK, "return dec",
        words="there is no feed-forward network",
        help="Every word is read as before, but nobody thinks about what was read.",
        symptom="Words come twice, or the end is missed.",
    ),
    fault(
        "no_norm", "layer_norm", _NORM, "return x",
        words="nothing is normalised",
        help="Tokens grow from sublayer to sublayer, and the later ones count for less and less.",
        symptom="Output tokens do not have variance 1.",
    ),
    fault(
        "no_bend", "feed_forward", 'F.gelu(x @ w_mlp1, approximate="tanh")', "(x @ w_mlp1)",
        words="there is no GELU between the two products",
        help="Two products in a row are one: the network can no longer choose.",
        symptom="A few words are wrong.",
    ),
    Fault(
        "query_is_stale",
        (
            Edit("decoder_block", "causal = causal_mask(", "came_in, causal = dec, causal_mask("),
            Edit("decoder_block", _CROSS, _CROSS.replace("attention(dec", "attention(came_in")),
        ),
        words="the cross-attention asks with what came into the block, not with what the self-attention made of it",
        help="The sentence survives here, the map changes a little. Each sublayer takes the result of the one before.",
        symptom="Nearly right, everywhere.",
    ),
    fault(
        "spread_over_d_minus_1", "layer_norm", _NORM,
        "return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5)",
        words="the variance divides by d - 1",
        help="Every token is too small by the same factor, which is close to 1 where d is 64.",
        symptom="None at all, here.",
    ),
)  # fmt: skip

_FORWARD = (
    fault(
        "no_source_positions", "encode", _LOOK_UP, _LOOK_UP.removesuffix(" + enc_pos_embed"),
        words="no positions are added to the source",
        help="The source is a bag of words now: who is small, and who is black?",
        symptom="The order of the source has no effect.",
    ),
    fault(
        "positions_backwards", "encode", _LOOK_UP, _LOOK_UP + ".flip(0)",
        words="the positions of the source are counted from its end",
        help="All words are there, and each has the place of another.",
        symptom="Words change roles.",
    ),
    fault(
        "encoder_is_causal", "encode",
        "multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads)",
        "multi_head_attention(enc, enc, w_q, w_k, w_v, w_o, num_heads, causal_mask(enc.shape[1]))",
        words="the encoder has a causal mask",
        help="The decoder reads all source words anyway, so short sentences survive. The map is half empty.",
        symptom="Source word 0 does not feel source word 3.",
    ),
    fault(
        "one_block_for_all", "encode", "in enc_blocks:", "in enc_blocks[:1]:",
        words="only the first encoder block runs",
        help="One round of reading is enough for a short sentence, not for a long one.",
        symptom="Right with one block, wrong with two.",
    ),
    fault(
        "ids_off_by_one", "encode", "src_ids.long()", "(src_ids.long() + 1)",
        words="each source id looks up the row of the next word",
        help="Good French again: about the words next to yours in the vocabulary.",
        symptom="Fluent, but about something else.",
    ),
    fault(
        "embeddings_scaled", "encode", _LOOK_UP, _LOOK_UP.replace(" + ", " * src_emb.shape[1] ** 0.5 + "),
        words="embeddings are multiplied by the root of d, as the original paper does",
        help="Beside vectors that are eight times as large, positions hardly count.",
        symptom="Words in wrong places, as without positions.",
    ),
)  # fmt: skip

MISTAKES: Mapping[str, tuple[Fault, ...]] = MappingProxyType(
    {"01_mask": _MASK, "02_cross_attention": _ATTENTION, "03_decoder_block": _BLOCK, "04_full_forward": _FORWARD}
)
"""Lesson to its public mistakes."""

OUTCOMES = {
    "stays": "the sentence stays",
    "some": "some words are wrong",
    "places": "the right words, in other places",
    "other": "another sentence",
    "short": "it stops too early",
    "endless": "it never ends",
}
"""What can become of a translation, to the words for it."""


def outcome(right: list[int], ids: list[int]) -> str:
    """Which of OUTCOMES it is that `ids` came out where `right` should have; both from <s> to </s> or the budget."""
    if ids == right:
        return "stays"
    if ids[-1] != EOS:
        return "endless"
    if ids[:-1] == right[: len(ids) - 1]:
        return "short"
    if Counter(ids) == Counter(right):
        return "places"
    kept = (Counter(ids[1:-1]) & Counter(right[1:-1])).total()
    return "some" if 2 * kept >= len(right) - 2 else "other"


@cache
def edited(mistake: Fault | None = None) -> Functions:
    """The library's functions with this mistake, by name; with none, as they should be.

    Raises ValueError where an edit no longer fits the text.
    """
    texts = {name: inspect.getsource(function) for name, function in stand_ins.STAND_INS.items()}
    module = inspect.getsource(stand_ins)
    for edit in (_OPENED, *(mistake.edits if mistake else ())):
        before, text = texts[edit.exercise], texts[edit.exercise]
        if text.count(edit.before) != 1:
            raise ValueError(f"{edit.before!r} does not stand exactly once in the library's {edit.exercise}.")
        texts[edit.exercise] = text.replace(edit.before, edit.after)
        module = module.replace(before, texts[edit.exercise])
    names: dict[str, Any] = {"__name__": stand_ins.__name__}
    exec(compile(module, f"<{mistake.id if mistake else 'as it should be'}>", "exec"), names)
    return MappingProxyType({name: names[name] for name in texts})


def encoded(functions: Functions, translator: Translator, text: str) -> torch.Tensor:
    """An English sentence as the encoder of these functions leaves it, (1, S, d)."""
    src_ids, src_emb, _, positions, _, blocks, *_ = translator.arguments(text)
    enc: torch.Tensor = functions["encode"](src_ids[None], src_emb, positions, blocks, translator.num_heads)
    return enc


def read_through(functions: Functions, translator: Translator, enc: torch.Tensor, ids: list[int]) -> torch.Tensor:
    """The decoder over the whole of `ids`: scores of the word after each, (T, V_tgt)."""
    w = translator.weights
    dec = (w["tgt_emb"][torch.tensor(ids)] + w["dec_pos_embed"][: len(ids)])[None]  # (1, T, d)
    for block in w["dec_blocks"]:
        dec = functions["decoder_block"](dec, enc, block, translator.num_heads)
    return dec[0] @ w["w_head"]


@torch.no_grad()
def translated(functions: Functions, translator: Translator, text: str) -> list[int]:
    """The ids that these functions write for an English sentence, from <s> to </s> or as many as there is room for."""
    ran("stand_in:seq2seq_greedy_decode")  # nobody hands this in as that exercise
    enc, ids = encoded(functions, translator, text), [BOS]
    while ids[-1] != EOS and len(ids) <= translator.longest:
        ids.append(int(read_through(functions, translator, enc, ids)[-1].argmax()))
    return ids
