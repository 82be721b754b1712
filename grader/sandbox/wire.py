"""The channel's format: a JSON tree for the structure, one safetensors blob for the tensors.

`decode` takes its input for hostile: sizes, depth, number of nodes, extents, dtypes and shapes are checked before a
tensor is made, and nothing is unpickled or evaluated. It gives a value or raises WireError, nothing else.

In the tree None, booleans, integers and strings stand for themselves; all else is an object with one key:
{"f": "0x1.8p+0"} a float, {"l": [...]} a list, {"u": [...]} a tuple, {"d": [[key, value], ...]} a dict,
{"t": [index, strides or null, device]} a tensor, {"m": ["F32", 4, 4]} one of the meta device, which holds no numbers,
{"o": "ndarray"} a value of a type that is not sent.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import safetensors.torch
import torch

__all__ = ["HEADER", "Foreign", "Message", "WireError", "WireLimits", "decode", "encode", "lengths"]

HEADER = struct.Struct("<4sIQ")
"""Before each message: MAGIC, bytes of the tree, bytes of the blob."""

MAGIC = b"atn1"
MAX_DEPTH = 32  # of the tree; an answer's value has 2 or 3
MAX_NODES = 100_000  # values in the tree; keeps a tree of a megabyte from becoming 30 MB of objects
MAX_TENSORS = 1024  # a call of the course has 12 at most
MAX_DIMENSIONS = 16  # the course uses 4
MAX_SIZE = 1 << 40  # of one axis; an empty tensor may claim any size at no cost, and torch overflows above
MAX_DIGITS = 400  # of an integer; Python needs quadratic time for longer ones
MAX_NAME = 40  # characters of a type's name

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "BOOL": torch.bool, "C64": torch.complex64,
}  # fmt: skip
"""What safetensors calls them, and what they are. Complex numbers are let through so that a check can refuse them."""


_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_TYPE_NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in _NAMES}


class WireError(Exception):
    """A message that is malformed, too large, or holds what cannot be sent."""


class Foreign:
    """Stands for a value of a type that is not sent. Its class carries that type's name, and it holds nothing."""


@dataclass(frozen=True)
class WireLimits:
    """The most bytes of a tree and of a blob."""

    tree: int = 1 << 20
    blob: int = 64 << 20


@dataclass(frozen=True)
class Message:
    """One encoded value."""

    tree: bytes
    blob: bytes

    @property
    def header(self) -> bytes:
        return HEADER.pack(MAGIC, len(self.tree), len(self.blob))

    def to_bytes(self) -> bytes:
        """As it goes over the channel."""
        return b"".join((self.header, self.tree, self.blob))


def lengths(header: bytes, limits: WireLimits) -> tuple[int, int]:
    """Bytes of tree and blob that follow a header. Raises WireError where it is none or asks for too much."""
    if len(header) != HEADER.size:
        raise WireError("a header is cut short")
    magic, tree, blob = HEADER.unpack(header)
    if magic != MAGIC:
        raise WireError("what came is no message")
    if tree > limits.tree or blob > limits.blob:
        raise WireError(f"a message of {tree + blob} bytes; at most {limits.tree + limits.blob} are taken")
    return tree, blob


# encoding -------------------------------------------------------------------------------------------------------------


def encode(value: Any, *, strides: bool = False) -> Message:
    """Make a message of a value.

    strides: keep the memory layout of tensors that are not contiguous; else they arrive contiguous
    Raises WireError where the value is too deep or a dict has a key that is no string.
    """
    encoder = _Encoder(strides)
    tree = encoder.node(value, 0)
    blob = safetensors.serialize(encoder.specs()) if encoder.tensors else b""
    return Message(json.dumps(tree, separators=(",", ":"), allow_nan=False).encode("ascii"), blob)


