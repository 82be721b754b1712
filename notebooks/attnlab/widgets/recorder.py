"""Record attention weights where they are made: in the functions that the learner wrote, or in those that stand in.

Nothing of the learner's is changed. While a recording runs, the functions of the course that can be reached from the
one that is recorded (`masked_softmax`, `attention`, `decoder_block`, ...) note what they return, and so do PyTorch's
own softmax and scaled dot-product attention, for whoever uses those directly.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from types import FunctionType, TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from attnlab.exercises import EXERCISES
from attnlab.widgets.attempt import failure, name_of
from attnlab.widgets.attention import Attention, Kind, tokens_of

__all__ = ["Recording", "recorded_attention"]

BLOCKS: dict[str, Kind] = {"encode": "encoder", "encoder_block": "encoder", "decoder_block": "decoder"}
WATCHED = ("masked_softmax", "attention", "multi_head_attention", "cross_attention", *BLOCKS)


@dataclass
class _Call:
    """A watched function that is running.

    made: the weights that were made inside it and have not found their attention yet
    """

    name: str
    kind: Kind | None = None
    made: list[torch.Tensor] = field(default_factory=list)
    allowed: Any = None
    theirs: bool = True


class Recording:
    """A context: what attends inside it is in `attentions` afterwards, in order.

    problem: what the code inside raised, in a sentence; it is kept here and raised no further
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        source: Sequence[str] | str | None = None,
        target: Sequence[str] | str | None = None,
        kind: Kind | None = None,
    ) -> None:
        self.attentions: tuple[Attention, ...] = ()
        self.problem = ""
        self._function, self._source, self._target, self._kind = function, source, target, kind
        self._calls: list[_Call] = []
        self._restore: list[tuple[dict[str, Any], str, Any, Any]] = []
        self._mode: TorchFunctionMode | None = None

    def of(self, kind: Kind) -> tuple[Attention, ...]:
        """The attentions of one kind, by layer."""
        return tuple(a for a in self.attentions if a.kind == kind)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the recorded function itself, so that it is known by its name wherever it came from."""
        name = name_of(self._function)
        function = self._watched(name, self._function) if name in WATCHED else self._function
        return function(*args, **kwargs)

    def __enter__(self) -> Recording:
        self.attentions, self.problem, self._calls = (), "", [_Call("", self._kind)]
        for names in _namespaces(self._function):
            for name in WATCHED:
                if callable(names.get(name)):
                    original, watched = names[name], self._watched(name, names[name])
                    self._restore.append((names, name, original, watched))
                    names[name] = watched
        self._mode = _Softmaxes(self._noted)
        self._mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._mode is not None:
            self._mode.__exit__(_kind, error, trace)
        while self._restore:
            names, name, original, watched = self._restore.pop()
            if names.get(name) is watched:  # else it was defined anew meanwhile
                names[name] = original
        base = self._calls[0]
        if self._kind is not None:
            for weights in base.made:
                self._keep(self._kind, _heads([weights], None), None, theirs=True)
        if isinstance(error, Exception):
            self.problem = failure(error, name_of(self._function))
            return True
        return False

    def _noted(self, weights: torch.Tensor) -> None:
        self._calls[-1].made.append(weights.detach())

    def _watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            running = _Call(name, self._kind_of(name, args), theirs=not _is_stand_in(function))
            if name == "multi_head_attention":
                running.allowed = kwargs.get("allowed", args[7] if len(args) > 7 else None)
            self._calls.append(running)
            try:
                value = function(*args, **kwargs)
            finally:
                self._calls.pop()
            self._close(running, args, value)
            return value

        return call

    def _kind_of(self, name: str, args: tuple[Any, ...]) -> Kind | None:
        """What the innermost known kind is once this call runs."""
        above = self._calls[-1].kind
        if name in BLOCKS:
            return BLOCKS[name]
        if name == "cross_attention":
            return "cross"
        if name == "multi_head_attention" and above in (None, "decoder") and len(args) > 1:
            return above if _same(args[0], args[1]) else "cross"
        return above

    def _close(self, call: _Call, args: tuple[Any, ...], value: Any) -> None:
        """Hand on what a call has made: to the caller, or to the record where its attention is known."""
        outer = self._calls[-1]
        if call.name == "masked_softmax":
            outer.made += [value.detach()] if isinstance(value, torch.Tensor) and value.dim() > 1 else []
        elif call.name == "attention":
            pair = value if isinstance(value, tuple | list) and len(value) == 2 else (None, None)
            outer.made += [pair[1].detach()] if isinstance(pair[1], torch.Tensor) else call.made
        elif call.name in ("multi_head_attention", "cross_attention"):
            if call.made:
                shape = _wanted(call.name, args)
                self._keep(call.kind or self._kind or "decoder", _heads(call.made, shape), call.allowed, call.theirs)
        else:
            for n, weights in enumerate(call.made):  # made in the block itself: self-attention, then cross-attention
                kind: Kind = "cross" if call.name == "decoder_block" and n % 2 else BLOCKS[call.name]
                self._keep(kind, _heads([weights], None), None, call.theirs)

    def _keep(self, kind: Kind, weights: torch.Tensor | None, allowed: Any, theirs: bool) -> None:
        if weights is None:
            return
        layer = sum(a.weights.shape == weights.shape for a in self.of(kind))  # another length is another pass
        asking = self._source if kind == "encoder" else self._target
        words = (asking, self._target if kind == "decoder" else self._source)
        queries, keys = (
            given if len(given := tokens_of(words_given, n)) == n else tokens_of(None, n)
            for words_given, n in zip(words, weights.shape[1:], strict=True)
        )
        made_by = "made by your functions" if theirs else "made by the library's stand-in"
        self.attentions += (
            Attention(kind, weights, layer, queries, keys, _mask(allowed, weights.shape), made_by),
        )  # fmt: skip


def recorded_attention(
    function: Callable[..., Any],
    *,
    source: Sequence[str] | str | None = None,
    target: Sequence[str] | str | None = None,
    kind: Kind | None = None,
) -> Recording:
    """Record the attention that `function` and what it calls make, inside a `with`.

    source, target: words or sentences for the positions; numbers where they are missing or do not fit
    kind: what an attention is taken for that is made outside of any block
    Only the first example of a batch is kept. Layers are counted anew when the length changes, as from word to word.
    """
    return Recording(function, source=source, target=target, kind=kind)


class _Softmaxes(TorchFunctionMode):
    """Notes what PyTorch's own functions give where they make weights."""

    def __init__(self, noted: Callable[[torch.Tensor], None]) -> None:
        super().__init__()
        self._note = noted

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        value = func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name == "softmax" and isinstance(value, torch.Tensor) and value.dim() > 1:
            axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
            if axis in (-1, value.dim() - 1):
                self._note(value)
        elif name == "scaled_dot_product_attention":
            self._note(_sdpa_weights(*args, **kwargs))
        return value


