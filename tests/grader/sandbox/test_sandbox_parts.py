"""The sandbox's parts that need no kernel: policy, filter program, view, limits, outputs."""

from __future__ import annotations

import errno
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.sandbox import Mode, Policy, PolicyError, limits
from grader.sandbox.body import Order
from grader.sandbox.confinement import Walls
from grader.sandbox.mounts import Mount, View, around
from grader.sandbox.outputs import Budget, CellOutputs
from grader.sandbox.seccomp import DENIED, Filter

# policy ---------------------------------------------------------------------------------------------------------------


def test_a_policy_survives_json() -> None:
    policy = Policy(mode=Mode.LANDLOCK, cell_seconds=3, mounts=("/data",))
    assert Policy.from_json(json.loads(json.dumps(policy.to_json()))) == policy
    assert policy.with_mode(Mode.NAMESPACES).cell_seconds == 3


def test_equal_policies_have_equal_digests_and_others_not() -> None:
    assert Policy().digest == Policy().digest
    others = {Policy(cell_seconds=1).digest, Policy(mode=Mode.LANDLOCK).digest, Policy(mounts=("/x",)).digest}
    assert len(others | {Policy().digest}) == 4


@pytest.mark.parametrize(
    "wrong",
    [{"cell_second": 1}, {"mode": "jail"}, {"processes": -1}, {"threads": "1"}, {"disk_bytes": float("nan")},
     {"inodes": True}, {"mode": "none"}],
)  # fmt: skip
def test_a_policy_that_cannot_be_meant_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        Policy.from_json(wrong)


def test_an_order_survives_json() -> None:
    view = View((Mount("/usr", "/usr"), Mount("/real/env", "/env")), ("/usr/secret",))
    walls = Walls(Mode.NAMESPACES, Policy(mode=Mode.NAMESPACES), view, "/r", "/f")
    order = Order(walls, "key", {"LANG": "C"})
    assert Order.from_json(order.to_json()) == order


# the system call filter -----------------------------------------------------------------------------------------------

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000


def verdict(program: bytes, number: int, *arguments: int, architecture: int) -> int:
    """What the kernel would make of the filter: a small machine for the few instructions that it uses."""
    packed = [a & 0xFFFFFFFFFFFFFFFF for a in (*arguments, 0, 0, 0, 0, 0, 0)[:6]]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *packed)
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, operand = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        match code:
            case 0x20:
                loaded = struct.unpack_from("<I", data, operand)[0]
            case 0x15:
                at += if_true if loaded == operand else if_false
            case 0x35:
                at += if_true if loaded >= operand else if_false
            case 0x45:
                at += if_true if loaded & operand else if_false
            case 0x06:
                return int(operand)
            case _:
                raise AssertionError(f"instruction {code:#x}")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_what_it_names_and_lets_the_rest_through(machine: str) -> None:
    column = ["x86_64", "aarch64"].index(machine)
    program = Filter(sockets=True).program(machine)

    def judge(number: int, *arguments: int) -> int:
        return verdict(program, number, *arguments, architecture=ARCHITECTURE[machine])

    for name, numbers in DENIED.items():
        number = numbers[column]
        if number is not None:
            assert judge(number) == ERRNO | errno.EPERM, name
    named = {numbers[column] for numbers in DENIED.values()}
    read, write, openat, mmap = {"x86_64": (0, 1, 257, 9), "aarch64": (63, 64, 56, 222)}[machine]
    assert not named & {read, write, openat, mmap}
    assert [judge(n) for n in (read, write, openat, mmap)] == [ALLOW] * 4
    socket, pair, clone, ioctl = {"x86_64": (41, 53, 56, 16), "aarch64": (198, 199, 220, 29)}[machine]
    unix, inet, inet6, netlink, packet, alg, vsock = 1, 2, 10, 16, 17, 38, 40
    assert judge(socket, unix) == judge(pair, unix) == ALLOW
    for family in (inet, inet6, netlink, packet, alg, vsock, unix | 1 << 8):
        assert judge(socket, family) == judge(pair, family) == ERRNO | errno.EAFNOSUPPORT
    thread = 0x3D0F00  # what pthread_create asks for
    assert judge(clone, thread) == judge(clone, 17) == ALLOW
    for shift in (17, 25, 26, 27, 28, 29, 30):
        assert judge(clone, 17 | 1 << shift) == ERRNO | errno.EPERM
    assert judge(435) == ERRNO | errno.ENOSYS
    assert judge(ioctl, 0, 0x5412) == ERRNO | errno.EPERM and judge(ioctl, 0, 0x5401) == ALLOW
    assert verdict(program, read, architecture=0x40000003) == KILL  # 32-bit calls have other numbers
    if machine == "x86_64":
        assert judge(0x40000000 | 101) == ERRNO | errno.ENOSYS


def test_the_filter_can_forbid_all_sockets_and_foreign_signals() -> None:
    program = Filter(sockets=False, signals_to=77).program("x86_64")

    def judge(number: int, *arguments: int) -> int:
        return verdict(program, number, *arguments, architecture=ARCHITECTURE["x86_64"])

    assert judge(41, 1) == ERRNO | errno.EAFNOSUPPORT and judge(53, 1) == ALLOW
    assert judge(62, 77, 9) == ALLOW
    for process in (1, 0, -1, 78):
        assert judge(62, process, 9) == ERRNO | errno.EPERM
    assert judge(302, 0) == ALLOW and judge(302, 78) == ERRNO | errno.EPERM  # limits of oneself, of others


def test_the_filter_knows_no_other_machine() -> None:
    with pytest.raises(KeyError):
        Filter(sockets=True).program("riscv64")


# the view -------------------------------------------------------------------------------------------------------------


