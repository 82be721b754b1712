"""The fork server's owner: starts it, waits until it has imported everything, ends it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from grader.sandbox.orders import Orders, SandboxError, end_server, packet_of, start_server

__all__ = ["ForkServer"]

_LONGEST = 60  # characters of the folder's path: a Unix socket's whole path may have 107


class ForkServer:
    """One process that imports everything, and then forks a kernel in a few milliseconds.

    It begins with its imports at once; `ready` waits for them.
    forking: False starts each kernel as a process of its own, for hosts where torch cannot be forked
    """

    def __init__(self, *, forking: bool = True) -> None:
        self.folder = _own_folder()
        self.missing: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._orders = Orders(self.folder, None)
        self._greeted = not forking
        try:
            self._orders.root.mkdir()
            if forking:
                self._process, self._orders.control = start_server(self.folder)
        except BaseException:
            self.close()
            raise

    def ready(self, seconds: float = 60.0) -> Orders:
        """Wait until it takes orders. Raises SandboxError, and closes it, where it does not within so many seconds."""
        if not self._greeted:
            try:
                self._greet(seconds)
            except BaseException:
                self.close()
                raise
            self._greeted = True
        return self._orders

    def close(self) -> None:
        """End the server. Kernels that still run end with it."""
        if self._orders.control is not None:
            self._orders.control.close()
        if self._process is not None:
            end_server(self._process)
            self._process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _greet(self, seconds: float) -> None:
        assert self._orders.control is not None
        said = packet_of(self._orders.control, seconds)
        if said is None:
            raise SandboxError("the fork server did not start; its own words, if any, are above")
        self.missing = list(said["missing"])
        if said["threads"] != 1:
            raise SandboxError(
                f"the fork server has {said['threads']} threads after its imports and refuses to fork, because kernels "
                "would hang; some module starts threads when it is imported"
            )


def _own_folder() -> Path:
    """A new folder with a short path, that other users may pass through but not list."""
    for parent in (tempfile.gettempdir(), "/tmp"):
        if len(parent) <= _LONGEST:
            folder = Path(tempfile.mkdtemp(prefix="kernels-", dir=parent))
            folder.chmod(0o711)
            return folder.resolve()
    raise SandboxError("no folder for temporary files has a path short enough for sockets; set TMPDIR to /tmp")
