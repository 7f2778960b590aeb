"""Pruning the graph to what read-outs see."""

from __future__ import annotations

import numpy as np
import torch

from dabp.lab.cost_model.microstructure import microstructure
from tests.lab.cost_model.trees import large_model, tree_problem


def test_leaving_out_constraints_shifts_predictions_only() -> None:
    """Pruned graphs, on which most of the training runs, give the same differences between values."""
    rng = np.random.default_rng(0)
    subtrees = [tree_problem(rng)[1] for _ in range(3)]
    model = large_model(0).double()
    with torch.no_grad():
        full = model(microstructure(subtrees))
        pruned = model(microstructure(subtrees, constraints=False))
        single = torch.cat([model(microstructure([one])) for one in subtrees])
    assert torch.allclose(full, single, atol=1e-9)
    start = 0
    for one in subtrees:
        gap = (full - pruned)[start : start + one.sizes[0]]
        assert torch.allclose(gap, gap[0].expand_as(gap), atol=1e-9)
        start += one.sizes[0]
