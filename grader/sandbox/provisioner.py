"""Confined kernels for whoever speaks jupyter_client: stock nbgrader, nbclient, nbconvert.

By a kernelspec: `install_kernelspec()` once, then `c.Execute.kernel_name = "attention-sandbox"`. Or by configuration
alone: `c.Execute.kernel_manager_class = "grader.sandbox.provisioner.SandboxKernelManager"`. A setting that is mistyped
is ignored in silence, and would run everything unconfined: `check_manager` tells.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import os
import signal
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase
from traitlets import Dict, Unicode

from grader.sandbox.body import CHANNELS
from grader.sandbox.kernel import Sandbox
from grader.sandbox.orders import Line, SandboxError
from grader.sandbox.policy import Policy

__all__ = ["NAME", "SandboxKernelManager", "SandboxProvisioner", "check_manager", "install_kernelspec"]

NAME = "attention-sandbox"
"""Of the kernelspec and of the provisioner."""

_WAIT = 5.0  # seconds for a kernel to be gone after it was killed; it needs a twentieth


class SandboxProvisioner(KernelProvisionerBase):
    """Gives a kernel manager a confined kernel in place of a process of its own."""

    policy = Dict(help="Limits that differ from the default policy, by name.").tag(config=True)
    course_root = Unicode("", help="The course's folder, whose hidden parts no kernel may read.").tag(config=True)

    _line: Line | None = None

    @property
    def has_process(self) -> bool:
        return self._line is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """The command is never run: nobody starts a program here, the fork server forks."""
        return await super().pre_launch(cmd=list(_ARGV), **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:  # noqa: ARG002  (interface)
        """Order a kernel. What the manager would have it inherit, folder and environment, it does not get."""
        sandbox = _sandbox(json.dumps(dict(self.policy), sort_keys=True), self.course_root, os.getpid())
        loop = asyncio.get_running_loop()
        self._line = await loop.run_in_executor(None, sandbox.line)
        ports = {f"{name}_port": i for i, name in enumerate((*CHANNELS, "hb"), 1)}
        info: Any = {
            **ports, "transport": "ipc", "ip": self._line.address, "key": self._line.key.encode(),
            "signature_scheme": "hmac-sha256", "kernel_name": NAME,
        }  # fmt: skip
        self.connection_info = info
        return info

    async def poll(self) -> int | None:
        """None while the kernel runs."""
        if self._line is None:
            return 0
        ending = self._line.ending()
        return None if ending is None else ending.code

    async def wait(self) -> int | None:
        """The exit code, once there is one."""
        while (code := await self.poll()) is None:
            assert self._line is not None
            loop, ended = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(self._line.descriptor, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(self._line.descriptor)
        return code

    async def send_signal(self, signum: int) -> None:
        if self._line is not None:
            self._line.signal(signum)

    async def kill(self, restart: bool = False) -> None:  # noqa: ARG002  (interface)
        await self.send_signal(signal.SIGKILL)
        await asyncio.wait_for(self.wait(), _WAIT)

    async def terminate(self, restart: bool = False) -> None:
        await self.kill(restart)

    async def shutdown_requested(self, restart: bool = False) -> None:
        """Kernels are thrown away: none is given time for last words."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:  # noqa: ARG002  (interface)
        if self._line is not None:
            self._line.close()
            self._line = None


class SandboxKernelManager(AsyncKernelManager):
    """A kernel manager whose kernels are confined whatever name it is asked for."""

    @property
    def kernel_spec(self) -> KernelSpec:
        _register()
        return _spec()


def check_manager(manager: Any) -> None:
    """Raise SandboxError unless the kernels of this manager, or manager class, are confined."""
    known = _register()  # first: jupyter_client knows no kernelspec whose provisioner it does not know
    if isinstance(manager, SandboxKernelManager) or manager is SandboxKernelManager:
        return
    spec = getattr(manager, "kernel_spec", None)
    metadata = getattr(spec, "metadata", None) or {}
    name = (metadata.get("kernel_provisioner") or {}).get("provisioner_name")
    if name != NAME or known is not SandboxProvisioner:
        raise SandboxError(
            f"the kernels of this run would not be confined (provisioner: {name or 'the default'}); "
            f'set c.Execute.kernel_name = "{NAME}" after installing its kernelspec, or '
            'c.Execute.kernel_manager_class = "grader.sandbox.provisioner.SandboxKernelManager"'
        )


def install_kernelspec(prefix: Path | None = None) -> Path:
    """Write the kernelspec where Jupyter looks, under this environment unless told otherwise. Returns its folder."""
    folder = (prefix or Path(sys.prefix)) / "share/jupyter/kernels" / NAME
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.json").write_text(json.dumps(_spec().to_dict(), indent=1) + "\n", encoding="utf-8")
    return folder


_REFUSAL = "raise SystemExit('This kernel is started by the provisioner of its name only; it would not be confined.')"
_ARGV = (sys.executable, "-c", _REFUSAL, "{connection_file}")


def _spec() -> KernelSpec:
    metadata = {"kernel_provisioner": {"provisioner_name": NAME}}
    return KernelSpec(argv=list(_ARGV), display_name="Python (confined)", language="python", metadata=metadata)


def _register() -> Any:
    """The class that jupyter_client loads for NAME; made known here where the installed metadata is older."""
    known = KernelProvisionerFactory.instance().provisioners
    if NAME not in known:
        value = f"{SandboxProvisioner.__module__}:{SandboxProvisioner.__qualname__}"
        known[NAME] = EntryPoint(NAME, value, KernelProvisionerFactory.GROUP_NAME)
    return known[NAME].load()


@functools.cache
def _sandbox(policy: str, course_root: str, process: int) -> Sandbox:  # noqa: ARG001  (one for each process)
    """The process's sandbox under a policy, closed when it exits."""
    sandbox = Sandbox(Policy.from_json(json.loads(policy)), course_root=Path(course_root) if course_root else None)
    atexit.register(sandbox.close)
    return sandbox
