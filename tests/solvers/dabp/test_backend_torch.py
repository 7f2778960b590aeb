"""The operations in plain PyTorch, the GPU's path: the same values and gradients as the compiled ones."""

from __future__ import annotations

import pytest
import torch

from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.backend_torch import TorchBackend
from tests.problems import random_problem
from tests.solvers.dabp.graphs import CPU, inputs, layer_of, structure_of


@pytest.mark.parametrize("seed", range(8))
def test_compiled_equals_torch(seed: int) -> None:
    """On any problem, compiled kernels and plain PyTorch give the same values and gradients."""
    structure = structure_of(random_problem(seed, maximize=False))
    if structure.num_edges == 0:
        pytest.skip("no factor of two variables")
    results = []
    for backend in (CpuBackend(structure, 2), TorchBackend(structure, CPU)):
        given = inputs(structure)
        outputs = [backend.f2v(given["v2f"]), *backend.attention(given["query"], given["key"], given["f2v"])]
        outputs.append(backend.attend(given["features"], layer_of(given), structure.needed[1]))
        outputs.append(backend.compose(given["damping"], given["v2f"], given["f2v"]))
        sum(((1 + i) * one.sin()).sum() for i, one in enumerate(outputs)).backward()
        unused = ("short_bias",)
        results.append([*outputs, *(one.grad for name, one in given.items() if name not in unused)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-7)
