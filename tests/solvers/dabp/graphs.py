"""Factor graphs for DABP's tests: every arity, mixed domains, hubs; and inputs for the operations on them."""

from __future__ import annotations

import numpy as np
import torch

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.dabp.backend import Layer
from dabp.solvers.dabp.structure import Structure

CPU = torch.device("cpu")


def structure_of(problem: Problem, dtype: str = "float64") -> Structure:
    """The split graph of a problem."""
    graph = FactorGraph.from_problem(problem.minimized(), 0.95, np.dtype(dtype))
    return Structure.from_graph(graph, problem)


def star(leaves: int) -> Problem:
    """A variable with so many binary factors, and one more factor of three variables."""
    rng = np.random.default_rng(leaves)
    scopes = [[0, leaf] for leaf in range(1, leaves + 1)]
    return Problem(
        [3] + [2] * leaves,
        [*np.ravel(scopes), 0, 1, 2],
        [*range(0, 2 * leaves + 1, 2), 2 * leaves + 3],
        rng.normal(size=6 * leaves + 12),
        [*range(0, 6 * leaves + 1, 6), 6 * leaves + 12],
    )


def mixed() -> Problem:
    """Arities 1 to 4, domains 1 to 4, an isolated variable, a variable with one factor."""
    rng = np.random.default_rng(5)
    sizes, scopes = [3, 2, 4, 1, 2, 3], [[0, 1], [1, 2], [2, 0], [0, 1, 2], [1, 3, 2, 0], [4], [2, 4]]
    cells = [int(np.prod([sizes[v] for v in scope])) for scope in scopes]
    return Problem(
        sizes,
        [v for scope in scopes for v in scope],
        np.cumsum([0] + [len(scope) for scope in scopes]),
        rng.normal(size=sum(cells)),
        np.cumsum([0, *cells]),
    )


def inputs(structure: Structure, heads: int = 2, spread: float = 1.0) -> dict[str, torch.Tensor]:
    """Random arguments of every operation, by name."""
    source = torch.Generator().manual_seed(1)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=source, dtype=torch.float64)

    beyond = torch.from_numpy(structure.beyond)
    return {
        "v2f": normal(structure.num_edges, structure.width).masked_fill(beyond, 0.0).requires_grad_(),
        "f2v": normal(structure.num_edges, structure.width).masked_fill(beyond, 0.0).requires_grad_(),
        "query": normal(structure.num_factors, heads).requires_grad_(),
        "key": (spread * normal(structure.num_factors, heads)).requires_grad_(),
        "features": normal(structure.num_nodes, 5).requires_grad_(),
        "matrix": normal(4 * (8 + 2), 5).requires_grad_(),
        "bias": normal(4 * 8).requires_grad_(),
        "short_bias": normal(8).requires_grad_(),
        "damping": torch.sigmoid(normal(structure.num_edges)).requires_grad_(),
    }


def layer_of(given: dict[str, torch.Tensor], bias: str = "bias") -> Layer:
    """A GAT layer of some inputs."""
    return Layer(given["matrix"], given[bias])
