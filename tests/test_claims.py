"""Numbers in the lessons' prose are computed: each sentence here is built from the computed value, then looked for.

What a cell prints beside its claim is not repeated; this holds what no cell shows, and what cells' comments promise.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from attnlab import chapter
from attnlab.corpus import ENGLISH, FRENCH
from attnlab.mistakes import MISTAKES, edited, encoded, outcome, read_through, translated
from attnlab.public.examples import EXAMPLES
from attnlab.translator import Translator, load_translator
from attnlab.vocabulary import EOS, SPECIAL
from grader.course import Course
from tests.prose import lesson_prose

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Says = Callable[[str, str], None]
Spaces = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def says(course: Course) -> Says:
    """Fails where a lesson's prose does not hold these words, whatever lines they are broken into."""
    texts = {name.split("_")[0]: " ".join(lesson_prose(course, name).split()) for name in course.lessons}

    def says(lesson: str, words: str) -> None:
        assert words in texts[lesson], f"lesson {lesson} does not say: {words}"

    return says


@pytest.fixture(scope="module")
def spaces(course: Course) -> Spaces:
    return course.reference.namespaces({})


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_translator()


def test_a_wrong_number_would_be_seen(says: Says) -> None:
    with pytest.raises(AssertionError, match="does not say"):
        says("01", "allowed keys of the three rows are 0 1 2")


# lesson 1 -------------------------------------------------------------------------------------------------------------


def test_one_step_in_score(says: Says) -> None:
    says("01", rf"$e \approx {math.e:.3f}$")
    assert f"{float(torch.tensor([2.0, 1.0, 0.0]).softmax(-1)[0]):.2f}" == "0.67"
    says("01", "about 0.5, 0.67 or 0.9?")


def test_what_float32_can_hold(says: Says) -> None:
    least = next(n for n in range(200) if torch.tensor(float(n)).exp().isinf())
    says("01", f"$e^{{{least}}}$ is more than float32 can hold")


def test_what_half_precision_can_hold(says: Says) -> None:
    says("01", f"half precision ends at {torch.finfo(torch.float16).max:.0f}")


def test_where_the_penalty_leaks(says: Says) -> None:
    hidden = torch.tensor([-1e10, -1e10, -1e9], dtype=torch.float64).softmax(-1)[2]
    assert hidden == 1.0
    says("01", "At $10^{10}$ the *hidden* key takes everything.")


def test_the_masked_example(says: Says) -> None:
    _, allowed = EXAMPLES["masked_softmax/masked"].inputs()
    rows = [" ".join(map(str, row.nonzero().flatten().tolist())) for row in allowed.reshape(-1, allowed.shape[-1])]
    says("01", f"the allowed keys of the three rows are {rows[0]}, then {rows[1]}, then {rows[2]}.")


# the break-it labs ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def becomes(translator: Translator) -> dict[str, dict[str, tuple[str, str]]]:
    """Lesson to mistake to what becomes of the lab's two sentences."""
    texts = ("the black cat is small", "the old horse does not like the small bird")
    right = [translated(edited(), translator, text) for text in texts]
    return {
        lesson[:2]: {
            m.id: tuple(
                outcome(r, translated(edited(m), translator, text)) for r, text in zip(right, texts, strict=True)
            )
            for m in mistakes
        }
        for lesson, mistakes in MISTAKES.items()
    }  # type: ignore[misc]


def which(found: Mapping[str, tuple[str, str]], *outcomes: str) -> list[str]:
    return [name for name, became in found.items() if became == outcomes]


def test_mistakes_of_lesson_1(says: Says, becomes: Any, translator: Translator) -> None:
    found = becomes["01"]
    unnoticed = which(found, "stays", "stays")
    says("01", f"{NUMBERS[len(unnoticed)].capitalize()} of the {NUMBERS[len(found)]} mistakes change neither")
    assert unnoticed == ["struck_out_after", "penalty_of_1e9"]
    says("01", "Two mistakes went unnoticed: the penalty of $-10^9$, and striking out after the softmax")
    silent = [
        m.id for m in MISTAKES["01_mask"] if translated(edited(m), translator, "the black cat is small")[1] == EOS
    ]
    assert silent == ["diagonal_hidden", "softmax_over_queries"]
    says("01", "which make the translator say nothing at all?")


