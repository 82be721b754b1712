"""Every attack gets exactly the ledger that its file says, harms nobody and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course import Course
from grader.grade import Grader
from grader.release import masters
from grader.sandbox import Mode, Policy, Sandbox
from grader.sandbox.probe import probe
from grader.source import source_notebook, text_of
from tests.grader import as_nobody
from tests.grader import attacks as data
from tests.grader.attacks import LESSON, Attack
from tests.grader.traces import Bait, Footprint, bait, memory, most_memory, watch_memory

AS_USER = "ATTACKS_AS_USER"
"""Set in the environment of the run as an ordinary user: there, what every user's files and processes are open to."""

MIB = 1 << 20
SECONDS = {
    # hostile cells and calls shall cost seconds; honest ones take a hundredth of this
    "cell_seconds": 2.5, "repeat_seconds": 0.5, "grace_seconds": 0.3, "call_seconds": 1.5, "notebook_seconds": 30.0,
}  # fmt: skip
LIMITS: dict[str, Any] = {
    # sizes that are reached quickly; the honest notebook needs a tenth
    "output_bytes": MIB, "message_bytes": 8 * MIB, "call_bytes": 16 * MIB, "file_bytes": 16 * MIB,
    "disk_bytes": 64 * MIB, "resident_bytes": 1024 * MIB, "address_bytes": 2048 * MIB,
}  # fmt: skip
PEAK = 250 * MIB  # of the grader with one attack: some messages of 8 MiB and one value of 16, in a few copies
GROWTH = 150 * MIB  # of the grader over all attacks: what allocators keep
SEED = 7  # points do not depend on it; the words do, a little

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("attacks")]


def cases() -> list[Any]:
    """Which attack runs in which mode: all by namespaces, some by Landlock; as an ordinary user the chosen ones."""
    made = []
    for attack in data.attacks():
        for mode in (Mode.NAMESPACES, Mode.LANDLOCK):
            if attack.also("user") if os.environ.get(AS_USER) else mode is Mode.NAMESPACES or attack.also("landlock"):
                made.append(pytest.param(mode, attack, id=f"{mode}-{attack.name}"))
    return sorted(made, key=lambda case: str(case.id))


@dataclass
class Desk:
    """A grader at work in one mode, with the baits laid out.

    whole: the lesson as a right notebook
    temporary: the folder for all its temporary files
    """

    grader: Grader
    course: Course
    bait: Bait
    whole: dict[str, Any]
    temporary: Path
    held: int = 0  # its memory once the first neighbour was graded

    @property
    def policy(self) -> Policy:
        return self.grader.sandbox.policy

    def honest_keeps_its_points(self) -> None:
        notebook = json.dumps(data.only_named(self.whole)).encode()
        ledger = self.grader.grade(notebook, LESSON, seed=SEED).ledger
        assert (ledger.points, ledger.reason) == (ledger.max_points, ""), data.summary(ledger)


@pytest.fixture(scope="module")
def whole(course: Course) -> dict[str, Any]:
    return dict(json.loads(text_of(source_notebook(course.lesson(LESSON)))))


@pytest.fixture(scope="module")
def texts(course: Course) -> dict[str, str]:
    return dict(masters(course))


@pytest.fixture(scope="module")
def desks(
    course: Course, whole: dict[str, Any], texts: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Mode, Desk]]:
    """One desk for each mode that this host can do."""
    tmp_path_factory.getbasetemp()  # made now, or it would be made among the grader's files
    made: dict[Mode, Desk] = {}
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="desk-", dir="/tmp") as folder, bait(course.root) as out:
        os.chmod(folder, 0o711)
        tempfile.tempdir = folder
        for mode in (Mode.NAMESPACES, Mode.LANDLOCK):
            if next(ability for ability in probe() if ability.mode is mode).available:
                sandbox = Sandbox(Policy(mode=mode, **LIMITS), course_root=course.root)
                made[mode] = Desk(Grader(course, sandbox, texts), course, out, whole, Path(folder))
        yield made
        for desk in made.values():
            desk.grader.sandbox.close()
        assert list(Path(folder).iterdir()) == [], "a closed sandbox leaves nothing"
        tempfile.tempdir = before


