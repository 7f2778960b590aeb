"""Names, shapes and initial values of the network's parameters."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.solvers.dabp.parameters import COLORS, HIDDEN, initial_parameters


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
