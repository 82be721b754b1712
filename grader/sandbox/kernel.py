"""Confined kernels for the rest of the grader: run a notebook, call its functions, begin anew."""

from __future__ import annotations

import contextlib
import copy
import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import zmq
from nbformat import NotebookNode

from attnlab.trial import Answer
from attnlab.verdict import Verdict
from grader.sandbox import wire
from grader.sandbox.caller import Channel, RemoteAnswer
from grader.sandbox.canary import prove, prove_gpu
from grader.sandbox.client import CellEnd, Client
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.mounts import View
from grader.sandbox.orders import Line, Orders, SandboxError
from grader.sandbox.outputs import Budget, CellOutputs, error_output
from grader.sandbox.policy import Mode, Policy
from grader.sandbox.probe import can_fork, decide
from grader.sandbox.supervisor import Ending

__all__ = ["Incident", "Kernel", "Sandbox", "SandboxError"]


@dataclass(frozen=True)
class Incident:
    """What befell a cell that did not simply run.

    cell: its position in the notebook
    what: "timed out", "killed" (timed out and did not heed the interrupt), "died" or "not run"
    words: for whoever reads the notebook
    """

    cell: int
    what: str
    words: str


class Sandbox:
    """Confined kernels under one policy, from one fork server that starts with the first of them.

    with Sandbox(policy, course_root=root) as sandbox, sandbox.kernel() as kernel: ...

    orders: the line to a fork server that is somebody else's, to be used for as long as it is there; the policy's mode
        is decided then
    For one thread of one process; after a fork the child starts a server of its own. Raises SandboxError where the
    policy's mode cannot be had on this host, or the walls turn out not to hold.
    """

    def __init__(
        self, policy: Policy | None = None, *, course_root: Path | None = None, orders: Orders | None = None
    ) -> None:
        self.policy = policy if policy and orders else decide(policy or Policy())
        self._course_root = course_root
        self._view = View.of_host(self.policy, course_root)
        self._server: ForkServer | None = None
        self._orders = orders
        self._context: zmq.Context[Any] | None = None
        self._owner = os.getpid()
        self._proven = False

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the fork server and whatever still runs."""
        if self._owner != os.getpid():  # a copy in a fork: what it holds is its parent's
            return
        if self._server is not None:
            self._server.close()
            self._server = self._orders = None
        if self._context is not None:
            self._context.destroy(linger=0)
            self._context = None

    @contextlib.contextmanager
    def kernel(self, policy: Policy | None = None) -> Iterator[Kernel]:
        """A fresh kernel, ended with the block.

        policy: other limits for this kernel alone; it is confined as all of this sandbox are
        """
        limits = self.policy if policy is None else replace(policy, mode=self.policy.mode, unsafe=self.policy.unsafe)
        kernel = Kernel(self, limits)
        try:
            yield kernel
        finally:
            kernel.close()

    @property
    def missing(self) -> list[str]:
        """What the fork server could not import, and why; such kernels are slower or lack it."""
        return self._server.missing if self._server else []

    def line(self, policy: Policy | None = None) -> Line:
        """A kernel by its sockets, for a Jupyter client. Close it. Raises SandboxError.

        The first one of a sandbox is preceded by one that must be refused all that a kernel must not do.
        """
        if self._owner != os.getpid():
            self._server = self._orders = self._context = None
            self._owner = os.getpid()
        if self._orders is None or not self._orders.alive:
            if self._server is not None:
                self._server.close()
            self._server = ForkServer(forking=can_fork())
            self._orders = self._server.ready(self.policy.start_seconds)
        if not self._proven:
            self._proven = True
            walls = self.policy.mode is not Mode.NONE
            if walls or self.policy.gpu:
                try:
                    with self.kernel() as kernel:
                        if walls:
                            prove(kernel, self._course_root)
                        if self.policy.gpu:
                            prove_gpu(kernel)
                except BaseException:
                    self._proven = False
                    raise
        return self._orders.order(policy or self.policy, self._view)

    def launch(self, policy: Policy) -> tuple[Line, Client]:
        """A kernel that is ready for its first cell, and its client. Raises SandboxError."""
        line = self.line(policy)
        self._context = self._context or zmq.Context()
        client = Client(self._context, line, message_bytes=policy.message_bytes)
        if not client.connect(policy.start_seconds):
            client.close()
            ending = line.close()
            raise SandboxError(f"a kernel did not answer ({_how(ending)})")
        return line, client


class Kernel:
    """One learner's kernel. It may die at any time; then `alive` is False and `restart` gives a fresh one."""

    def __init__(self, sandbox: Sandbox, policy: Policy) -> None:
        self._sandbox = sandbox
        self._policy = policy
        self._line, self._client = sandbox.launch(policy)
        self._channel = self._new_channel()
        self._hung: set[int] = set()  # cells that were interrupted: given less time when run again
        self._deadly: set[int] = set()  # cells that a kernel did not survive: not run again
        self._without: Collection[str] = ()
        self.incidents: tuple[Incident, ...] = ()

    @property
    def alive(self) -> bool:
        return self._line.ending() is None

    @property
    def ending(self) -> Ending | None:
        """How the kernel ended; None while it runs."""
        return self._line.ending()

    def close(self) -> None:
        """End the kernel and all that it started."""
        self._channel.close()
        self._client.close()
        self._line.close()

    def answer(self, name: str) -> Answer:
        """The function `name` of the notebook that was run. Calls go to the kernel that is there when they are made."""
        return RemoteAnswer(lambda: self._channel, name)

    def run(self, notebook: NotebookNode, *, without: Collection[str] = ()) -> NotebookNode:
        """Run the code cells in order. Returns the notebook with its outputs; `incidents` says what else happened.

        without: ids of cells that are not run

        Never raises for what a notebook does. A cell that takes too long is interrupted, and killed with its kernel if
        it does not heed; the cells after one that the kernel did not survive run in a fresh kernel, in which the cells
        before it have run again, as often as the policy allows.
        """
        self._hung.clear()
        self._deadly.clear()
        self._without = without
        return self._run(notebook)

    def restart(self, notebook: NotebookNode) -> NotebookNode:
        """A fresh kernel with the notebook's cells run in it, but for those that no kernel survived."""
        self._renew()
        return self._run(notebook)

    def _run(self, notebook: NotebookNode) -> NotebookNode:
        run = _Run(self, copy.deepcopy(notebook))
        run.all_cells()
        self.incidents = tuple(run.incidents)
        return run.notebook

    def _renew(self) -> None:
        self.close()
        self._line, self._client = self._sandbox.launch(self._policy)
        self._channel = self._new_channel()

    def _new_channel(self) -> Channel:
        limits = wire.WireLimits(self._policy.tree_bytes, self._policy.call_bytes)
        policy = self._policy
        return Channel(
            self._line.channel, limits=limits, seconds=policy.call_seconds, total=policy.answer_seconds,
            ended=self._give_up,
        )  # fmt: skip

    def _give_up(self, verdict: Verdict, words: str) -> tuple[Verdict, str]:
        """A call failed for good: end the kernel, and tell what the supervisor knows better."""
        ending = self._line.ending(wait=_SUPERVISOR_SAYS if verdict is Verdict.ERRORED else 0.0)
        ending = ending or self._line.close()
        if ending.reason in _LIMITS:
            return _LIMITS[ending.reason]
        if verdict is Verdict.ERRORED and ending.code == -_SIGXCPU:
            return _LIMITS["life"]
        return verdict, words