@pytest.fixture
def desk(request: pytest.FixtureRequest, desks: dict[Mode, Desk]) -> Desk:
    mode = request.node.callspec.params["mode"]
    if mode not in desks:
        ability = next(ability for ability in probe() if ability.mode is mode)
        pytest.skip(f"this host has no {mode}: {ability.reason}")
    found = desks[mode]
    if found.grader.sandbox._server is None:  # the first neighbour, and all that is made only once
        found.honest_keeps_its_points()
        found.held = memory()
    return found


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("mode", "attack"), cases())
def test_attack(mode: Mode, attack: Attack, desk: Desk, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    attack.make(tmp_path, desk.whole, json.loads(desk.grader.masters[LESSON]), desk.bait.names)
    before, held = Footprint.now(desk.temporary), memory()
    watch_memory()
    graded, size = data.grade_folder(_under(desk.grader, attack), tmp_path, seed=SEED)
    peak = most_memory() - held
    assert (left := before.added(desk.temporary)) == {}, left
    desk.bait.untouched()

    text = nbformat.writes(graded.notebook)
    nbformat.validate(graded.notebook)
    said = outputs(graded.notebook)
    if request.config.getoption("--record"):
        _record(attack, mode, data.summary(graded.ledger), desk.course)
        attack = Attack.read(attack.path)
    wanted = data.expected(attack, desk.course, mode)
    if wanted[0].startswith("ungraded "):
        assert wanted[0].removeprefix("ungraded ") in graded.ledger.reason
        assert graded.ledger.points == 0
    else:
        assert data.summary(graded.ledger) == wanted, said[-2000:]
    data.sound(graded.ledger, desk.course)
    for words in attack.all("prints"):
        assert words in said, said[-2000:]
    for words in (desk.bait.text, *attack.all("hides")):
        assert words not in said
    assert desk.bait.text not in json.dumps(graded.ledger.to_json())

    # a line of source is indented and quoted when it is stored: at most some bytes for each that was handed in
    assert len(text) < 10 * size + 1.1 * desk.policy.output_bytes + 200_000
    assert peak < PEAK, f"{peak / MIB:.0f} MiB"
    if attack.kind != "accidents":  # those are honest themselves, and one another's neighbours
        desk.honest_keeps_its_points()


def test_memory_stays_bounded_over_all_attacks(desks: dict[Mode, Desk]) -> None:
    """Runs after the attacks."""
    for desk in desks.values():
        assert memory() - desk.held < GROWTH
        before = memory()
        for _ in range(10):
            desk.honest_keeps_its_points()
        assert memory() - before < 20 * MIB, "ten honest submissions cost no memory for good"


def test_there_are_attacks_of_every_kind() -> None:
    found = data.attacks()
    assert len(found) >= 80
    for kind in data.KINDS:
        assert sum(attack.kind == kind for attack in found) >= 15
    assert len({attack.words for attack in found}) == len(found)


@pytest.mark.skipif(AS_USER in os.environ, reason="this is that run")
@pytest.mark.xdist_group("attacks-as-user")
def test_attacks_as_an_ordinary_user(course: Course) -> None:
    """The same in a process that has no rights: other walls are built then, and kernels share the grader's user id."""
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user already")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        [sys.executable, as_nobody.__file__, *command], capture_output=True, text=True, check=False, cwd=course.root,
        env={**environment, AS_USER: "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def outputs(notebook: nbformat.NotebookNode) -> str:
    """All that an executed notebook shows."""
    parts: list[str] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                parts.append(output.text)
            elif output.output_type == "error":
                parts += [output.ename, output.evalue, *output.traceback]
            else:
                parts += map(str, output.data.values())
    return "\n".join(parts)


def _under(grader: Grader, attack: Attack) -> Grader:
    """The grader with little time, and the limits that an attack asks for."""
    # where others use the machine too, what shall reach a limit of memory needs longer for it
    busy = max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))
    seconds = {name: busy * value for name, value in SECONDS.items()}
    sandbox = _Limited(grader.sandbox, {**seconds, **attack.limits})
    return Grader(grader.course, sandbox, grader.masters)  # type: ignore[arg-type]


@dataclass
class _Limited:
    """A sandbox whose kernels have other limits."""

    sandbox: Sandbox
    limits: dict[str, float]

    @property
    def policy(self) -> Policy:
        return self.sandbox.policy

    def kernel(self) -> Any:
        limits: Any = {**LIMITS, **self.limits}
        return self.sandbox.kernel(Policy(mode=self.policy.mode, **limits))


def _record(attack: Attack, mode: Mode, lines: list[str], course: Course) -> None:
    if lines == data.expected(attack, course, mode) or lines[0].startswith("ungraded "):
        return
    full = data.expected(Attack(attack.path, "", (), ()), course, mode)
    data.record(attack, lines, full, "expect" if mode is Mode.NAMESPACES else "landlock")
