"""The walls hold: nothing to read, nothing to reach, nothing used up, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.verdict import AnswerError, Verdict
from grader.course import Course
from grader.sandbox import Mode, Policy, Sandbox, SandboxError
from grader.sandbox.canary import prove, try_walls
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.probe import best, probe
from tests.grader.sandbox.conftest import all_gone, cells, descendants, of_kernels, open_files, text

pytestmark = pytest.mark.slow

MIB = 1 << 20
SHORT = Policy(cell_seconds=15.0, grace_seconds=0.5, revivals=0)


def test_everything_that_must_be_refused_is_refused(sandbox: Sandbox, course: Course) -> None:
    with sandbox.kernel() as kernel:
        attempts = prove(kernel, course.root)
    assert len(attempts) >= 8 and all(attempt.refused for attempt in attempts)


def test_the_proof_sees_a_sandbox_without_walls(course: Course) -> None:
    policy = Policy(mode=Mode.NONE, unsafe=True)
    with Sandbox(policy, course_root=course.root) as open_sandbox, open_sandbox.kernel() as kernel:
        held = {attempt.what.split()[0] for attempt in try_walls(kernel, course.root) if not attempt.refused}
        assert {"read", "reach", "see"} <= held
        assert ("write" in held) == os.access(sys.prefix, os.W_OK)
        with pytest.raises(SandboxError, match="does not hold"):
            prove(kernel, course.root)
    (Path(sys.prefix) / "canary").unlink(missing_ok=True)


def test_without_walls_must_be_said() -> None:
    with pytest.raises(ValueError, match="unsafe=True"):
        Policy(mode=Mode.NONE)


@pytest.mark.parametrize(
    "path",
    [
        "solutions/hidden/checks/masked_softmax.py",
        "grader/judge.py",
        "pyproject.toml",
        "notebooks/README.md",
        "tests/conftest.py",
    ],
)
def test_of_the_course_only_the_student_library_can_be_read(sandbox: Sandbox, course: Course, path: str) -> None:
    tries = f"print(open({str(course.root / path)!r}).read())"
    library = f"print(len(open({str(course.root / 'notebooks/attnlab/verdict.py')!r}).read()))"
    with sandbox.kernel() as kernel:
        executed = kernel.run(cells(tries, library, "import solutions", "import grader.judge"))
    refused, read, *imports = executed.cells
    assert refused.outputs[0].output_type == "error"
    assert read.outputs[0].output_type == "stream" and int(text(read)) > 100
    assert all(cell.outputs[0].ename in ("ModuleNotFoundError", "PermissionError") for cell in imports)


def test_nothing_outside_its_own_folders_can_be_written(sandbox: Sandbox, course: Course) -> None:
    source = (
        "import os\n"
        f"places = ['/', '/usr', '/etc', '/dev', '/proc', {str(course.root)!r}, {sys.prefix!r}, '/var/tmp', '/run']\n"
        "held = []\n"
        "for place in places:\n"
        "    try:\n"
        "        open(os.path.join(place, 'x'), 'w').close(); held.append(place)\n"
        "    except OSError: pass\n"
        "held, os.environ['TMPDIR'].startswith('/tmp')"
    )
    with sandbox.kernel() as kernel:
        executed = kernel.run(cells(source))
    assert text(executed.cells[0]) == "([], True)"


def test_a_kernel_sees_no_process_and_no_secret_of_the_grader(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", "canary-in-the-environment")
    source = (
        "import os\n"
        "seen = ''\n"
        f"for entry in ['self', *map(str, range(1, 300)), '{os.getpid()}', '{os.getppid()}']:\n"
        "    for name in ('environ', 'cmdline'):\n"
        "        try: seen += open(f'/proc/{entry}/{name}').read()\n"
        "        except OSError: pass\n"
        "seen += str(dict(os.environ))\n"
        "print('canary-in' in seen, 'pytest' in seen)\n"
        f"try: os.kill({os.getpid()}, 0); print('signalled')\n"
        "except OSError as error: print(type(error).__name__)"
    )
    with sandbox.kernel() as kernel:
        said = text(kernel.run(cells(source)).cells[0]).split()
    assert said[:2] == ["False", "False"] and said[2] in ("ProcessLookupError", "PermissionError")


def test_descriptors_are_only_the_kernels_own(sandbox: Sandbox) -> None:
    source = (
        "import os\n"
        "def target(fd):\n"
        "    try: return os.readlink(f'/proc/self/fd/{fd}')\n"
        "    except OSError: return ''\n"
        "[target(fd) for fd in os.listdir('/proc/self/fd')]"
    )
    with sandbox.kernel() as kernel:
        links = eval(text(kernel.run(cells(source)).cells[0]))
    assert len(links) > 10
    assert [link for link in links if link.startswith("/") and not link.startswith(("/dev/", "/proc/"))] == []


# use ------------------------------------------------------------------------------------------------------------------


def test_memory_of_one_process_is_bounded(sandbox: Sandbox) -> None:
    with sandbox.kernel(replace(SHORT, address_bytes=256 * MIB)) as kernel:
        executed = kernel.run(
            cells("x = bytearray(100 << 30)", "y = [bytes(1 << 20) for _ in range(10**4)]", "print(1)")
        )
        assert kernel.alive
    assert [text(cell)[:11] for cell in executed.cells] == ["MemoryError", "MemoryError", "1\n"]


def test_memory_of_all_processes_is_bounded(sandbox: Sandbox) -> None:
    hog = (
        "import os, time\n"
        "for _ in range(6):\n"
        "    if os.fork() == 0:\n"
        "        x = bytearray(os.urandom(1 << 20) * 60); time.sleep(60)\n"
        "time.sleep(10)"
    )
    with sandbox.kernel(replace(SHORT, resident_bytes=128 * MIB)) as kernel:
        kernel.run(cells(hog))
        assert kernel.ending is not None and kernel.ending.reason == "memory"


def test_a_call_that_takes_all_memory_says_so(sandbox: Sandbox) -> None:
    source = "def f():\n    x = bytearray(b'x' * (300 << 20))\n    import time; time.sleep(5)"
    with sandbox.kernel(replace(SHORT, resident_bytes=128 * MIB)) as kernel:
        kernel.run(cells(source))
        with pytest.raises(AnswerError) as raised:
            kernel.answer("f")((), {})
    assert raised.value.verdict is Verdict.OUT_OF_MEMORY


BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"


def test_a_fork_bomb_is_contained(sandbox: Sandbox) -> None:
    with sandbox.kernel(replace(SHORT, processes=40, cell_seconds=2)) as kernel:
        kernel.run(cells(BOMB))
        assert len(of_kernels(sandbox)) < 100
    assert all_gone(sandbox)
    with sandbox.kernel() as kernel:
        assert text(kernel.run(cells("1 + 1")).cells[0]) == "2"


def test_threads_are_bounded(sandbox: Sandbox) -> None:
    source = (
        "import threading, time\n"
        "for i in range(2000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    )
    with sandbox.kernel(replace(SHORT, processes=60)) as kernel:
        executed = kernel.run(cells(source, "print(threading.active_count())"))
    assert "can't start new thread" in text(executed.cells[0])
    assert int(text(executed.cells[1])) <= 60


def test_the_disk_is_bounded(sandbox: Sandbox) -> None:
    fill = "for i in range(100):\n    open(f'file{i}', 'wb').write(bytes(1 << 20))"
    big = "open('big', 'wb').write(bytes(80 << 20))"
    with sandbox.kernel(replace(SHORT, disk_bytes=32 * MIB)) as kernel:
        executed = kernel.run(cells(big, fill, "import time; time.sleep(3)"))
        full = "No space left" in text(executed.cells[1])
        ended = kernel.ending is not None and kernel.ending.reason == "disk"
    assert full or ended
    with sandbox.kernel(replace(SHORT, file_bytes=MIB)) as kernel:
        executed = kernel.run(cells("open('big', 'wb').write(bytes(4 << 20))"))
    assert "File too large" in text(executed.cells[0])


def test_files_are_bounded_in_number(sandbox: Sandbox) -> None:
    many = "for i in range(10**5): open(f'f{i}', 'w').close()"
    with sandbox.kernel(replace(SHORT, inodes=2000)) as kernel:
        executed = kernel.run(cells(many, "import time; time.sleep(3)"))
        ended = kernel.ending is not None and kernel.ending.reason == "disk"
    assert ended or "No space left" in text(executed.cells[0])


# what is left ---------------------------------------------------------------------------------------------------------

DAEMON = (
    "import os, signal, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n"
    "        time.sleep(600)\n"
    "    os._exit(0)\n"
    "time.sleep(0.2)"
)


def test_daemons_end_with_their_kernel(sandbox: Sandbox) -> None:
    with sandbox.kernel() as kernel:
        kernel.run(cells(DAEMON))
        assert len(of_kernels(sandbox)) >= 3
    assert all_gone(sandbox)


def test_thirty_kernels_leave_nothing(sandbox: Sandbox) -> None:
    def once() -> None:
        with sandbox.kernel(replace(SHORT, call_seconds=5)) as kernel:
            kernel.run(cells("def f():\n    return 1", "open('x', 'w').write('x')"))
            assert kernel.answer("f")((), {}).value == 1

    once()
    assert sandbox._server is not None
    before = open_files()
    for _ in range(30):
        once()
    assert all_gone(sandbox)
    assert open_files() == before
    assert os.listdir(sandbox._server.folder) == ["root"]


GRADER = """
import os, sys, nbformat
from grader.sandbox import Policy, Sandbox
with Sandbox(Policy(mode=sys.argv[1], unsafe=sys.argv[1] == "none")) as sandbox, sandbox.kernel() as kernel:
    daemon = nbformat.v4.new_code_cell(sys.argv[2])
    kernel.run(nbformat.v4.new_notebook(cells=[daemon]))
    print(sandbox._server.folder, flush=True)
    kernel.run(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import time; time.sleep(600)")]))
"""


@pytest.mark.parametrize("mode", list(Mode), ids=str)
def test_a_killed_grader_leaves_nothing(mode: Mode) -> None:
    if not next(ability.available for ability in probe() if ability.mode is mode):
        pytest.skip(f"this host has no {mode}")
    grader = subprocess.Popen([sys.executable, "-c", GRADER, mode, DAEMON], stdout=subprocess.PIPE, text=True, cwd="/")
    assert grader.stdout is not None
    folder = Path(grader.stdout.readline().strip())
    below = descendants(grader.pid)
    assert folder.is_dir() and len(below) >= 4  # fork server, supervisor, kernel, daemon
    grader.send_signal(signal.SIGKILL)
    grader.wait()
    grader.stdout.close()
    deadline = time.monotonic() + 5  # a second where nothing else runs
    while (folder.exists() or any(map(runs, below))) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not folder.exists() and not any(map(runs, below))


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_supervisor_leaves_nothing(sandbox: Sandbox) -> None:
    with sandbox.kernel(SHORT) as kernel:
        kernel.run(cells(DAEMON))
        assert sandbox._server is not None and sandbox._server._process is not None
        server, started = sandbox._server._process.pid, of_kernels(sandbox)
        supervisor = next(p for p in started if parent_of(p) == server)
        os.kill(supervisor, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while any(map(runs, started)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not any(map(runs, started))
        assert not kernel.alive


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def test_a_killed_fork_server_is_started_again(course: Course) -> None:
    with Sandbox(Policy(), course_root=course.root) as own:
        with own.kernel() as kernel:
            kernel.run(cells("1"))
            assert own._server is not None and own._server._process is not None
            own._server._process.kill()
            deadline = time.monotonic() + 5
            while kernel.alive and time.monotonic() < deadline:
                time.sleep(0.02)
            assert not kernel.alive
        with own.kernel() as kernel:
            assert text(kernel.run(cells("1 + 1")).cells[0]) == "2"


def test_a_fork_server_of_somebody_else_is_used_while_it_is_there(course: Course) -> None:
    server = ForkServer()
    try:
        policy = Policy(mode=best(), unsafe=True)
        with Sandbox(policy, course_root=course.root, orders=server.ready()) as own:
            with own.kernel() as kernel:
                assert text(kernel.run(cells("1 + 1")).cells[0]) == "2"
                assert own._server is None
            assert server._process is not None
            server._process.kill()
            server._process.wait()
            with own.kernel() as kernel:
                assert text(kernel.run(cells("1 + 2")).cells[0]) == "3"
                assert own._server is not None
    finally:
        server.close()
    assert not server.folder.exists()
