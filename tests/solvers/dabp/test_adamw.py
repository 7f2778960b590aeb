"""AdamW is PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.solvers.dabp.adamw import AdamW


def test_equals_pytorch() -> None:
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