def test_mistakes_of_lesson_2(says: Says, becomes: Any) -> None:
    assert which(becomes["02"], "stays", "stays") == ["scaled_by_sqrt_d"]
    says("02", r"Only the scale by $\sqrt d$ goes unnoticed.")


def test_mistakes_of_lesson_3(says: Says, becomes: Any) -> None:
    unnoticed = which(becomes["03"], "stays", "stays")
    assert unnoticed == ["query_is_stale", "spread_over_d_minus_1"]
    says("03", f"{NUMBERS[len(unnoticed)].capitalize()} of the {NUMBERS[len(becomes['03'])]} change neither sentence")
    assert [name for name, became in becomes["03"].items() if became[1] == "endless"] == ["network_left_out"]


def test_mistakes_of_lesson_4(says: Says, becomes: Any) -> None:
    exchanged = [name for name, became in becomes["04"].items() if became[0] == "places"]
    assert exchanged == ["no_source_positions", "positions_backwards"]
    says("04", f"{NUMBERS[len(exchanged)].capitalize()} mistakes give back the right words with their roles exchanged.")
    assert which(becomes["04"], "stays", "stays") == ["encoder_is_causal"]


# lessons 2 and 3 ------------------------------------------------------------------------------------------------------


def test_the_worked_attention(says: Says, spaces: Spaces) -> None:
    q, k, v = torch.ones(1, 4), torch.tensor([[1.0] * 4, [0.0] * 4]), torch.tensor([[10.0], [20.0]])
    mixed, weights = spaces["02_cross_attention"]["attention"](q, k, v)
    a, b = (f"{float(w):.3f}" for w in weights[0])
    says("02", rf"$e^2 / (e^2 + 1) \approx {a}$ and {b}, so what arrives is ${a} \cdot 10 + {b} \cdot 20 \approx")
    says("02", rf"\approx {float(mixed):.2f}$.")


def test_the_worked_norm(says: Says, spaces: Spaces) -> None:
    token = torch.tensor([1.0, 2.0, 3.0, 4.0])
    shown = [f"{float(x):.3f}".replace("-", "−") for x in spaces["03_decoder_block"]["layer_norm"](token)]
    says(
        "03",
        rf"$\sigma^2 = {float(token.var(correction=0)):.2f}$, and its root is {float(token.std(correction=0)):.3f}.",
    )
    says("03", f"So the token becomes ({', '.join(shown)}).")


def test_the_worked_gelu(says: Says) -> None:
    root, u = math.sqrt(2 / math.pi), torch.tensor([1.0, -1.0, -3.0], dtype=torch.float64)
    inner = root * 1.044715
    form, exact = F.gelu(u, approximate="tanh"), F.gelu(u)
    says("03", rf"${root:.4f} \cdot 1.0447 = {inner:.4f}$, its tanh is {math.tanh(inner):.4f}, and")
    says("03", rf"$0.5 \cdot {1 + math.tanh(inner):.4f} = {form[0]:.4f}$. The exact form gives {exact[0]:.4f}.")
    says("03", f"At $u = -3$ the exact form gives −{-exact[2]:.5f} and the tanh form −{-form[2]:.5f}.")
    says("03", f"At $u = -3$ they still differ by {abs(form[2] / exact[2] - 1):.0%}".replace("%", " %"))
    says("03", f"GELU(1) = {form[0]:.3f} and GELU(−1) = −{-form[1]:.3f}.")
    says("03", f"the result is ({form[0] + form[1]:.3f}, 0)")


def test_where_the_tables_cost_as_much_as_the_rest(says: Says) -> None:
    d = 512
    n = next(n for n in range(1, 9999) if 2 * 2 * n * n * d >= 8 * n * d**2 + 2 * n * d * 4 * d)
    assert n == 4 * d
    says("03", f"At $T = S = 4d = {n}$, and with $d_{{ff}} = 4d$, the tables cost as much as all the rest.")


