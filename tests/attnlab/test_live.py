"""The loss curve while a model trains: one line in a terminal, one display in a notebook that is kept up to date."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from attnlab import live
from attnlab.live import LossCurve


def test_in_a_terminal_it_is_one_line_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    curve = LossCurve(30)
    for _ in range(30):
        curve.add(1.5)
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    assert out.endswith("step 30 of 30, loss 1.500 \n")
    assert curve.losses == [1.5] * 30


class _Display:
    """Stands for IPython's display: counts what it shows and what it updates."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.updated: list[str] = []

    def __call__(self, curve: LossCurve, *, display_id: bool) -> _Display:
        assert display_id
        self.shown.append(curve._repr_html_())
        return self

    def update(self, curve: LossCurve) -> None:
        self.updated.append(curve._repr_html_())


def test_in_a_notebook_one_display_grows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    display = _Display()
    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(live, "current_shell", lambda: SimpleNamespace(kernel=object()))
    curve = LossCurve(45)
    for n in range(45):
        curve.add(5 / (n + 1))
    assert (len(display.shown), len(display.updated)) == (1, 4)  # after 10; then after 20, 30, 40 and the last, 45
    assert "Step 45 of 45, loss 0.111. It began at 5.00." in display.updated[-1]
    assert "width:100.0%" in display.updated[-1] and "width:22.2%" in display.shown[0]
    assert capsys.readouterr().out == ""


def points(curve: LossCurve) -> list[tuple[float, float]]:
    found = re.search(r'points="([^"]*)"', curve._repr_html_())
    assert found
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in found[1].split())]


@pytest.fixture
def filled(capsys: pytest.CaptureFixture[str]) -> Any:
    def filled(*losses: float, steps: int = 101) -> LossCurve:
        curve = LossCurve(steps)
        for loss in losses:
            curve.add(loss)
        capsys.readouterr()
        return curve

    return filled


def test_the_curve_falls_where_the_loss_does(filled: Any) -> None:
    drawn = points(filled(*(10 ** (1 - n / 50) for n in range(101))))
    assert len(drawn) == 11
    across, down = zip(*drawn, strict=True)
    assert list(across) == sorted(across) and list(down) == sorted(down)
    assert (across[0], across[-1]) == (live.EDGE, live.EDGE + live.WIDTH)
    # a straight line on a logarithmic scale
    assert all(abs((b - a) - (down[1] - down[0])) < 0.2 for a, b in pairwise(down))


@pytest.mark.parametrize("loss", [math.nan, math.inf, 0.0, -1.0, 1e9, 1e-9])
def test_any_number_stays_in_the_picture(loss: float, filled: Any) -> None:
    (_, y), = points(filled(loss))  # fmt: skip
    assert 0 <= y <= live.HEIGHT


def test_before_the_first_step(filled: Any) -> None:
    assert "Nothing yet." in filled()._repr_html_()
    assert "Nothing yet." in filled(steps=0)._repr_html_()
    assert 'role="img"' in filled()._repr_html_()
