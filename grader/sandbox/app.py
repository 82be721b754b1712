"""IPython's kernel application on sockets that were bound before it was born, with the judge's agent beside it."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

import ipykernel.ipkernel
import zmq
from ipykernel.control import ControlThread
from ipykernel.iostream import IOPubThread, OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.shellchannel import ShellChannelThread
from tornado.ioloop import IOLoop
from traitlets import Dict, DottedObjectName
from traitlets.config import Config

from grader.sandbox.agent import Agent

__all__ = ["start"]

_SHELL, _IOPUB, _STDIN, _CONTROL = 1, 2, 3, 4  # stand for the port numbers that a kernel usually has


class _NoModules:
    """`sys` without its modules."""

    modules: Mapping[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)


class _Kernel(IPythonKernel):
    """Does not list the files of all modules for a debugger that is not there: that would copy a page for each."""

    def __init__(self, **kwargs: Any) -> None:
        module: Any = ipykernel.ipkernel
        module.sys = _NoModules()
        try:
            super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        finally:
            module.sys = sys


class Stream(OutStream):
    """Where a kernel prints to. It does not wait for the thread that sends where there is nothing to be sent."""

    def flush(self) -> None:
        if self._buffers:  # IPython asks four times a cell
            super().flush()  # type: ignore[no-untyped-call]


class _App(IPKernelApp):
    """Takes listening sockets by descriptor, so a kernel needs no folder, no network and no connection file."""

    descriptors = Dict()
    kernel_class = _Kernel
    outstream_class = DottedObjectName(f"{__name__}.Stream")

    def parse_command_line(self, argv: Any = None) -> None:
        """There is none, and building the parser of one takes a tenth of a kernel's start."""

    def load_config_file(self, *_: Any, **__: Any) -> None:
        """No file configures a kernel: the learner's are not there, and the host's are none of its business."""

    def _configure_logging(self) -> None:
        """There is nobody to read a log, and what usually sets it up looks through all loggers there are."""
        logging.getLogger(type(self).__name__).setLevel(logging.CRITICAL)

    def init_code(self) -> None:
        """No code runs before the first cell, whatever files the host has for that; nor are all modules listed."""
        shell: Any = self.shell
        shell.user_ns_hidden.update(shell.user_ns)

    def _try_bind_socket(self, s: Any, port: int) -> int:
        s.setsockopt(zmq.USE_FD, self.descriptors[str(port)])
        s.bind(f"ipc://{port}")  # the name is not used, but must be there
        return port

    def init_connection_file(self) -> None:
        self.transport, self.ip = "ipc", "inherited"
        self.shell_port, self.iopub_port, self.stdin_port, self.control_port = _SHELL, _IOPUB, _STDIN, _CONTROL

    def write_connection_file(self, **_: Any) -> None:
        """There is none."""

    def init_heartbeat(self) -> None:
        """There is none: the supervisor knows whether this process lives."""

    def init_control(self, context: Any) -> None:
        self.control_socket = context.socket(zmq.ROUTER)
        self.control_socket.linger = 0
        self._try_bind_socket(self.control_socket, self.control_port)
        self.control_socket.router_handover = 1
        # the debugger's two sockets are asked for, but never connected
        self.debugpy_socket = context.socket(zmq.STREAM)
        self.debug_shell_socket = context.socket(zmq.DEALER)
        self.control_thread = ControlThread(daemon=True)  # type: ignore[no-untyped-call]
        self.shell_channel_thread = ShellChannelThread(context, daemon=True)

    def init_iopub(self, context: Any) -> None:
        publisher = context.socket(zmq.XPUB)
        publisher.linger = 1000  # milliseconds: the last words of a kernel that exits
        publisher.sndhwm = 0  # never drop an output, "idle" least of all; what waits counts against the memory limit
        self._try_bind_socket(publisher, self.iopub_port)
        self.configure_tornado_logger()  # type: ignore[no-untyped-call]
        # no pipe: it would be a TCP port, for what forks of the kernel print through Python
        self.iopub_thread = IOPubThread(publisher, pipe=False, session=self.session)  # type: ignore[no-untyped-call]
        self.iopub_thread.start()  # type: ignore[no-untyped-call]
        self.iopub_socket = self.iopub_thread.background_socket


def start(key: str, listeners: Mapping[str, int], channel: socket.socket, ready: Callable[[], None]) -> None:
    """Run a kernel until it ends.

    key: signs its messages
    listeners: descriptor of the listening socket for each Jupyter channel
    channel: the judge's calls arrive here; they are answered between cells, in the main thread
    ready: called once all sockets are bound
    """
    config = Config()
    config.Session.key = key.encode()
    config.HistoryManager.enabled = False  # a database that nobody would read, and a thread to write it
    numbers = {"shell": _SHELL, "iopub": _IOPUB, "stdin": _STDIN, "control": _CONTROL}
    descriptors = {str(numbers[name]): fd for name, fd in listeners.items()}
    app: Any = _App.instance(config=config, log_level=logging.CRITICAL, descriptors=descriptors)
    app.initialize([])
    if not _has_terminals():
        app.shell.system = app.shell.system_raw  # a line with "!" runs on a terminal, or else on plain pipes
    agent = Agent(channel, lambda: app.shell.user_ns)
    loop = IOLoop.current()

    def answer(_fd: Any, _events: int) -> None:
        if not agent.serve_one():
            loop.remove_handler(channel)

    loop.add_handler(channel, answer, IOLoop.READ)
    ready()
    app.start()


def _has_terminals() -> bool:
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True