def test_the_chapters_block_is_close_to_the_identity(says: Says) -> None:
    e = chapter.decoder_block_example()
    out = chapter.decoder_block(e.dec, e.enc, e.weights)
    assert (torch.cosine_similarity(out, e.dec, dim=-1) > 0.98).all()
    says("03", "Every word leaves almost as it came.")


def test_post_norm_and_pre_norm_over_depth(course: Course, says: Says, spaces: Spaces) -> None:
    lesson: dict[str, Any] = {**spaces["03_decoder_block"]}
    functions = shown(course, "03_decoder_block", "sublayers", "through")
    exec(compile(ast.Module(list(functions.values()), []), "lesson 3", "exec"), lesson)
    torch.manual_seed(0)
    dec, enc = lesson["layer_norm"](torch.randn(8, 6, 32)), torch.randn(8, 5, 32)
    blocks = torch.randn(12, 12, 32, 32) / math.sqrt(32)
    post, pre = (lesson["through"](blocks, place, dec, enc, 4)[1] for place in ("post", "pre"))
    assert all(abs(size - 1) < 1e-3 for size, _ in post)
    says("03", "its tokens have size 1 by construction, while with pre-norm they grow with depth")
    assert all(a < b for (a, _), (b, _) in pairwise(pre))
    says("03", "With post-norm almost nothing of the input is left on the residual path after 12 blocks")
    assert post[-1][1] < 0.01 < 0.1 < pre[-1][1]
    says("03", "At that depth both keep a good part of the input")
    assert min(post[1][1], pre[1][1]) > 0.2


# lesson 4 -------------------------------------------------------------------------------------------------------------


def test_the_worked_position(says: Says, spaces: Spaces) -> None:
    row = ",\\ ".join(f"{float(x):.3f}" for x in spaces["04_full_forward"]["positional_encoding"](2, 4)[1])
    says("04", f"= ({row}).$$")


def test_the_worked_logits(says: Says) -> None:
    logits = torch.tensor([1, 2]) @ torch.tensor([[1, 0, 2], [0, 1, -1]])
    says("04", f"the logits are ({', '.join(map(str, logits.tolist()))}): word {int(logits.argmax())} scores best")


def test_the_worked_loss(says: Says, spaces: Spaces) -> None:
    loss = spaces["04_full_forward"]["sequence_loss"](torch.tensor([[[2.0, 1.0, 0.0]]]), torch.tensor([[0]]))
    total = math.log(math.e**2 + math.e + 1)
    says("04", rf"$\log(e^2 + e + 1) = {total:.3f}$, so the loss is ${total:.3f} - 2 = {float(loss):.3f}$.")
    says("04", rf"$\log 3 = {math.log(3):.3f}$: the price of guessing among three")
    says("04", rf"Among {len(FRENCH)} French words it is $\log {len(FRENCH)} = {math.log(len(FRENCH)):.2f}$.")


def test_a_fresh_model_starts_a_little_above_guessing(says: Says, translator: Translator) -> None:
    says("04", "A fresh model starts a little above that")
    assert 0 < translator.losses[0] - math.log(len(FRENCH)) < 1.5


def test_the_worked_count(says: Says, spaces: Spaces) -> None:
    count = spaces["04_full_forward"]["parameter_count"]
    says("04", f"Encoder block {count(2, 8, 1, 0)}, decoder block {count(2, 8, 0, 1)}.")
    encoder, decoder = (count(512, 2048, *one) / 1e6 for one in ((6, 0), (0, 6)))
    share = f"{encoder / (encoder + decoder):.0%}".replace("%", " %")
    for lesson in ("04", "05"):
        says(lesson, f"{encoder:.1f} of {encoder + decoder:.1f} million is {share}")
    says("04", f"{decoder / 6:.2f} against {encoder / 6:.2f} million")


def test_the_corpus_is_as_large_as_is_said(says: Says, spaces: Spaces) -> None:
    lesson = spaces["04_full_forward"]
    train, kept = len(lesson["SENTENCES"].train), len(lesson["SENTENCES"].held_out)
    says("04", f"The model sees {train:,} pairs. {kept} others are kept back")
    says("04", f"{lesson['FULL_RUN']} steps, about 20 seconds on two cores")


