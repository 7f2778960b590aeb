"""The compiled operations: their gradients are those of differences, in float32 they are right to its precision."""

from __future__ import annotations

import pytest
import torch

from dabp.solvers.dabp.backend import Layer
from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.backend_torch import TorchBackend
from tests.solvers.dabp.graphs import CPU, inputs, layer_of, mixed, star, structure_of


@pytest.fixture(autouse=True)
def _share_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share work however short it is."""
    monkeypatch.setattr("dabp.solvers.dabp.sharing.SHORT", 1e-3)


@pytest.mark.parametrize("threads", [1, 2])
def test_gradients_equal_differences(threads: int) -> None:
    """Every custom function passes gradcheck, for n-ary factors and any degree, on several threads too."""
    structure = structure_of(mixed())
    given = inputs(structure)
    backend = CpuBackend(structure, threads)
    assert torch.autograd.gradcheck(backend.f2v, (given["v2f"],))
    assert torch.autograd.gradcheck(backend.attention, (given["query"], given["key"], given["f2v"]))
    assert torch.autograd.gradcheck(backend.compose, (given["damping"], given["v2f"], given["f2v"]))
    for count, bias in zip(structure.needed, ("bias", "bias", "bias", "short_bias"), strict=True):
        attend = lambda features, *layer, count=count: backend.attend(features, Layer(*layer), count)  # noqa: E731
        arguments = given["features"], *layer_of(given, bias)
        assert torch.autograd.gradcheck(attend, arguments, fast_mode=count != structure.num_factors)
    backend.close()


def test_interpolated_attention_equals_all_pairs() -> None:
    """At high degree and short range of keys, values and gradients by interpolation are those of all pairs."""
    structure = structure_of(star(40))
    given = inputs(structure, spread=0.02)
    arguments = given["query"], given["key"], given["f2v"]
    compiled, plain = CpuBackend(structure), TorchBackend(structure, CPU)
    for ours, theirs in zip(compiled.attention(*arguments), plain.attention(*arguments), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    assert torch.autograd.gradcheck(compiled.attention, arguments, fast_mode=True)


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
def test_single_precision_is_accurate(spread: float) -> None:
    """In float32, whatever the range of keys, attention is right to single precision, forwards and backwards."""
    structure = structure_of(star(60), "float32")
    exact, single = inputs(structure, 4, spread), inputs(structure, 4, spread)
    plain = TorchBackend(structure_of(star(60)), CPU)
    compiled = CpuBackend(structure)
    names = ("query", "key", "f2v")
    expected = plain.attention(*(exact[name] for name in names))
    narrow = [single[name].detach().float().requires_grad_() for name in names]
    actual = compiled.attention(*narrow)
    (expected[0].sum() + expected[1].square().sum()).backward()
    (actual[0].sum() + actual[1].square().sum()).backward()
    assert_near(narrow[0].grad, exact["query"].grad, 3e-4)  # almost cancels when keys are almost equal
    for ours, theirs in zip(actual, expected, strict=True):
        assert_near(ours, theirs, 2e-6)
    assert_near(narrow[1].grad, exact["key"].grad, 2e-6)
    assert_near(narrow[2].grad, exact["f2v"].grad, 2e-6)


def assert_near(ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> None:
    """Within a fraction of the largest value."""
    assert (ours.double() - theirs).abs().max() <= tolerance * theirs.abs().max()
