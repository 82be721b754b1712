"""What every test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from grader.course import Course


@pytest.fixture(scope="session")
def course() -> Course:
    """The course of this checkout."""
    return Course.find(Path(__file__).parent)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Tests run side by side; more threads each would only fight over the cores."""
    torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the expected ledgers anew; read the diff after")
    parser.addoption("--seeds", action="store_true", help="try all faults and styles on fifty seeds: an hour")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Fifty seeds for each of hundreds of faults and styles are for `make seeds`; a few are tried in every run."""
    if config.getoption("--seeds"):
        return
    skipped = pytest.mark.skip(reason="fifty seeds a fault take too long for every run; 'make seeds' tries them")
    for item in items:
        if "seeds" in item.keywords:
            item.add_marker(skipped)