@dataclass
class _Encoder:
    strides: bool
    tensors: list[torch.Tensor] = field(default_factory=list)
    nodes: int = 0

    def specs(self) -> dict[str, safetensors.TensorSpec]:
        """What safetensors is told of the tensors: `safetensors.torch` says the same five times as slowly."""
        return {
            str(i): safetensors.TensorSpec(
                dtype=_TYPE_NAMES[t.dtype], shape=t.shape, data_ptr=t.data_ptr(), data_len=t.nbytes
            )
            for i, t in enumerate(self.tensors)
        }

    def node(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise WireError("a value that is too deep or has too many parts to be sent")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return _integer(value)
        if isinstance(value, str):
            return str.encode(value, "utf-8", "replace").decode()  # lone surrogates cannot be written anywhere
        if isinstance(value, float):
            return {"f": float.hex(value)}
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, list | tuple):
            return {"l" if isinstance(value, list) else "u": [self.node(v, depth + 1) for v in value]}
        if isinstance(value, Mapping):
            return {"d": [[_key(k), self.node(v, depth + 1)] for k, v in value.items()]}
        return {"o": type(value).__name__[:MAX_NAME]}

    def tensor(self, value: torch.Tensor) -> Any:
        if value.dtype not in _NAMES or value.layout is not torch.strided:
            return {"o": "Tensor"}
        if value.device.type == "meta":
            return {"m": [_NAMES[value.dtype], *value.shape]}
        index = len(self.tensors)
        if index >= MAX_TENSORS:
            raise WireError(f"more than {MAX_TENSORS} tensors")
        layout = list(value.stride()) if self.strides and not value.is_contiguous() else None
        if layout is not None and _span(list(value.shape), layout) is None:
            layout = None  # elements that share memory cannot be rebuilt; their values can
        self.tensors.append(value.detach().to("cpu").resolve_conj().resolve_neg().contiguous())
        return {"t": [index, layout, str(value.device)]}


