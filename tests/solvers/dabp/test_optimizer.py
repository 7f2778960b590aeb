"""AdamW is PyTorch's."""

from __future__ import annotations

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
        optimizer.step()
        peer.step()
    for mine, other in zip(ours.values(), theirs, strict=True):
        torch.testing.assert_close(mine, other.detach())
        assert mine.grad is None
