"""The pretend GPU refuses what CUDA refuses, takes what it takes, and says in the learner's words what is where."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from attnlab.device_marks import on_gpu, put_on_gpu
from attnlab.device_names import HOME, PRETEND
from attnlab.device_words import MixedDevicesError, NotOnCpuError
from attnlab.devices import Placed
from attnlab.pretend import PretendGpu
from attnlab.recording import record
from tests.gpu.cases import Case, inputs, read_cases

CASES = read_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_as_on_a_gpu(case: Case) -> None:
    args = [put_on_gpu(a) for a in inputs()]
    with warnings.catch_warnings(), PretendGpu():
        warnings.simplefilter("ignore")
        if case.kind == "refused":
            with pytest.raises((MixedDevicesError, NotOnCpuError)):
                case.run(*args)
        else:
            case.run(*args)


def test_there_are_cases_of_each_kind() -> None:
    kinds = [case.kind for case in CASES]
    assert kinds.count("refused") >= 45 and kinds.count("taken") >= 70 and kinds.count("unseen") == 1
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_numbers_are_the_cpus() -> None:
    x, ids, emb = inputs()
    expected = torch.softmax((x + emb[ids]) @ x.transpose(1, 2), -1)
    outcome = record(lambda x, ids, emb: torch.softmax((x + emb[ids]) @ x.transpose(1, 2), -1), inputs(), {}, PRETEND)
    assert torch.equal(outcome.value, expected)
    assert outcome.placed == Placed(("cuda:0",))
    assert outcome.changed == () and "softmax" in outcome.library


def test_the_world_is_put_back() -> None:
    before = torch.cuda.is_available, torch.cuda.device_count
    with PretendGpu():
        assert torch.cuda.is_available() and torch.cuda.device_count() == 1
        with pytest.raises(MixedDevicesError):
            torch.ones(2) + put_on_gpu(torch.ones(2))
    assert (torch.cuda.is_available, torch.cuda.device_count) == before
    assert torch.ones(2, device="cpu").device.type == put_on_gpu(torch.ones(2)).device.type == "cpu"


def placed(function: Any, *args: Any, device: str = PRETEND) -> Placed:
    found = record(function, [a.clone() for a in args], {}, device).placed
    assert found is not None
    return found


# where a result is ----------------------------------------------------------------------------------------------------


def test_a_result_says_where_it_is() -> None:
    x = torch.ones(2, 3)
    assert placed(lambda x: x.cpu(), x).devices == ("cpu",)
    assert placed(lambda x: (x, [torch.ones(2), x[0]], 3), x).devices == ("cuda:0", "cpu", "cuda:0")
    assert placed(lambda x: torch.tensor(x.tolist()), x).devices == ("cpu",)
    assert placed(lambda x: int(x.argmax()), x).devices == ()
    assert placed(lambda x: x.to(torch.bfloat16), x).devices == ("cuda:0",)
    assert placed(lambda x: x.to("cpu", torch.bfloat16), x).devices == ("cpu",)
    assert placed(lambda x: torch.nn.Parameter(x), x).devices == ("cuda:0",)
    assert placed(lambda x: x.to_sparse(), x).devices in (("cpu",), ("cuda:0",))  # has no storage; must not raise
    assert placed(lambda x: x.to("meta"), x).devices == ("meta",)


def test_a_gpu_that_is_named_is_noticed() -> None:
    x = torch.ones(2, 3)
    for names in (
        lambda x: x + torch.ones(3, device="cuda"),
        lambda x: x + torch.ones(3).cuda(),
        lambda x: x + torch.ones(3).to("cuda:0"),
        lambda x: x + torch.ones(3).to(torch.device("cuda")),
        lambda x: x + torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu"),
    ):
        assert placed(names, x) == Placed(("cuda:0",), (), True)
        with pytest.raises(MixedDevicesError, match=r"is on cuda:0, x is on the CPU; make it with device=x\.device"):
            record(names, (x.clone(),), {}, HOME)
    for takes in (lambda x: x + torch.ones(3, device=x.device), lambda x: x + torch.ones(3).to(x)):
        assert not placed(takes, x).named
        assert placed(takes, x, device=HOME) == Placed(("cpu",))


def default_device_set(x: torch.Tensor) -> torch.Tensor:
    torch.set_default_device(x.device)
    return x + torch.ones(3)


def test_a_default_device_is_heeded_and_put_back() -> None:
    x = torch.ones(2, 3)
    assert placed(default_device_set, x).devices == ("cuda:0",)
    assert placed(default_device_set, x, device=HOME) == Placed(("cpu",))
    assert torch.ones(1).device.type == "cpu" and torch.utils._device.CURRENT_DEVICE is None
    with torch.device("meta"):
        record(default_device_set, (torch.ones(2, 3, device="cpu"),), {})
        assert torch.ones(1).is_meta


# there and back -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trip",
    [
        lambda x: x.cpu().softmax(-1).to(x.device),
        lambda x: (x.to("cpu") * 2 + 1)[:, None].to(x),
        lambda x: torch.from_numpy(x.cpu().numpy() * 2).to(x.device),
        lambda x: torch.as_tensor(x.detach().cpu().numpy(), device=x.device),
        lambda x: torch.tensor(x.cpu(), device=x.device),
        lambda x: x.new_zeros(x.shape).copy_(x.cpu() + 1),
        lambda x: x.cpu().double().to(x.device, x.dtype),
        lambda x: x.cpu().cuda(),
        lambda x: torch.stack([x.cpu()[0], torch.zeros(3)]).to(x.device),
    ],
)
def test_a_trip_to_the_cpu_is_noticed(trip: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = placed(trip, torch.ones(2, 3))
    assert found.devices == ("cuda:0",) and found.trips


@pytest.mark.parametrize(
    "straight",
    [
        lambda x: torch.tensor(x.tolist(), device=x.device),
        lambda x: x + torch.arange(3).to(x.device),
        lambda x: x * x.sum().cpu(),
        lambda x: torch.tensor([int(x[0].cpu().argmax())], device=x.device),
        lambda x: torch.tensor([row.cpu().argmax() for row in x], device=x.device),
        lambda x: x[0].cpu().argmax().to(x.device),
        lambda x: torch.from_numpy(x.cpu().numpy().argmax(-1)).to(x.device),
        lambda x: x.index_fill(0, torch.tensor(0, device=x.device), 1.0)[x[:, 0].cpu().argsort()],
        lambda x: x.masked_fill(torch.ones(2, 3, dtype=torch.bool).triu(1).to(x.device), 0.0),
    ],
)
def test_what_only_comes_or_only_goes_is_no_trip(straight: Any) -> None:
    assert placed(straight, torch.ones(2, 3)) == Placed(("cuda:0",))


# words ----------------------------------------------------------------------------------------------------------------


def told(function: Any, *args: Any) -> str:
    with pytest.raises((MixedDevicesError, NotOnCpuError)) as caught:
        record(function, args, {}, PRETEND)
    return str(caught.value)


def test_a_mask_is_told_by_name() -> None:
    def masked(scores: torch.Tensor) -> torch.Tensor:
        mask = torch.ones(3, 3, dtype=torch.bool).tril()
        return scores.masked_fill(~mask, -torch.inf)

    def other_name(scores: torch.Tensor) -> torch.Tensor:
        causal = torch.full((3, 3), -torch.inf).triu(1)
        return scores + causal

    assert told(masked, torch.ones(3, 3)) == (
        "Your mask is on the CPU, scores is on cuda:0; make it with device=scores.device (in masked_fill)."
    )
    assert told(other_name, torch.ones(3, 3)).startswith("Your mask causal is on the CPU, scores is on cuda:0; ")


def test_positions_constants_and_tokens_are_told_by_what_they_are() -> None:
    def positions(x: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(3)
        return x + steps

    def constant(x: torch.Tensor) -> torch.Tensor:
        eps = torch.tensor([1e-5])
        return x + eps

    def tokens(emb: torch.Tensor) -> torch.Tensor:
        seq = torch.tensor([1, 2])
        return F.embedding(seq, emb)

    assert told(positions, torch.ones(3, 3)).startswith("Your positions steps are on the CPU, x is on cuda:0")
    assert told(constant, torch.ones(3, 3)).startswith("Your constant eps is on the CPU, x is on cuda:0")
    assert told(tokens, torch.ones(3, 3)).startswith("Your token ids seq are on the CPU, emb is on cuda:0")


def test_what_has_no_name_is_told_by_its_kind() -> None:
    assert told(lambda x: (x + x) * torch.arange(3)) if False else True
    words = told(lambda x: (x + x) * torch.arange(3), torch.ones(3))
    assert words == "Your positions are on the CPU, x is on cuda:0; make them with device=x.device (in mul)."


def test_numpy_is_refused_in_torchs_words() -> None:
    assert "can't convert cuda:0 device type tensor to numpy" in told(lambda x: x.numpy(), torch.ones(3))


def test_unmarked_tensors_stay_unmarked() -> None:
    x = torch.ones(3)
    record(lambda x: x + 1, (x.clone(),), {}, PRETEND)
    assert not on_gpu(x)
