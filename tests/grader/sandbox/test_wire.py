"""The channel's format: what is sent arrives, and whatever else arrives is refused cleanly."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.sandbox import wire
from grader.sandbox.wire import Foreign, WireError, WireLimits, decode, encode

DTYPES = sorted(wire.DTYPES.values(), key=str)


def there_and_back(value: Any, *, strides: bool = False) -> Any:
    message = encode(value, strides=strides)
    return decode(message.tree, message.blob, strides=strides)


def same(a: Any, b: Any) -> bool:
    """Equal in type and value; NaN equals NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return a.numel() == 0 or bytes(plain(a)) == bytes(plain(b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def plain(tensor: torch.Tensor) -> Any:
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    dtype = draw(st.sampled_from(DTYPES))
    seed = draw(st.integers(0, 1 << 30))
    base = torch.randint(0, 2 if dtype == torch.bool else 100, shape, generator=torch.Generator().manual_seed(seed))
    return base.to(dtype)


texts = st.text(st.characters(codec="utf-8"), max_size=20)
leaves = (
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | texts | tensors()
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(texts, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
@settings(max_examples=200, deadline=None)
def test_what_is_sent_arrives(value: Any) -> None:
    assert same(there_and_back(value), value)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_arrives(dtype: torch.dtype) -> None:
    value = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    assert same(there_and_back((value, value[:0], value[0, 0])), (value, value[:0], value[0, 0]))


def test_special_floats_arrive_in_numbers_and_tensors() -> None:
    value = [math.nan, math.inf, -math.inf, -0.0, torch.tensor([math.nan, math.inf, -0.0])]
    arrived = there_and_back(value)
    assert same(arrived, value)
    assert math.copysign(1, arrived[3]) == -1


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(24.0).reshape(4, 6).T,
        lambda: torch.arange(24.0).reshape(4, 6)[:, ::2],
        lambda: torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
        lambda: torch.empty_strided((2, 3), (100, 7)).fill_(3.0),
    ],
)
def test_strides_arrive_where_asked_for(make: Any) -> None:
    value = make()
    kept, dropped = there_and_back(value, strides=True), there_and_back(value)
    assert kept.stride() == value.stride() and not kept.is_contiguous()
    assert dropped.is_contiguous()
    assert torch.equal(kept, value) and torch.equal(dropped, value)


def test_expanded_tensors_arrive_as_their_values() -> None:
    value = torch.arange(3.0).expand(4, 3)
    assert torch.equal(there_and_back(value, strides=True), value)


def test_views_of_one_storage_arrive_apart() -> None:
    base = torch.arange(6.0)
    a, b = there_and_back((base[:4], base[2:]))
    a.zero_()
    assert b.tolist() == [2, 3, 4, 5]


def test_tensors_that_arrive_can_be_written() -> None:
    there_and_back(torch.zeros(3)).add_(1)


def test_other_types_arrive_by_name_alone() -> None:
    numpy = pytest.importorskip("numpy")
    arrived = there_and_back([numpy.zeros(3), {1, 2}, object(), lambda: 0])
    assert [type(a).__name__ for a in arrived] == ["ndarray", "set", "object", "function"]
    assert all(isinstance(a, Foreign) for a in arrived)


def test_tuples_with_names_arrive_as_tuples() -> None:
    assert same(there_and_back(torch.zeros(2, 3).max(dim=1)), (torch.zeros(2), torch.zeros(2, dtype=torch.int64)))


@pytest.mark.parametrize("value", [{1: 2}, {(): 1}, 10**600, [[]] * 200_000])
def test_what_cannot_be_sent_is_refused(value: Any) -> None:
    with pytest.raises(WireError):
        encode(value)


def test_depth_is_bounded_when_encoding() -> None:
    value: Any = 0
    for _ in range(100):
        value = [value]
    with pytest.raises(WireError, match="deep"):
        encode(value)


def test_a_list_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(WireError):
        encode(value)


# hostile trees --------------------------------------------------------------------------------------------------------

BLOB = encode((torch.zeros(2, 3), torch.ones(4, dtype=torch.bool))).blob


@pytest.mark.parametrize(
    "tree",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"[1]",
        b"1.5",
        b"NaN",
        b"Infinity",
        b"{}",
        b'{"l": [1], "u": [2]}',
        b'{"x": 1}',
        b'{"l": 3}',
        b'{"f": 3}',
        b'{"f": "zero"}',
        b'{"f": "0x1p99999999"}',
        b'{"d": [["a", 1], ["a", 2]]}',
        b'{"d": [[1, 2]]}',
        b'{"d": [["a"]]}',
        b'{"t": [2, null, "cpu"]}',
        b'{"t": [-1, null, "cpu"]}',
        b'{"t": [true, null, "cpu"]}',
        b'{"t": [0, null, "cuda:0"]}',
        b'{"t": [0, null, "meta"]}',
        b'{"t": [0, [1, 1], "cpu"]}',
        b'{"t": 0}',
        b'"\\ud800"',
        b'{"d": [["\\udfff", 1]]}',
        b"1" * 500,
        b'{"l": [' * 40 + b"1" + b"]}" * 40,
        b"[" * 100_000,
        b'{"l": [' + b"1," * 100_001 + b"1]}",
    ],
)
def test_hostile_trees_are_refused(tree: bytes) -> None:
    with pytest.raises(WireError):
        decode(tree, BLOB)


@pytest.mark.parametrize(
    "layout", [[1], [1, 1], [3, 0], [-3, 1], [3, 1, 1], [1 << 50, 1], [True, 1], "no", [[], 1], [10**9, 1]]
)
def test_hostile_memory_layouts_are_refused(layout: Any) -> None:
    tree = json.dumps({"t": [0, layout, "cpu"]}).encode()
    with pytest.raises(WireError):
        decode(tree, BLOB, strides=True)


# hostile blobs --------------------------------------------------------------------------------------------------------


def blob(table: Any, data: bytes) -> bytes:
    head = table if isinstance(table, bytes) else json.dumps(table).encode()
    return struct.pack("<Q", len(head)) + head + data


def entry(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def test_a_sound_blob_is_taken() -> None:
    assert same(decode(b'{"t": [0, null, "cpu"]}', blob({"0": entry()}, bytes(8))), torch.zeros(2))


@pytest.mark.parametrize(
    ("table", "data"),
    [
        (b"", b""),
        (b"[]", b""),
        (b"\xff", b""),
        (b"[" * 5000, b""),
        ({"a": entry()}, bytes(8)),
        ({"1": entry()}, bytes(8)),
        ({"0": entry(), "__metadata__": {"a": "b"}}, bytes(8)),
        ({"0": entry(dtype="F128")}, bytes(8)),
        ({"0": entry(dtype=["F32"])}, bytes(8)),
        ({"0": entry(shape=2)}, bytes(8)),
        ({"0": entry(shape=[-2])}, bytes(8)),
        ({"0": entry(shape=[2.0])}, bytes(8)),
        ({"0": entry(shape=[True, 2])}, bytes(8)),
        ({"0": entry(shape=[3])}, bytes(8)),
        ({"0": entry(shape=[1 << 62, 4])}, bytes(8)),
        ({"0": entry(shape=[0, 1 << 39, 1 << 39], offsets=[0, 0])}, b""),
        ({"0": entry(shape=[1] * 20)}, bytes(8)),
        ({"0": entry(offsets=[0])}, bytes(8)),
        ({"0": entry(offsets=[8, 0])}, bytes(8)),
        ({"0": entry(offsets=[-8, 0])}, bytes(8)),
        ({"0": entry(offsets=[0, 8])}, bytes(4)),
        ({"0": entry()}, bytes(12)),
        ({"0": entry(), "1": entry()}, bytes(8)),
        ({"0": entry(), "1": entry(offsets=[12, 20])}, bytes(20)),
        ({"0": entry(dtype="BOOL", shape=[8])}, b"\0\1\2\0\0\0\0\0"),
        ({"0": {**entry(), "more": 1}}, bytes(8)),
        ({"0": None}, bytes(8)),
    ],
)
def test_hostile_blobs_are_refused(table: Any, data: bytes) -> None:
    with pytest.raises(WireError):
        decode(b"null", blob(table, data))


def test_a_header_that_claims_more_than_there_is_is_refused() -> None:
    for size in (1, 8, 1 << 40, (1 << 64) - 1):
        with pytest.raises(WireError):
            decode(b"null", struct.pack("<Q", size))


# headers and limits ---------------------------------------------------------------------------------------------------


def test_headers_say_what_follows() -> None:
    message = encode([1, torch.zeros(5)])
    assert wire.lengths(message.header, WireLimits()) == (len(message.tree), len(message.blob))
    assert message.to_bytes() == message.header + message.tree + message.blob


@pytest.mark.parametrize(
    "header",
    [b"", b"atn1", wire.HEADER.pack(b"atn2", 1, 1), wire.HEADER.pack(b"atn1", 2 << 20, 1),
     wire.HEADER.pack(b"atn1", 1, 1 << 60)],
)  # fmt: skip
def test_wrong_headers_are_refused(header: bytes) -> None:
    with pytest.raises(WireError):
        wire.lengths(header, WireLimits())


def test_limits_hold_in_decode_too() -> None:
    message = encode(torch.zeros(1000))
    with pytest.raises(WireError):
        decode(message.tree, message.blob, limits=WireLimits(blob=100))
    with pytest.raises(WireError):
        decode(b" " * 200 + b"1", b"", limits=WireLimits(tree=100))


# fuzzing --------------------------------------------------------------------------------------------------------------


@st.composite
def mutations(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A sound message with some bytes changed, cut out or put in."""
    message = encode(draw(values), strides=draw(st.booleans()))
    parts = [bytearray(message.tree), bytearray(message.blob)]
    for _ in range(draw(st.integers(1, 6))):
        part = parts[draw(st.integers(0, 1))]
        at = draw(st.integers(0, len(part)))
        match draw(st.integers(0, 3)):
            case 0:
                part[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 1:
                del part[at : at + draw(st.integers(1, 8))]
            case 2:
                part[at:at] = draw(st.binary(min_size=1, max_size=8))
            case _:
                part[at : at + 1] = draw(
                    st.sampled_from([b"0", b"9", b"-", b"[", b"]", b"{", b"}", b'"', b",", b"1e9"])
                )
    return bytes(parts[0]), bytes(parts[1])


def survives(tree: bytes, data: bytes, *, strides: bool) -> None:
    """Decoding gives a value that can be sent again and comes back the same, or refuses; nothing else happens."""
    try:
        value = decode(tree, data, strides=strides)
    except WireError:
        return
    again = encode(value)
    assert same_but_foreign(decode(again.tree, again.blob), value)


def same_but_foreign(a: Any, b: Any) -> bool:
    if isinstance(a, Foreign) or isinstance(b, Foreign):
        return type(a).__name__ == type(b).__name__
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same_but_foreign, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_but_foreign(a[k], b[k]) for k in a)
    return same(a, b)


@given(mutations(), st.booleans())
@settings(max_examples=400, deadline=None)
def test_mutated_messages_are_refused_or_sound(message: tuple[bytes, bytes], strides: bool) -> None:
    survives(*message, strides=strides)


@given(st.binary(max_size=200), st.binary(max_size=200), st.booleans())
@settings(max_examples=200, deadline=None)
def test_random_bytes_are_refused_or_sound(tree: bytes, data: bytes, strides: bool) -> None:
    survives(tree, data, strides=strides)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["f", "l", "u", "d", "t", "o", "x"]), inner, max_size=2)
        ),
        max_leaves=15,
    ),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_random_trees_are_refused_or_sound(tree: Any, strides: bool) -> None:
    survives(json.dumps(tree).encode(), BLOB, strides=strides)
