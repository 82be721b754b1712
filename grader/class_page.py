"""The class report: one page that holds everything it needs, and the same as a table for spreadsheets."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from attnlab.house import FAILED, PASSED
from attnlab.pictures import dress
from grader.class_facts import ClassFacts, Entry, Finding
from grader.diagnosis import OPENING
from grader.safe_csv import csv_text
from grader.web import Html, document, heading, rows

__all__ = ["class_csv", "class_page"]

FAULTS = 25
"""Faults, and lost checks, that are listed; a class of hundreds has a long tail of single ones."""

_BARS = 12  # bars of a picture: more cannot be told apart on a phone
_STEPS = 10  # bars of the distribution
_VERSIONED = ("attention-course-grader", "attnlab", "torch", "numpy", "nbgrader", "plotly")

_DRAW = """
for (const place of document.querySelectorAll('[data-figure]')) {
  const figure = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  place.setAttribute('role', 'img');
  Plotly.newPlot(place, figure.data, figure.layout, {responsive: true, displayModeBar: false});
}
document.body.dataset.drawn = 'yes';
"""


def class_page(facts: ClassFacts, *, now: datetime | None = None) -> str:
    """The page as the text of its file, under 5 MB, most of which is plotly's own program. Names are in it."""
    pictures = _Pictures()
    body = "".join(_parts(facts, pictures, now or datetime.now(UTC)))
    return document(f"Class report: {facts.lesson}", Html(body), scripts=(get_plotlyjs(), _DRAW))


def class_csv(facts: ClassFacts) -> str:
    """A line for each student: points in all and by exercise, named faults, whether a person must look."""
    exercises = [exercise.name for exercise in facts.exercises]
    names = ["student", "name", "score", "points", "penalty", "max_points", *exercises, "faults", "person", "handed_in"]
    lines = [
        [
            *(entry.student, entry.name, entry.score, entry.points, entry.penalty, facts.max_points),
            *(entry.points_of(name) for name in exercises),
            *("; ".join(_faults_of(entry)), entry.person, _when(entry.handed_in)),
        ]
        for entry in facts.entries
    ]
    blank = [""] * (len(names) - 4)
    lines += [[student, student, 0.0, 0.0, *blank] for student in facts.missing]
    return csv_text(names, lines)


class _Pictures:
    """Figures of a page, each with its numbers in a block of its own that is data and never a program."""

    def __init__(self) -> None:
        self._count = 0

    def html(self, figure: go.Figure, words: str, height: int) -> Html:
        self._count += 1
        figure.update_layout(height=height, margin={"l": 10, "r": 10, "t": 10, "b": 10}, title=None, bargap=0.15)
        figure.update_xaxes(automargin=True)
        figure.update_yaxes(automargin=True)
        name = f"figure-{self._count}"
        data = str(figure.to_json()).replace("<", "\\u003c")
        return Html(
            f'<script type="application/json" id="{name}">{data}</script>'
            f'<div data-figure="{name}" aria-label="{escape(words)}" style="height:{height}px"></div>'
        )