def test_the_paper_scales_by_what_is_said(translator: Translator) -> None:
    eight = math.sqrt(translator.weights["src_emb"].shape[1])
    words = next(m.help for m in MISTAKES["04_full_forward"] if m.id == "embeddings_scaled")
    assert f"{NUMBERS[int(eight)]} times as large" in words


# lesson 5 -------------------------------------------------------------------------------------------------------------


def test_the_worked_beam(says: Says) -> None:
    says("05", f"in all 0.55 · 0.4 = {0.55 * 0.4:.2f}.")
    says("05", f"0.45 · 0.9 = {0.45 * 0.9:.3f}, nearly twice as likely")
    assert 1.7 < (0.45 * 0.9) / (0.55 * 0.4) < 2


def test_greedy_and_beam_part_where_it_is_said(says: Says, spaces: Spaces, translator: Translator) -> None:
    text, lesson = "the red horses see the small houses", spaces["05_greedy_decode"]
    arguments, functions = translator.arguments(text), edited()
    greedy, beam = lesson["seq2seq_greedy_decode"](*arguments), lesson["beam_search"](*arguments, 2)
    assert translator.text(greedy) == "les chevaux rouges voient les petits chevaux"
    assert translator.text(beam) == "les chevaux rouges voient les petites maisons"
    says("05", f'take "{text}"')
    scores = read_through(functions, translator, encoded(functions, translator, text), greedy[:6].tolist())
    small = {FRENCH.words[i]: f"{p:.2f}" for i, p in enumerate(scores[-1].softmax(-1).tolist())}
    says("05", f"*Petits* had {small['petits']} and *petites* {small['petites']}.")


def test_how_many_words_it_knows(says: Says) -> None:
    known = len(ENGLISH) - len(SPECIAL)
    says("05", f"The translator knows about {round(known, -1)} English words")


def test_scores_are_half_as_large(says: Says, translator: Translator) -> None:
    assert 1 / math.sqrt(translator.num_heads) == 0.5
    says("05", "instead of sqrt(d / h): the scores are half as large here")


def shown(course: Course, lesson: str, *names: str) -> dict[str, ast.stmt]:
    """Functions that a lesson defines in its show cells."""
    cells = course.lesson(lesson).of_kind("show")
    nodes = [node for cell in cells for node in ast.parse(cell.source).body]
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in names}


def test_the_mistakes_of_lesson_5_do_what_is_said(course: Course, spaces: Spaces, translator: Translator) -> None:
    names = {**spaces["05_greedy_decode"], "translator": translator, "math": math, "pairwise": pairwise}
    functions = shown(course, "05_greedy_decode", "changed", "broken")
    exec(compile(ast.Module(list(functions.values()), []), "lesson 5", "exec"), names)
    text, decode = "the black cat is small", names["seq2seq_greedy_decode"]
    said = {name: decode(*arguments).tolist() for name, arguments in names["broken"](text).items()}
    right = said.pop("nothing wrong")
    assert translator.text(right) == "le chat noir est petit"
    assert outcome(right, said["scaled by sqrt(d)"]) == "stays"  # "Perfect"
    assert outcome(right, said["no source positions"]) == "places"  # "All the right words, in the wrong roles"
    for name in ("keys and values swapped", "cross uses self's weights", "one block for all", "one head"):
        assert outcome(right, said[name]) in ("other", "some", "endless"), name  # "Word salad"
    other = decode(*names["broken"]("the old horse does not like the bird")["source not read"]).tolist()
    assert said["source not read"] == other  # "Fluent, but about something else"


def test_six_of_the_ten_statements_do_not_hold(course: Course, says: Says) -> None:
    cells = "\n".join(cell.source for cell in course.lesson("05_greedy_decode").of_kind("show"))
    assert len(re.findall(r"evidence\[\d+\]|^    \d: \(", cells, re.M)) == 10
    says("05", "Here are ten statements")
    says("05", "six of the ten do not hold")
