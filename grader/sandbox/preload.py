"""What the fork server imports once, so that no kernel has to."""

from __future__ import annotations

import gc
import importlib
import inspect
import pkgutil
import sys
import types
from collections.abc import Iterable, Iterator

__all__ = ["MODULES", "preload", "without_compiler", "without_debugger"]

MODULES = (
    # what the course's notebooks import
    "torch", "torch.nn.functional", "torch.utils.data", "numpy", "numpy.random", "ipywidgets", "plotly.graph_objects",
    "plotly.io", "plotly.validators", "anywidget", "safetensors.torch",
    # the kernel
    "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell", "ipykernel.comm.manager", "nbformat",
    "tornado.platform.asyncio", "asyncio.runners", "psutil",
    # what a kernel was seen to import up to the end of its first cell
    "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.magics", "IPython.core.oinspect",
    "IPython.extensions.storemagic", "IPython.utils.wildcard", "pdb", "faulthandler", "resource", "sqlite3",
    "unicodedata", "ctypes", "pygments.lexers.python", "pygments.formatters.terminal256", "stack_data",
    "grader.sandbox.agent", "grader.sandbox.app",
)  # fmt: skip

_COURSE = "attnlab"


def preload() -> list[str]:
    """Import all of it, and every module of the student library. Returns what could not be imported, and why."""
    without_debugger()
    missing = []
    for name in (*MODULES, *_modules_of(_COURSE)):
        try:
            importlib.import_module(name)
        except Exception as error:  # a kernel that lacks it still runs what does not need it
            missing.append(f"{name}: {type(error).__name__}: {error}")
    without_compiler()
    return missing


def without_debugger() -> None:
    """Import ipykernel as if debugpy were not installed: it costs each kernel 170 ms, and nobody steps through here."""
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("ipykernel.debugger")
    finally:
        del sys.modules["debugpy"]


def without_compiler() -> None:
    """Let PyTorch's plain operations run without its compiler, which they load to be left alone by it.

    A comparison on the meta device does so, and it takes more than a second. Who compiles something still can.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return
    hiding = torch._disable_dynamo(lambda: None).__code__
    for function in gc.get_objects():
        if type(function) is types.FunctionType and function.__code__ is hiding:
            plain = inspect.getclosurevars(function).nonlocals["fn"]
            plain.__dynamo_disable = plain  # where the hiding function keeps what the compiler would make of it


def _modules_of(package: str) -> Iterator[str]:
    try:
        path: Iterable[str] = importlib.import_module(package).__path__
    except ImportError:
        return
    yield package
    for module in pkgutil.walk_packages(path, f"{package}."):
        yield module.name