def _integer(value: int) -> int:
    if abs(value).bit_length() > 3 * MAX_DIGITS:  # three bits are less than one digit
        raise WireError("an integer that is too long to be sent")
    return int(value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise WireError(f"a dict with a key of type {type(key).__name__}; only strings are sent")
    return str(key)


def _span(shape: list[int], strides: list[int]) -> int | None:
    """Elements that a tensor of this layout reaches over, or None where two of its elements share memory."""
    reach = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size > 1:
            if stride < reach:
                return None
            reach += (size - 1) * stride
    return reach


# decoding -------------------------------------------------------------------------------------------------------------


def decode(
    tree: bytes,
    blob: bytes,
    *,
    strides: bool = False,
    devices: frozenset[str] = frozenset({"cpu"}),
    limits: WireLimits = WireLimits(),
) -> Any:
    """Make the value of a message. Raises WireError, and nothing else, where it is not well formed.

    strides: rebuild memory layouts; else a message that holds any is refused
    devices: where tensors may be put; others are refused
    """
    if len(tree) > limits.tree or len(blob) > limits.blob:
        raise WireError("a message that is too large")
    decoder = _Decoder(_tensors(blob), strides, devices, limits.blob)
    try:
        root = json.loads(
            tree.decode("utf-8"), parse_int=_parse_integer, parse_float=_refuse, parse_constant=_refuse,
            object_pairs_hook=_single,
        )  # fmt: skip
        return decoder.value(root, 0)
    except WireError:
        raise
    except (ValueError, TypeError, RecursionError, RuntimeError, OverflowError, MemoryError) as error:
        raise WireError(f"a malformed message ({type(error).__name__})") from None


@dataclass(frozen=True)
class _Node:
    """An object of one key."""

    kind: str
    content: Any


def _single(pairs: list[tuple[str, Any]]) -> _Node:
    if len(pairs) != 1:
        raise WireError("an object without exactly one key")
    return _Node(*pairs[0])


def _parse_integer(text: str) -> int:
    if len(text) > MAX_DIGITS + 1:
        raise WireError("an integer that is too long")
    return int(text)


def _refuse(text: str) -> Any:
    raise WireError(f"the number {text[:20]!r}, which is not written so")


@dataclass
class _Decoder:
    tensors: list[torch.Tensor]
    strides: bool
    devices: frozenset[str]
    most: int
    nodes: int = 0

    def value(self, node: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise WireError("a tree that is too deep or too large")
        if node is None or type(node) in (bool, int):
            return node
        if type(node) is str:
            return _text(node)
        if type(node) is not _Node:
            raise WireError("a bare list")
        content = node.content
        match node.kind:
            case "f" if type(content) is str and len(content) <= MAX_NAME:
                return float.fromhex(content)
            case "l" if type(content) is list:
                return [self.value(v, depth + 1) for v in content]
            case "u" if type(content) is list:
                return tuple(self.value(v, depth + 1) for v in content)
            case "d" if type(content) is list:
                return self.mapping(content, depth)
            case "t" if type(content) is list and len(content) == 3:
                return self.tensor(*content)
            case "m" if type(content) is list and content:
                return self.meta(*content)
            case "o" if type(content) is str:
                name = "".join(c for c in content if c.isascii() and (c.isalnum() or c == "_"))[:MAX_NAME]
                return type(name or "object", (Foreign,), {})()
        raise WireError("a node of no known kind")

    def mapping(self, pairs: list[Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str or pair[0] in result:
                raise WireError("a dict that is none")
            result[_text(pair[0])] = self.value(pair[1], depth + 1)
        return result

    def tensor(self, index: Any, layout: Any, device: Any) -> torch.Tensor:
        if type(index) is not int or not 0 <= index < len(self.tensors):
            raise WireError("a tensor that is not in the blob")
        if type(device) is not str or device not in self.devices:
            raise WireError("a tensor on a device that is not in use here")
        tensor = self.tensors[index]
        if layout is not None:
            if not self.strides:
                raise WireError("a memory layout where none is taken")
            tensor = self.strided(tensor, layout)
        return tensor if device == "cpu" else tensor.to(device)

    def meta(self, dtype: Any, *shape: Any) -> torch.Tensor:
        if type(dtype) is not str or dtype not in DTYPES or len(shape) > MAX_DIMENSIONS:
            raise WireError("a tensor without numbers that is none")
        if not all(type(size) is int and 0 <= size < MAX_SIZE for size in shape):
            raise WireError("a shape that is none")
        return torch.empty(shape, dtype=DTYPES[dtype], device="meta")

    def strided(self, tensor: torch.Tensor, layout: Any) -> torch.Tensor:
        plain = type(layout) is list and len(layout) == tensor.dim()
        if not plain or not all(type(s) is int and 0 <= s < MAX_SIZE for s in layout):
            raise WireError("a memory layout that is none")
        span = _span(list(tensor.shape), layout)
        if span is None or span * tensor.element_size() > self.most:
            raise WireError("a memory layout that overlaps or is too large")
        return torch.empty_strided(tensor.shape, layout, dtype=tensor.dtype).copy_(tensor)


def _text(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise WireError("a string that is not text") from None
    return text


def _tensors(blob: bytes) -> list[torch.Tensor]:
    """The tensors of a blob, named "0", "1", ... in order. Each byte is accounted for before one is made."""
    if not blob:
        return []
    entries = _entries(blob)
    try:
        loaded = safetensors.torch.load(bytes(blob))
    except Exception as error:  # the library's own errors derive from Exception directly
        raise WireError(f"a blob that is no safetensors ({type(error).__name__})") from None
    for name, (dtype, shape) in entries.items():
        tensor = loaded[name]
        if tensor.dtype is not DTYPES[dtype] or list(tensor.shape) != shape:
            raise WireError("a tensor that is not what its entry says")
        if dtype == "BOOL" and tensor.numel() and int(tensor.view(torch.uint8).max()) > 1:
            raise WireError("a boolean that is neither true nor false")
    return [loaded[str(i)] for i in range(len(entries))]


def _entries(blob: bytes) -> dict[str, tuple[str, list[int]]]:
    """Name to dtype and shape, after checking that the extents cover the data exactly."""
    size = struct.calcsize("<Q")
    if len(blob) < size:
        raise WireError("a blob that is cut short")
    (head,) = struct.unpack_from("<Q", blob)
    if head > min(len(blob) - size, 1 << 20):  # 1024 tensors need 100 kB
        raise WireError("a blob with a header that is too long")
    try:
        table = json.loads(blob[size : size + head].decode("utf-8"))
    except (ValueError, RecursionError):
        raise WireError("a blob with a header that is no JSON") from None
    if type(table) is not dict or len(table) > MAX_TENSORS or set(table) != {str(i) for i in range(len(table))}:
        raise WireError("a blob with names that are not 0, 1, ...")
    entries, extents = {}, []
    for name, entry in table.items():
        dtype, shape, begin, end = _entry(entry)
        if end - begin != math.prod(shape) * DTYPES[dtype].itemsize:
            raise WireError("a tensor whose extent is not its size")
        entries[name] = (dtype, shape)
        extents.append((begin, end))
    at = 0
    for begin, end in sorted(extents):
        if begin != at:
            raise WireError("tensors that overlap or leave gaps")
        at = end
    if at != len(blob) - size - head:
        raise WireError("a blob with bytes that belong to no tensor")
    return entries


def _entry(entry: Any) -> tuple[str, list[int], int, int]:
    if type(entry) is not dict or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise WireError("a tensor's entry with other fields than it has")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if type(dtype) is not str or dtype not in DTYPES:
        raise WireError("a tensor of a dtype that is not sent")
    if type(shape) is not list or len(shape) > MAX_DIMENSIONS:
        raise WireError("a tensor of too many dimensions")
    if not all(type(s) is int and 0 <= s <= MAX_SIZE for s in shape) or math.prod(max(s, 1) for s in shape) > MAX_SIZE:
        raise WireError("a tensor of a size that is none")
    if type(offsets) is not list or len(offsets) != 2 or not all(type(o) is int for o in offsets):
        raise WireError("a tensor without an extent")
    begin, end = offsets
    if not 0 <= begin <= end:
        raise WireError("a tensor with an extent that is none")
    return dtype, shape, begin, end