def test_around_leaves_out_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a/x", "a/secret/y", "b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    root = str(tmp_path)
    assert around(root, ()) == (root,)
    assert around(root, ("/elsewhere",)) == (root,)
    assert around(root, (root,)) == ()
    assert around(root, (f"{root}/a/secret",)) == (f"{root}/a/x", f"{root}/b", f"{root}/file")


def test_the_view_holds_the_library_and_not_the_course(tmp_path: Path) -> None:
    view = View.of_host(Policy(mounts=(str(tmp_path),)), tmp_path)
    sources = {mount.source for mount in view.mounts}
    assert any(source.endswith("/attnlab") for source in sources) and str(tmp_path.resolve()) in sources
    assert str(tmp_path.resolve() / "solutions") in view.hidden
    assert not any(Path(path).is_relative_to(hidden) for path in sources for hidden in view.hidden)


def test_each_kernel_of_root_has_an_id_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    given = set()
    for process in (5, 6, 4_000_000):
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        given.add(limits.own_id())
    assert len(given) == 3 and min(given) > 65_536


# outputs --------------------------------------------------------------------------------------------------------------


def outputs_of(*messages: tuple[Any, Any], budget: int = 1 << 20) -> list[nbformat.NotebookNode]:
    outputs = CellOutputs(Budget(budget), {})
    for kind, content in messages:
        outputs.take(kind, content)
    return outputs.finished()


def printed(text: Any, name: Any = "stdout") -> tuple[str, dict[str, Any]]:
    return "stream", {"name": name, "text": text}


def test_what_is_printed_in_pieces_is_one_output() -> None:
    made = outputs_of(printed("a"), printed("b\n"), printed("e", "stderr"), printed("c"))
    assert [(o.name, o.text) for o in made] == [("stdout", "ab\n"), ("stderr", "e"), ("stdout", "c")]


@pytest.mark.parametrize(
    "message",
    [
        ("stream", None),
        ("stream", []),
        ("stream", {}),
        printed(1),
        printed("x", "stdin"),
        printed("x", ["stdout"]),
        ("display_data", {"data": "x"}),
        ("display_data", {"data": None}),
        ("update_display_data", {"data": {}, "transient": []}),
        ("update_display_data", {"data": {}, "transient": {"display_id": [1]}}),
        ("invented", {"data": {}}),
        (None, {}),
        (["x"], {}),
    ],
)
def test_messages_that_are_no_outputs_are_passed_over(message: tuple[Any, Any]) -> None:
    assert outputs_of(message) == []


@pytest.mark.parametrize(
    "message",
    [
        ("error", {}),
        ("error", {"ename": 1, "evalue": ["x"], "traceback": "text"}),
        ("error", {"ename": "E", "evalue": "v", "traceback": [1, "line", None, "\ud800"]}),
        ("execute_result", {"data": {"text/plain": "1"}, "metadata": 3, "execution_count": "5"}),
        ("display_data", {"data": {"text/plain": 5, "text/html": ["x"], "application/json": {"a": float("inf")}}}),
        ("display_data", {"data": {"x" * 1000: "y", "image/png": {}}, "metadata": {"a": {"b": [1, None]}}}),
    ],
)
def test_odd_outputs_come_out_valid(message: tuple[Any, Any]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=outputs_of(message))])
    nbformat.validate(notebook)
    json.loads(nbformat.writes(notebook).encode("utf-8"), parse_constant=pytest.fail)


def test_output_beyond_the_budget_is_cut_with_a_note() -> None:
    made = outputs_of(
        printed("x" * 900), printed("y" * 900), ("display_data", {"data": {"text/plain": "z" * 900}}), budget=1000
    )
    assert made[0].text.startswith("x" * 900) and "z" not in str(made)
    assert made[-1].name == "stderr" and "left out" in made[-1].text
    assert len(made) == 2


def test_lines_count_as_they_are_stored() -> None:
    made = outputs_of(printed("\n" * 10_000), budget=10_000)
    assert made[0].text.count("\n") < 1000


def test_clearing_waits_for_the_next_output_when_asked() -> None:
    assert [o.text for o in outputs_of(printed("a"), ("clear_output", {"wait": True}))] == ["a"]
    assert [o.text for o in outputs_of(printed("a"), ("clear_output", {"wait": True}), printed("b"))] == ["b"]
    assert outputs_of(printed("a"), ("clear_output", {"wait": False})) == []


def test_a_display_can_be_updated_from_another_cell() -> None:
    displays: dict[str, list[nbformat.NotebookNode]] = {}
    budget = Budget(1 << 20)
    first, second = CellOutputs(budget, displays), CellOutputs(budget, displays)
    first.take("display_data", {"data": {"text/plain": "old"}, "transient": {"display_id": "d"}})
    second.take("update_display_data", {"data": {"text/plain": "new"}, "transient": {"display_id": "d"}})
    assert first.finished()[0].data == {"text/plain": "new"} and second.finished() == []


def test_large_pages_hold_what_was_there() -> None:
    """In a process of its own, whose pages are nobody else's. Where the system refuses, it goes on as it was."""
    source = (
        "from grader.sandbox.pages import use_large_pages\n"
        "held = bytearray(range(256)) * (1 << 16)\n"
        "pages = use_large_pages()\n"
        "assert held == bytearray(range(256)) * (1 << 16)\n"
        "huge = [line for line in open('/proc/self/smaps_rollup') if line.startswith('AnonHugePages')]\n"
        "print(pages, pages == 0 or int(huge[0].split()[1]) > 0)"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    pages, seen = done.stdout.split()
    assert seen == "True"
    if pages == "0":
        pytest.skip("this system makes no large pages on demand")
