"""A learner who fills the stubs and nothing else reaches the translator, in a plain kernel, on own code alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from attnlab import chain
from attnlab.signing import SENTENCES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernels")]

LAST = "05_greedy_decode"


@pytest.fixture(scope="module")
def printed(worked: Callable[[Path], None], tmp_path_factory: pytest.TempPathFactory) -> str:
    """All that the last notebook gives as text, run beside the four others where a learner would have them."""
    folder = tmp_path_factory.mktemp("bundle")
    worked(folder)
    notebook = nbformat.read(folder / LAST / f"{LAST}.ipynb", as_version=4)
    learners = {name: value for name, value in os.environ.items() if name != chain.FOLDER}
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder / LAST)}})
    client.execute(env=learners)
    return "\n".join(outputs(notebook))


def outputs(notebook: nbformat.NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.get("name") != "stderr", output.text
            yield output.text if output.output_type == "stream" else str(output.get("data", {}).get("text/plain", ""))


def test_every_function_of_earlier_lessons_is_the_learners(printed: str) -> None:
    taken = re.findall(r"(?m)^(\w+): yours, from 0[1-4]_\w+$", printed)
    assert taken == ["causal_mask", "masked_softmax", "multi_head_attention", "layer_norm", "decoder_block", "encode"]
    assert "stand-in" not in printed


def test_it_translates(printed: str) -> None:
    for english, french in SENTENCES.items():
        assert re.search(rf"(?m)^{english} +{french}$", printed)


def test_progress_is_complete_and_the_course_is_signed_off(printed: str) -> None:
    assert "100 of 100 points by the public checks; 21 of 21 exercises pass." in printed
    assert "Signed off: every step from the mask to the sentence is yours." in printed
