"""Iterations and the gradient of the whole loss through a window, against plain autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dabp
from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.dabp import network_cpu
from dabp.solvers.dabp.backend import Backend
from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.backend_torch import TorchBackend
from dabp.solvers.dabp.learned import Inference
from dabp.solvers.dabp.loss import Loss
from dabp.solvers.dabp.messages import Propagation
from dabp.solvers.dabp.network import Network
from dabp.solvers.dabp.structure import Structure
from tests.solvers.dabp.graphs import CPU
from tests.solvers.dabp.naive import NaiveDabp

LENGTH, EFFECTIVE = 3, [1, 2]


def problem_of(sizes: list[int], scopes: list[list[int]], rng: np.random.Generator, forbidden: float = 0.0) -> Problem:
    """Random costs; a share of the cells is forbidden, but never the last of a row."""
    tables = []
    for scope in scopes:
        table = rng.normal(0.0, 40.0, size=[sizes[v] for v in scope])
        bad = rng.random(table.shape) < forbidden
        for axis, size in enumerate(table.shape):
            bad &= np.moveaxis(np.arange(size) < size - 1, 0, -1).reshape(
                [-1 if a == axis else 1 for a in range(len(scope))]
            )
        tables.append(np.where(bad, np.inf, table))
    return Problem(
        sizes,
        [v for scope in scopes for v in scope],
        np.cumsum([0] + [len(scope) for scope in scopes]),
        np.concatenate([table.ravel() for table in tables]),
        np.cumsum([0] + [table.size for table in tables]),
    )


def cases() -> dict[str, Problem]:
    """Mixed domains with arities 1 to 3, forbidden cells, a hub, and tables of very different size."""
    rng = np.random.default_rng(0)
    sizes, scopes = [3, 2, 5, 1, 4, 2], [[0], [2], [0, 1], [2, 1], [0, 2, 4], [1, 3, 0], [4, 2], [5, 4], [0, 4]]
    plain = problem_of([4] * 8, [[a, b] for a in range(8) for b in range(a) if (a + 2 * b) % 3], rng)
    large = plain.pool.copy()
    large[: 10 * 16] *= 100.0
    return {
        "mixed": problem_of(sizes, scopes, rng),
        "forbidden": problem_of(sizes, scopes, rng, forbidden=0.3),
        "hub": problem_of([4] + [2, 3] * 60, [[0, leaf] for leaf in range(1, 121)] + [[1, 2, 3]], rng),
        "large costs": plain.replace(pool=large),
    }


def ours(structure: Structure, network: Network, backend: Backend, weights: str = "learned") -> torch.Tensor:
    """The loss of a window, from the parts of the solver."""
    propagation = Propagation(structure, backend, CPU, Inference(structure, backend, CPU, weights, "edge"))
    messages, prepared, loss, losses = propagation.start(), network.prepared(), Loss(structure, CPU), []
    for _ in range(LENGTH):
        made = propagation.iterate(messages, prepared)
        messages = made.messages
        losses.append(loss(made.beliefs))
    return torch.stack([losses[t] for t in EFFECTIVE]).mean()


def gradients(network: Network) -> dict[str, torch.Tensor]:
    """Of every parameter, taken away from it."""
    found = {name: value.grad for name, value in network.named_parameters()}
    for value in network.parameters():
        value.grad = None
    return found


@pytest.mark.parametrize("name", cases())
def test_loss_and_gradients_equal_plain_autograd(name: str) -> None:
    """Both backends, in float64 to its precision; in float32 finite, and as near as single precision allows."""
    problem = cases()[name]
    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64), cost_scale=50.0)
    structure = Structure.from_graph(graph, problem)
    network = Network(structure, 4, torch.Generator().manual_seed(1), CPU).double()
    expected = NaiveDabp(graph, network, structure.colors.tolist()).window(LENGTH, EFFECTIVE)
    expected.backward()
    theirs = gradients(network)
    largest = max(float(one.abs().max()) for one in theirs.values())
    assert 1e-12 < largest < np.inf
    for dtype, backends, tolerance in (
        ("float64", (CpuBackend, TorchBackend), 1e-9),
        ("float32", (CpuBackend, TorchBackend), 2e-3),
    ):
        narrow = FactorGraph.from_problem(problem, 0.95, np.dtype(dtype), cost_scale=50.0)
        shape = Structure.from_graph(narrow, problem)
        copy = Network(shape, 4, torch.Generator().manual_seed(1), CPU).to(getattr(torch, dtype))
        for backend in backends:
            made = backend(shape) if backend is CpuBackend else backend(shape, CPU)
            loss = ours(shape, copy, made)
            assert float(loss.detach()) == pytest.approx(
                float(expected.detach()), rel=1e-9 if dtype == "float64" else 1e-5
            )
            loss.backward()
            for parameter, gradient in gradients(copy).items():
                off = (gradient.double() - theirs[parameter]).abs().max() / largest
                assert off <= tolerance, (dtype, backend.__name__, parameter, float(off))


@pytest.mark.parametrize("interval", [1, 3])
def test_recomputing_changes_nothing(monkeypatch: pytest.MonkeyPatch, interval: int) -> None:
    """Keeping only messages for the backward pass, as on the largest graphs, gives the same run."""
    problem = dabp.generate("random-cop", variables=8, domain=4, density=0.6, seed=3)
    params = {"restarts": 2, "max_iterations_per_restart": 12, "update_interval": 5, "learning_rate": 1e-2}
    calls = []
    attended = network_cpu.attended
    monkeypatch.setattr(network_cpu, "attended", lambda *given: calls.append(1) or attended(*given))
    runs, counts = [], []
    for activations in (2**29, 0):
        monkeypatch.setattr("dabp.solvers.dabp.alg1.ACTIVATION_BYTES", activations)
        calls.clear()
        runs.append(dabp.solve(problem, "dabp", params=params | {"network_interval": interval}).trace)
        counts.append(len(calls))
    np.testing.assert_array_equal(runs[0].iteration_costs, runs[1].iteration_costs)
    assert [one["loss"] for one in runs[0].records] == [one["loss"] for one in runs[1].records]
    assert counts[0] < counts[1]


@pytest.mark.parametrize("name", ["mixed", "large costs"])
@pytest.mark.parametrize("weights", ["learned", "uniform"])
def test_gradients_reach_the_network_through_held_weights(name: str, weights: str) -> None:
    """With λ and w held from the first iteration, the compiled gradients are those of plain PyTorch."""
    problem = cases()[name]
    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64), cost_scale=50.0)
    structure = Structure.from_graph(graph, problem)
    network = Network(structure, 4, torch.Generator().manual_seed(1), CPU).double()
    results = []
    for backend in (CpuBackend(structure), TorchBackend(structure, CPU)):
        propagation = Propagation(structure, backend, CPU, Inference(structure, backend, CPU, weights, "edge"))
        prepared, loss = network.prepared(), Loss(structure, CPU)
        made = first = propagation.iterate(propagation.start(), prepared)
        for _ in range(3):
            made = propagation.iterate(made.messages, prepared, first.learned)
            torch.testing.assert_close(made.learned.damping, first.learned.damping)
            torch.testing.assert_close(made.messages.hidden_v2f, first.messages.hidden_v2f)
        total = loss(made.beliefs)
        total.backward()
        results.append({"loss": total.detach(), **gradients(network)})
    assert results[0]["color_embedding"].abs().max() > 0
    for key, value in results[0].items():
        torch.testing.assert_close(value, results[1][key], rtol=1e-6, atol=1e-9)
