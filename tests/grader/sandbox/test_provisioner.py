"""Confined kernels for jupyter_client: by kernelspec and by configuration; and how one tells that they are ours."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from grader.course import Course
from grader.sandbox import SandboxError
from grader.sandbox.provisioner import (
    NAME,
    SandboxKernelManager,
    SandboxProvisioner,
    check_manager,
    install_kernelspec,
)
from tests.grader.sandbox.conftest import cells, text

TRY = "import os\nprint(os.getcwd() == '/submission' or 'kernels-' in os.getcwd())\nopen('/etc/hostname', 'w')"


@pytest.fixture
def managers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSpecManager:
    """Kernelspecs under a folder of this test alone, ours among them."""
    install_kernelspec(tmp_path)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share/jupyter"))
    return KernelSpecManager()


def test_the_kernelspec_names_the_provisioner_and_starts_nothing_without_it(tmp_path: Path) -> None:
    folder = install_kernelspec(tmp_path)
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["metadata"]["kernel_provisioner"]["provisioner_name"] == NAME
    assert os.spawnv(os.P_WAIT, spec["argv"][0], spec["argv"]) == 1


def test_the_package_makes_the_provisioner_known(course: Course) -> None:
    project = tomllib.loads((course.root / "pyproject.toml").read_text())["project"]
    point = project["entry-points"]["jupyter_client.kernel_provisioners"][NAME]
    assert point == f"{SandboxProvisioner.__module__}:{SandboxProvisioner.__name__}"


def test_managers_of_ours_pass_the_check_and_others_do_not(managers: KernelSpecManager) -> None:
    check_manager(SandboxKernelManager())
    check_manager(SandboxKernelManager)
    check_manager(AsyncKernelManager(kernel_name=NAME, kernel_spec_manager=managers))
    with pytest.raises(SandboxError, match="would not be confined"):
        check_manager(AsyncKernelManager(kernel_name="python3", kernel_spec_manager=managers))


@pytest.mark.slow
def test_nbclient_runs_confined_kernels_by_its_manager_class() -> None:
    client = NotebookClient(cells(TRY), kernel_manager_class=SandboxKernelManager, allow_errors=True)
    assert text(client.execute().cells[0]).startswith("True\n")
    assert "Error" in text(client.nb.cells[0])
    assert client.km is None  # it has been cleaned up


@pytest.mark.slow
def test_nbclient_runs_confined_kernels_by_their_name(managers: KernelSpecManager) -> None:
    assert NAME in managers.find_kernel_specs()
    check_manager(AsyncKernelManager(kernel_name=NAME))  # and so makes the provisioner known
    client = NotebookClient(cells(TRY, "1 + 1"), kernel_name=NAME, allow_errors=True)
    executed = client.execute()
    assert text(executed.cells[0]).startswith("True\n") and text(executed.cells[1]) == "2"


@pytest.mark.slow
def test_a_confined_kernel_can_be_interrupted_and_its_death_is_seen() -> None:
    notebook = cells("while True: pass", "1 + 1")
    client = NotebookClient(
        notebook, kernel_manager_class=SandboxKernelManager, allow_errors=True, timeout=1, interrupt_on_timeout=True
    )
    executed = client.execute()
    assert "KeyboardInterrupt" in text(executed.cells[0]) and text(executed.cells[1]) == "2"
    from nbclient.exceptions import DeadKernelError

    with pytest.raises(DeadKernelError):
        NotebookClient(cells("import os; os._exit(1)"), kernel_manager_class=SandboxKernelManager).execute()
