"""The fork server itself: it refuses where a fork would hang, it does without forking, and the doctor tells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import Course
from grader.sandbox import Mode, Policy, Sandbox, SandboxError, doctor, kernel, orders, probe
from grader.sandbox.forkserver import ForkServer
from tests.grader.sandbox.conftest import cells, text

pytestmark = pytest.mark.slow


def test_it_refuses_to_fork_with_more_than_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n"
    )
    monkeypatch.setitem(orders._ENVIRONMENT, "PYTHONPATH", str(tmp_path))
    with pytest.raises(SandboxError, match="2 threads"):
        ForkServer().ready()


def test_a_server_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SandboxError, match="did not start"):
        ForkServer().ready()


@pytest.mark.parametrize("after", [0.0, 1.5, 6.0])
def test_a_server_that_is_not_needed_ends_without_a_word(after: float) -> None:
    program = f"""if __name__ == "__main__":
        import time
        from grader.sandbox.forkserver import ForkServer
        server = ForkServer()
        time.sleep({after})
        server.close()
        print(server._process, server.folder.exists())"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("None False\n", "")


@pytest.mark.parametrize("mode", list(Mode), ids=str)
def test_kernels_start_where_torch_cannot_be_forked(
    mode: Mode, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "can_fork", lambda: False)
    policy = Policy(mode=mode, unsafe=mode is Mode.NONE, call_seconds=60)
    with Sandbox(policy, course_root=course.root) as plain, plain.kernel() as one:
        executed = one.run(cells("import torch\ndef f(x):\n    return x + 1", "f(torch.zeros(1))"))
        assert text(executed.cells[1]) == "tensor([1.])"
        assert one.answer("f")((1,), {}).value == 2
        folder = plain._server.folder if plain._server else Path()
    assert not folder.exists()


def test_a_mode_that_the_host_has_not_is_refused_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = (
        probe.Ability(Mode.NAMESPACES, False, "unshare: not permitted", "Ask for it."),
        probe.Ability(Mode.LANDLOCK, False, "no Landlock", "Get a newer Linux."),
        probe.Ability(Mode.NONE, True),
    )
    monkeypatch.setattr(probe, "ability", {a.mode: a for a in missing}.__getitem__)
    for policy in (Policy(), Policy(mode=Mode.LANDLOCK)):
        with pytest.raises(SandboxError, match="Get a newer Linux") as raised:
            Sandbox(policy)
        assert "--unsafe" in str(raised.value)
    assert Sandbox(Policy(unsafe=True)).policy.mode is Mode.NONE
    some = (missing[0], probe.Ability(Mode.LANDLOCK, True), missing[2])
    monkeypatch.setattr(probe, "ability", {a.mode: a for a in some}.__getitem__)
    assert Sandbox(Policy()).policy.mode is Mode.LANDLOCK
    with pytest.raises(SandboxError, match="Ask for it"):
        Sandbox(Policy(mode=Mode.NAMESPACES))


def test_the_probe_says_what_went_wrong() -> None:
    """Without the right to make namespaces, which nobody has under a filter that refuses unshare."""
    source = (
        "from grader.sandbox import seccomp\n"
        "seccomp.install(seccomp.Filter(sockets=True))\n"
        "from grader.sandbox.probe import probe\n"
        "print([(a.available, bool(a.reason), bool(a.remedy)) for a in probe()][0])"
    )
    said = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, cwd="/", check=True)
    assert said.stdout.strip() == "(False, True, True)"


def test_the_doctor_names_everything(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = {finding.what: finding for finding in doctor.report(course.root)}
    assert {"system", "namespaces", "landlock", "fork server", "confinement"} <= set(findings)
    assert all(finding.detail for finding in findings.values())
    assert all(finding.ok or finding.remedy for finding in findings.values())
    monkeypatch.setattr(doctor, "best", lambda: Mode.NONE)
    last = doctor.report(course.root)[-1]
    assert not last.ok and "--unsafe" in last.remedy


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an ordinary user")
def test_an_ordinary_user_has_confined_kernels_too(course: Course) -> None:
    """The interpreter may lie in root's home, so it is made reachable first, in a mount namespace of the test's own."""
    source = (
        "import os, sys, nbformat\n"
        "from grader.sandbox import Policy, Sandbox\n"
        "for mode in sys.argv[1:]:\n"
        "    with Sandbox(Policy(mode=mode)) as sandbox, sandbox.kernel() as kernel:\n"
        "        cell = nbformat.v4.new_code_cell('def f():\\n    import os\\n    return os.getuid()')\n"
        "        kernel.run(nbformat.v4.new_notebook(cells=[cell]))\n"
        "        print(mode, kernel.answer('f')((), {}).value)\n"
    )
    modes = [a.mode.value for a in probe.probe() if a.available and a.mode is not Mode.NONE]
    done = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, source, str(course.root), *modes],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [word for mode in modes for word in (mode, "65534")], done.stderr[-2000:]


_AS_NOBODY = """
import os, pathlib, sys
from grader.sandbox import limits, linux
from grader.sandbox.mounts import View
from grader.sandbox.policy import Policy
program, course, *modes = sys.argv[1:]
linux.unshare(linux.CLONE_NEWNS)
linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
sources = [pathlib.Path(mount.source) for mount in View.of_host(Policy(), None).mounts]
for parent in {p for source in sources for p in source.parents if not p.stat().st_mode & 1}:
    inside = [str(source) for source in sources if source.is_relative_to(parent)]
    handles = [(path, os.open(path, os.O_PATH)) for path in inside]
    linux.mount("open", str(parent), "tmpfs", 0, "mode=755")
    for path, handle in handles:
        os.makedirs(path)
        linux.mount(f"/proc/self/fd/{handle}", path, None, linux.MS_BIND | linux.MS_REC)
limits.become(65534, reading=False)
os.environ.update(HOME="/tmp", TMPDIR="/tmp")
os.execv(sys.executable, [sys.executable, "-c", program, *modes])
"""