_SUPERVISOR_SAYS = 0.5  # seconds between the end of a kernel and the supervisor's word of it; it needs a hundredth
_SIGXCPU = 24
_LIMITS = {
    "memory": (Verdict.OUT_OF_MEMORY, "It used more memory than it may have."),
    "disk": (Verdict.BLOCKED, "It wrote more to the disk than it may."),
    "processes": (Verdict.BLOCKED, "It started more processes than it may."),
    "life": (Verdict.TIMED_OUT, "The notebook has used up all its time."),
}
"""The supervisor's reasons, in words for the learner."""


class _Run:
    """One run of a notebook's cells."""

    def __init__(self, kernel: Kernel, notebook: NotebookNode) -> None:
        self.kernel = kernel
        self.notebook = notebook
        self.incidents: list[Incident] = []
        self.policy = kernel._policy
        self.budget = Budget(self.policy.output_bytes)
        self.displays: dict[str, list[NotebookNode]] = {}
        self.deadline = time.monotonic() + self.policy.notebook_seconds
        code = ((i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        self.cells = [(i, cell) for i, cell in code if cell.get("id") not in kernel._without]
        self.revivals = self.policy.revivals
        self.stopped = ""

    def all_cells(self) -> None:
        for index, cell in self.cells:
            cell.outputs, cell.execution_count = [], None
            source = _source(cell)
            if index in self.kernel._deadly:
                self._note(cell, Incident(index, "not run", "Not run again: the kernel did not survive this cell."))
            elif self.stopped:
                self._note(cell, Incident(index, "not run", f"Not run: {self.stopped}."))
            elif source.strip():
                self._cell(index, cell, source)

    def _cell(self, index: int, cell: NotebookNode, source: str) -> None:
        outputs = CellOutputs(self.budget, self.displays)
        seconds = self._seconds(index)
        run = self.kernel._client.run(source, outputs, seconds=seconds, grace=self.policy.grace_seconds)
        end, cell.execution_count, cell.outputs = run.end, run.count, outputs.finished()
        if time.monotonic() > self.deadline:
            self.stopped = f"the notebook had used up its {self.policy.notebook_seconds:g} seconds"
        if end is CellEnd.TIMED_OUT:
            self.kernel._hung.add(index)
            self._note(cell, Incident(index, "timed out", f"Stopped: not finished after {seconds:.0f} seconds."))
        elif end is not CellEnd.DONE:
            self.kernel._deadly.add(index)
            words = "Stopped with its kernel: not finished in time, and not to be interrupted."
            if end is CellEnd.DIED:
                words = f"The kernel ended during this cell ({_how(self.kernel.ending)})."
            self._note(cell, Incident(index, "killed" if end is CellEnd.KILLED else "died", words))
            self._revive(index)

    def _seconds(self, index: int) -> float:
        most = self.policy.repeat_seconds if index in self.kernel._hung else self.policy.cell_seconds
        return max(0.0, min(most, self.deadline - time.monotonic()))

    def _revive(self, dead: int) -> None:
        """A fresh kernel for the cells after the one that died, with those before it run again."""
        while not self.stopped:
            if not self.revivals:
                self.stopped = "the kernel ended too often"
                return
            self.revivals -= 1
            self.kernel._renew()
            if self._repeat(dead):
                return

    def _repeat(self, before: int) -> bool:
        """Run the cells before one again, without keeping their outputs. False where the kernel died of it."""
        for index, cell in self.cells:
            if index >= before or time.monotonic() > self.deadline:
                break
            if index in self.kernel._deadly:
                continue
            nowhere = CellOutputs(Budget(0), {})
            run = self.kernel._client.run(
                _source(cell), nowhere, seconds=self._seconds(index), grace=self.policy.grace_seconds
            )
            if run.end in (CellEnd.DIED, CellEnd.KILLED):
                self.kernel._deadly.add(index)
                return False
        return True

    def _note(self, cell: NotebookNode, incident: Incident) -> None:
        names = {"timed out": "TimedOut", "killed": "TimedOut", "died": "KernelEnded", "not run": "NotRun"}
        self.incidents.append(incident)
        cell.outputs.append(error_output(names[incident.what], incident.words))


def _source(cell: NotebookNode) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


def _how(ending: Ending | None) -> str:
    """How a kernel ended, in a few words."""
    if ending is None:
        return "it still runs"
    if ending.reason:
        return {"memory": "too much memory", "disk": "too much on the disk", "life": "its time was used up"}.get(
            ending.reason, ending.reason
        )  # fmt: skip
    return f"signal {-ending.code}" if ending.code < 0 else f"exit code {ending.code}"