def _sdpa_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,  # noqa: ARG001  (the library's signature)
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,  # noqa: ARG001
    is_causal: bool = False,
    scale: float | None = None,
    **_: Any,
) -> torch.Tensor:
    """The weights that scaled_dot_product_attention mixes with and keeps to itself, (..., T, S)."""
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is not None:
        boolean = attn_mask.dtype == torch.bool
        scores = scores.masked_fill(~attn_mask, -torch.inf) if boolean else scores + attn_mask
    return torch.softmax(scores, dim=-1).masked_fill((scores == -torch.inf).all(dim=-1, keepdim=True), 0.0)


def _namespaces(function: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The global names of `function` and of every function of the course that can be reached from it."""
    waiting, seen = [function], set()
    while waiting:
        for inner in _unwrapped(waiting.pop()):
            names = inner.__globals__
            if id(names) not in seen:
                seen.add(id(names))
                yield names
                waiting += [names[name] for name in EXERCISES if callable(names.get(name))]


def _unwrapped(function: Any) -> Iterator[FunctionType]:
    """The plain functions behind a callable: under its decorators, or the method that makes an object callable."""
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = getattr(type(function), "__call__", None)  # noqa: B004  (it may be inherited)
    for _ in range(10):  # decorators on decorators; a loop of them ends here
        if isinstance(function, FunctionType):
            yield function
        function = getattr(function, "__wrapped__", None)


def _is_stand_in(function: Any) -> bool:
    return getattr(function, "__module__", "") == "attnlab.stand_ins"


def _same(a: Any, b: Any) -> bool:
    """Whether queries and keys come from one sequence."""
    both = isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
    return a is b or (both and a.shape == b.shape and bool(torch.equal(a, b)))


def _wanted(name: str, args: tuple[Any, ...]) -> tuple[int, int, int, int] | None:
    """(N, h, T, S) of a call of multi_head_attention or cross_attention."""
    at = 6 if name == "multi_head_attention" else 3
    if len(args) <= at or not all(isinstance(a, torch.Tensor) and a.dim() == 3 for a in args[:2]):
        return None
    return args[0].shape[0], int(args[at]), args[0].shape[1], args[1].shape[1]


def _heads(made: list[torch.Tensor], shape: tuple[int, int, int, int] | None) -> torch.Tensor | None:
    """The weights (h, T, S) of the first example, however a style has cut them.

    shape: what they should be, (N, h, T, S); where they are not, they are shown as they are, if they are tables at all
    """
    if shape is None or any(m.shape[-2:] != shape[2:] for m in made):
        last = made[-1]
        if len(made) > 1 and shape is not None:
            return None  # made piece by piece, in a way that is not known here
        last = last.reshape(-1, *last.shape[-2:]) if last.dim() != 4 else last[0]
        return last.to("cpu", torch.float64)
    N, h, T, S = shape
    if sum(m.numel() for m in made) != N * h * T * S:
        return None
    by_head = len(made) == h and (h > 1 or N == 1) and all(m.numel() == N * T * S for m in made)  # a loop over heads
    if by_head:
        return torch.stack([m.reshape(N, T, S)[0] for m in made]).to("cpu", torch.float64)
    return torch.cat([m.reshape(-1, T, S) for m in made]).reshape(N, h, T, S)[0].to("cpu", torch.float64)


def _mask(allowed: Any, shape: torch.Size) -> torch.Tensor | None:
    """`allowed` of a call as bool (T, S) for the first example; None where it does not fit."""
    if not isinstance(allowed, torch.Tensor) or allowed.dtype != torch.bool:
        return None
    try:
        while allowed.dim() > 2:
            allowed = allowed[0]
        return allowed.expand(*shape[1:]).cpu()
    except (RuntimeError, IndexError):
        return None
