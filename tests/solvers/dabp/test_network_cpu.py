"""The network's compiled operations: PyTorch's values and gradients, the same bits for any number of threads."""

from __future__ import annotations

import pytest
import torch

import dabp
from dabp.solvers.dabp.backend import Backend
from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.backend_torch import TorchBackend
from dabp.solvers.dabp.network import Network
from tests.solvers.dabp.graphs import CPU, mixed, structure_of


@pytest.mark.parametrize(("inputs", "outputs"), [(16, 8), (5, 3)])
def test_linear_equals_pytorch(inputs: int, outputs: int) -> None:
    """Widths that are whole vectors and others."""
    source = torch.Generator().manual_seed(2)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=source, dtype=torch.float64).requires_grad_()

    structure = structure_of(mixed())
    given = normal(70, inputs), normal(outputs, inputs), normal(outputs)
    results = []
    for backend in (CpuBackend(structure), TorchBackend(structure, CPU)):
        made = backend.linear(*given)
        results.append([made, *torch.autograd.grad(made.sin().sum(), given)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_network_has_the_same_bits_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries, keys, states and gradients of all parameters, with several blocks of rows; about PyTorch's."""
    monkeypatch.setattr("dabp.solvers.dabp.sharing.SHORT", 1e-3)
    problem = dabp.generate("random-cop", variables=40, domain=5, density=0.5, seed=50001)
    structure = structure_of(problem, "float32")
    source = torch.Generator().manual_seed(4)
    messages, states = (torch.randn(2, structure.num_edges, n, generator=source) for n in (structure.width, 8))

    def results(backend: Backend) -> list[torch.Tensor]:
        network = Network(structure, 4, torch.Generator().manual_seed(3), CPU)
        prepared = network.prepared()
        hidden = [
            backend.gru(cell, *one)
            for cell, *one in zip((prepared.gru_v2f, prepared.gru_f2v), messages, states, strict=True)
        ]
        query, key = prepared.attentive(*hidden, backend)
        (query.square().sum() + key.sin().sum()).backward()
        backend.close()
        return [*hidden, query, key, *(one.grad for one in network.parameters())]

    one, *others = [results(CpuBackend(structure, threads)) for threads in (1, 2, 3)]
    for other in others:
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    for ours, theirs in zip(one, results(TorchBackend(structure, CPU)), strict=True):
        assert (ours - theirs).abs().max() <= 1e-4 * theirs.abs().max()
