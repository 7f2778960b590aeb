"""Names, shapes and initial values of the network's parameters; AdamW is PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.attention.gated_units import HIDDEN
from dabp.solvers.dabp.parameters import COLORS, AdamW, initial_parameters


def drawn(seed: int = 0, dtype: str = "float64") -> dict[str, np.ndarray]:
    return dict(initial_parameters(15, 4, dtype, np.random.default_rng(seed)))


def test_values_are_spread_as_their_peers_are() -> None:
    """PyTorch's GRU and linear layers, PyTorch Geometric's GAT layers (Glorot), N(0, 1) for colours; biases are 0."""
    cell, linear = torch.nn.GRUCell(15, HIDDEN), torch.nn.Linear(16, 16)
    values = drawn()
    for name, value in values.items():
        if name.startswith("layers.") and name.endswith(".bias"):
            assert not value.any()
        elif name.startswith("layers."):
            bound = np.sqrt(6.0 / sum(value.shape))
            assert 0.6 * bound < np.abs(value).max() <= bound, name
    for name, peer in (("gru_v2f.weight_ih", cell.weight_ih), ("query", linear.weight)):
        assert np.abs(values[name]).max() == pytest.approx(float(peer.detach().abs().max()), rel=0.05)
    assert np.abs(values["score"]).max() <= 32**-0.5
    assert values["color_embedding"].shape == (COLORS, HIDDEN)
    assert values["color_embedding"].std() == pytest.approx(1.0, abs=0.1)


def test_draws_follow_from_the_seed_alone() -> None:
    """Equal seeds give equal values, in both precisions up to rounding; other seeds give others."""
    one, same, other, single = drawn(), drawn(), drawn(1), drawn(0, "float32")
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["query"], other["query"])
    assert all(np.array_equal(one[name].astype(np.float32), single[name]) for name in one)


def test_names_are_views_of_the_flat_vector() -> None:
    """The optimiser moves the vector, the network reads the names."""
    parameters = initial_parameters(3, 2, "float64", np.random.default_rng(0))
    parameters.flat[...] = np.arange(len(parameters.flat))
    np.testing.assert_array_equal(np.concatenate([one.ravel() for one in parameters.values()]), parameters.flat)
    zeros = parameters.zeros()
    assert zeros.keys() == parameters.keys()
    assert not zeros.flat.any()


def test_adamw_equals_pytorch() -> None:
    """Ten updates with random gradients give PyTorch's parameters."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=7)
    peer = torch.nn.Parameter(torch.from_numpy(theta.copy()))
    optimizer, theirs = AdamW(7, theta.dtype, 0.01, 0.1), torch.optim.AdamW([peer], lr=0.01, weight_decay=0.1)
    for _ in range(10):
        gradient = rng.normal(size=7)
        assert optimizer.step(theta, gradient)
        peer.grad = torch.from_numpy(gradient)
        theirs.step()
    np.testing.assert_allclose(theta, peer.detach(), rtol=1e-12)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e30])
def test_what_is_not_finite_changes_nothing(wrong: float) -> None:
    """A gradient that is not finite, or whose square is not in float32, leaves parameters and means as they were."""
    theta = np.ones(3, np.float32)
    optimizer = AdamW(3, theta.dtype, 0.01, 0.1)
    assert optimizer.step(theta, np.ones(3, np.float32))
    before = [one.copy() for one in (theta, optimizer.mean, optimizer.square)]
    assert not optimizer.step(theta, np.array([1.0, wrong, 1.0], np.float32))
    for one, other in zip((theta, optimizer.mean, optimizer.square), before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert optimizer.steps == 1
