"""AdamW is PyTorch's."""

from __future__ import annotations

import pytest
import torch

from dabp.solvers.dabp.optimizer import AdamW


def test_equals_pytorch() -> None:
    """Ten updates with random gradients give PyTorch's parameters; gradients are cleared."""
    source = torch.Generator().manual_seed(0)
    ours = {name: torch.randn(3, 2, generator=source, dtype=torch.float64) for name in "ab"}
    theirs = [torch.nn.Parameter(value.clone()) for value in ours.values()]
    optimizer = AdamW(ours, 0.01, 0.1)
    peer = torch.optim.AdamW(theirs, lr=0.01, weight_decay=0.1)
    for _ in range(10):
        for mine, other in zip(ours.values(), theirs, strict=True):
            mine.grad = torch.randn(3, 2, generator=source, dtype=torch.float64)
            other.grad = mine.grad.clone()
        assert optimizer.step()
        peer.step()
    for mine, other in zip(ours.values(), theirs, strict=True):
        torch.testing.assert_close(mine, other.detach())
        assert mine.grad is None


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e30])
def test_what_is_not_finite_changes_nothing(wrong: float) -> None:
    """A gradient that is not finite, or whose square is not in float32, leaves parameters and means as they were."""
    parameters = {name: torch.ones(3) for name in "ab"}
    optimizer = AdamW(parameters, 0.01, 0.1)
    for value in parameters.values():
        value.grad = torch.ones(3)
    assert optimizer.step()
    before = [value.clone() for value in (*parameters.values(), *optimizer.mean.values(), *optimizer.square.values())]
    parameters["a"].grad, parameters["b"].grad = torch.ones(3), torch.tensor([1.0, wrong, 1.0])
    assert not optimizer.step()
    after = [*parameters.values(), *optimizer.mean.values(), *optimizer.square.values()]
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert optimizer.steps == 1
    assert parameters["b"].grad is None