def _parts(facts: ClassFacts, pictures: _Pictures, now: datetime) -> Iterator[str]:
    yield heading(1, f"Class report: {facts.lesson}")
    scores = sorted(entry.score for entry in facts.graded)
    handed = len(facts.entries)
    yield f"<p>{handed} handed in, {len(scores)} graded, {len(facts.for_a_person)} for a person to look at"
    yield f", {len(facts.missing)} known students without a submission.</p>" if facts.missing else ".</p>"
    if scores:
        yield heading(2, "Scores")
        middle = (scores[(len(scores) - 1) // 2] + scores[len(scores) // 2]) / 2
        mean = sum(scores) / len(scores)
        yield f"<p>Mean {mean:.1f}, median {middle:g}, lowest {scores[0]:g}, highest {scores[-1]:g}"
        yield f" of {facts.max_points:g} points.</p>"
        yield pictures.html(_distribution(scores, facts.max_points), "How many have how many points", 260)
        yield heading(2, "Exercises")
        yield pictures.html(
            _exercises(facts), "Mean share of the points of each exercise", 60 + 34 * len(facts.exercises)
        )
        lines = [(e.name, e.mean, e.max_points, e.full, e.none) for e in facts.exercises]
        yield rows(("exercise", "mean points", "of", "have all", "have none"), lines)
    yield from _findings("What went wrong most often", facts.faults, pictures, picture=True)
    yield from _findings("Checks that were lost", facts.lost_checks, pictures, picture=False)
    yield heading(2, "For a person to look at")
    waiting = [(_who(entry), entry.person) for entry in facts.for_a_person]
    yield rows(("student", "why"), waiting) if waiting else "<p>Nothing.</p>"
    yield heading(2, "Everyone")
    everyone = [(_who(e), e.score, _penalty(e), _when(e.handed_in), _when(e.graded)) for e in facts.entries]
    yield rows(("student", "score", "", "handed in", "graded"), everyone)
    if facts.missing:
        yield f"<p>Nothing handed in: {escape(', '.join(facts.missing))}.</p>"
    versions = ", ".join(f"{name} {version(name)}" for name in _VERSIONED)
    yield f'<p class="faint">Made {_when(now)} with Python {platform.python_version()}, {versions}. Times are UTC.</p>'


def _findings(title: str, found: Sequence[Finding], pictures: _Pictures, *, picture: bool) -> Iterator[str]:
    yield heading(2, title)
    if not found:
        yield "<p>Nothing.</p>"
        return
    if picture:
        yield pictures.html(_counts(found[:_BARS]), "How many have each fault", 60 + 26 * min(len(found), _BARS))
    items = "".join(
        f"<li><b>{escape(finding.exercise)}</b>: {escape(finding.words.removeprefix(OPENING))}"
        f'<br><span class="faint">{_people(finding)}</span></li>'
        for finding in found[:FAULTS]
    )
    yield f"<ol>{items}</ol>"
    if len(found) > FAULTS:
        yield f"<p>And {len(found) - FAULTS} more, each of {len(found[FAULTS].students)} or fewer.</p>"


def _people(finding: Finding) -> str:
    count = len(finding.students)
    return f"{count} {'student' if count == 1 else 'students'}: {escape(', '.join(finding.students))}"


def _distribution(scores: Sequence[float], most: float) -> go.Figure:
    width = most / _STEPS
    counts = [0] * _STEPS
    for score in scores:
        counts[min(_STEPS - 1, int(score / width))] += 1
    middles = [(step + 0.5) * width for step in range(_STEPS)]
    spans = [f"{step * width:.3g} to {(step + 1) * width:.3g}" for step in range(_STEPS)]
    bar = go.Bar(x=middles, y=counts, width=width, customdata=spans, marker_color=PASSED.colour, marker_line_width=1)
    bar.hovertemplate = "%{customdata} points: %{y}<extra></extra>"
    figure = go.Figure(bar)
    dress(figure, "", "points", "students")
    figure.update_xaxes(range=[0, most])
    figure.update_yaxes(dtick=_step(counts))
    return figure


def _step(counts: Sequence[int]) -> int:
    """Between two lines of a grid: whole students, about six lines."""
    return max(1, -(-max(counts) // 6))


def _exercises(facts: ClassFacts) -> go.Figure:
    names = [exercise.name for exercise in facts.exercises]
    shares = [100 * e.mean / e.max_points if e.max_points else 0.0 for e in facts.exercises]
    words = [f"{e.mean:.1f} of {e.max_points:g}" for e in facts.exercises]
    figure = go.Figure(go.Bar(x=shares, y=names, text=words, orientation="h", marker_color=PASSED.colour))
    figure.update_traces(hovertemplate="%{y}: %{text}<extra></extra>", textposition="auto")
    dress(figure, "", "mean share of the points, %", "")
    figure.update_xaxes(range=[0, 100])
    figure.update_yaxes(autorange="reversed")
    return figure


def _counts(found: Sequence[Finding]) -> go.Figure:
    """Bars with the numbers of the list under it: the words themselves would leave no room on a phone."""
    numbers = [str(i) for i in range(1, len(found) + 1)]
    counts = [len(finding.students) for finding in found]
    words = [escape(f"{finding.exercise}: {finding.words}") for finding in found]
    bar = go.Bar(x=counts, y=numbers, text=counts, customdata=words, orientation="h", marker_color=FAILED.colour)
    bar.hovertemplate = "%{customdata}<extra></extra>"
    figure = go.Figure(bar)
    dress(figure, "", "students", "no.")
    figure.update_xaxes(rangemode="tozero", dtick=_step(counts))
    figure.update_yaxes(type="category", autorange="reversed")
    return figure


def _faults_of(entry: Entry) -> Iterator[str]:
    for row in entry.ledger.exercises:
        for fault in dict.fromkeys(check.fault for check in row.lost if check.fault):
            yield f"{row.name}: {fault}"


def _who(entry: Entry) -> str:
    return entry.student if entry.name == entry.student else f"{entry.name} ({entry.student})"


def _penalty(entry: Entry) -> str:
    by_hand = "by a person" if entry.manual else ""
    late = f"{entry.penalty:g} taken off for being late" if entry.penalty else ""
    return "; ".join(part for part in (by_hand, late) if part)


def _when(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M}" if time else ""
