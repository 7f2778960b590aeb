"""Attention over edges sorted by target."""

from __future__ import annotations

import numpy as np
import torch

from dabp.lab.cost_model.microstructure import microstructure
from tests.lab.cost_model.trees import large_model, tree_problem


def test_attention_gradient() -> None:
    """The compiled backward pass is the derivative of the forward pass."""
    _, subtree = tree_problem(np.random.default_rng(2))
    model = large_model(1).double()
    graph = microstructure([subtree])
    parameters = {name: p for name, p in model.named_parameters() if name.startswith("layers.2.")}

    def predict_with(*tensors: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, dict(zip(parameters, tensors, strict=True)), (graph,))

    assert torch.autograd.gradcheck(predict_with, tuple(parameters.values()), fast_mode=True)
