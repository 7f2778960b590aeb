"""Factor graphs for DABP's tests: every arity, mixed domains, hubs; and windows on them by either backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.graph import FactorGraph
from dabp.kernels.attention.gated_units import HIDDEN
from dabp.problem import Problem
from dabp.problem.facts import minimized
from dabp.solvers.dabp.compiled import CompiledBackend
from dabp.solvers.dabp.parameters import Parameters, initial_parameters
from dabp.solvers.dabp.plain import PlainBackend
from dabp.solvers.dabp.structure import Structure
from dabp.solvers.dabp.window import Backend, Messages


def structure_of(problem: Problem, dtype: str = "float64", cost_scale: float | None = None) -> Structure:
    """The split graph of a problem."""
    graph = FactorGraph.from_problem(minimized(problem), 0.95, np.dtype(dtype), cost_scale=cost_scale)
    return Structure.from_graph(graph, problem)


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


def mixed(forbidden: float = 0.0) -> Problem:
    """Arities 1 to 4, domains 1 to 5, an isolated variable, variables with one factor."""
    sizes = [3, 2, 5, 1, 4, 2, 9, 3]
    scopes = [[0], [2], [0, 1], [2, 1], [0, 2, 4], [1, 3, 0], [4, 2], [5, 4], [0, 4], [6, 4], [6, 2], [1, 3, 2, 0]]
    return problem_of(sizes, scopes, np.random.default_rng(0), forbidden)


def cases() -> dict[str, Problem]:
    """Mixed domains with arities 1 to 4, forbidden cells, a hub of degree 242, tables of very different size, and
    domains of more than two vectors with more edges than a block of rows.
    """
    rng = np.random.default_rng(0)
    plain = problem_of([4] * 8, [[a, b] for a in range(8) for b in range(a) if (a + 2 * b) % 3], rng)
    large = plain.pool.copy()
    large[: 10 * 16] *= 100.0
    return {
        "mixed": mixed(),
        "forbidden": mixed(0.3),
        "hub": problem_of([4] + [2, 3] * 60, [[0, leaf] for leaf in range(1, 121)] + [[1, 2, 3]], rng),
        "large costs": plain.replace(pool=large),
        "wide": problem_of([17] * 18, [[a, b] for a in range(18) for b in range(a)], rng),
    }


def parameters_of(structure: Structure, heads: int = 4, size: float = 1.0) -> Parameters:
    """Random parameters; `size` times the usual ones, so that λ and w move."""
    result = initial_parameters(structure.width, heads, structure.graph.dtype, np.random.default_rng(1))
    result.flat[...] *= size
    return result


def backends(structure: Structure, weights: str = "learned", damping: str = "edge") -> tuple[Backend, Backend]:
    """The compiled and the plain one."""
    return CompiledBackend(structure, weights, damping, 20, 2), PlainBackend(structure, weights, damping, "cpu")


def start(structure: Structure) -> Messages:
    """Messages and states before the first iteration, all zero."""
    edges, dtype = structure.num_edges, structure.graph.dtype
    return Messages(*(np.zeros((edges, width), dtype) for width in (structure.width, HIDDEN, HIDDEN)))


def window(
    backend: Backend, structure: Structure, parameters: Parameters, interval: int = 1, length: int = 5
) -> dict[str, Any]:
    """Everything that a window computes, by name; its loss is that of the last and the last but two iterations."""
    unrolled = backend.window(parameters, start(structure), True)
    made = [unrolled.iterate(t % interval == 0) for t in range(length)]
    loss = unrolled.loss([length - 1, length - 3])
    inside = structure.domain_mask
    return {
        "beliefs": np.array([one.beliefs[inside] for one in made]),
        "change": np.array([one.change for one in made]),
        "loss": np.array(loss),
        **unrolled.messages()._asdict(),
        "damping": unrolled.learned()[0],
        "weight range": np.array(unrolled.learned()[1:]),
        "gradient": unrolled.gradient(),
    }
