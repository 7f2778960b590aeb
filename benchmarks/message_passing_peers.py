"""The same message passing by others: PyTorch gathers and scatters, PGMax on JAX, and the processor's own limit."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dabp.graph import FactorGraph
from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import Lanes, full_like, lanes_of, least, load, minimum, splat
from dabp.problem import Problem


def split_tables(graph: FactorGraph) -> tuple[np.ndarray, np.ndarray]:
    """Scaled tables [F, D, D] and scopes [F, 2] of every copy, for binary problems with one domain size."""
    (group,) = graph.groups
    tables = group.tables[group.table_index]
    copies = np.stack([scale * tables for scale in graph.scales], axis=1).reshape(-1, *group.shape)
    return copies.astype(np.float32), np.repeat(group.scope, len(graph.scales), axis=0)


def torch_iterations(problem: Problem, graph: FactorGraph, damping: float) -> Callable[[int], float]:
    """Message passing as tensor operations over all factors at once, float32, decoded and costed each iteration."""
    arrays, scopes = split_tables(graph)
    tables, variables, domain = torch.from_numpy(arrays), problem.num_variables, arrays.shape[1]
    owner = torch.from_numpy(np.concatenate([scopes[:, 0], scopes[:, 1]]))
    index = owner[:, None].expand(-1, domain)
    (group,) = graph.groups
    costs = torch.from_numpy(np.stack([problem.table(int(f)) for f in group.factors]))
    first, second = (torch.from_numpy(np.ascontiguousarray(column)) for column in group.scope.T)
    every = torch.arange(len(costs))
    unary = torch.from_numpy(graph.unary.reshape(variables, domain).astype(np.float32))
    state = {"v2f": torch.zeros(len(owner), domain)}

    @torch.inference_mode()
    def run(iterations: int) -> float:
        v2f, best = state["v2f"], float("inf")
        for _ in range(iterations):
            to_first = (tables + v2f[len(tables) :, None, :]).amin(dim=2)
            to_second = (tables + v2f[: len(tables), :, None]).amin(dim=1)
            f2v = torch.cat([to_first, to_second])
            belief = unary.scatter_reduce(0, index, f2v, reduce="sum", include_self=True)
            values = belief.argmin(dim=1)
            best = min(best, float(costs[every, values[first], values[second]].sum()))
            new = damping * v2f + (1 - damping) * (belief[owner] - f2v)
            v2f = new - new.amin(dim=1, keepdim=True)
        state["v2f"] = v2f
        return best

    return run


def pgmax_iterations(problem: Problem, graph: FactorGraph, damping: float) -> Callable[[int], float]:
    """PGMax's min-sum, iterations inside one compiled loop, decoded at its end only.

    PGMax allows one factor on a pair of variables, so the graph must not be split.
    """
    # The release wants a module that JAX has since moved.
    if "jax.lib.xla_bridge" not in sys.modules:
        import jax
        import jax.extend.backend

        bridge = types.ModuleType("jax.lib.xla_bridge")
        bridge.get_backend = jax.extend.backend.get_backend  # type: ignore[attr-defined]
        sys.modules["jax.lib.xla_bridge"] = bridge
        if not hasattr(jax, "lib"):
            jax.lib = types.ModuleType("jax.lib")  # type: ignore[assignment]
            sys.modules["jax.lib"] = jax.lib
        jax.lib.xla_bridge = bridge  # type: ignore[attr-defined]
    from pgmax import fgraph, fgroup, infer, vgroup

    arrays, scopes = split_tables(graph)
    variables = vgroup.NDVarArray(num_states=arrays.shape[1], shape=(problem.num_variables,))
    whole = fgraph.FactorGraph(variable_groups=[variables])
    pairs = [[variables[int(i)], variables[int(j)]] for i, j in scopes]
    whole.add_factors(fgroup.PairwiseFactorGroup(variables_for_factors=pairs, log_potential_matrix=-arrays))
    inferer = infer.build_inferer(whole.bp_state, backend="bp")
    state: dict[str, Any] = {"arrays": inferer.init()}

    def run(iterations: int) -> float:
        state["arrays"] = inferer.run(state["arrays"], num_iters=iterations, damping=damping, temperature=0.0)
        beliefs = inferer.get_beliefs(state["arrays"])
        values = infer.decode_map_states(beliefs)[variables]
        return float(problem.cost(np.asarray(values)))

    return run


@array_kernel
def _add_and_min(data: Any, rounds: int, lanes: Lanes) -> float:
    """Eight independent chains of an addition and a minimum over data in the first cache."""
    a = b = c = d = e = f = g = h = full_like(1e30, load(data, 0, lanes))
    for _ in range(rounds):
        for k in range(0, len(data) - 16, 16):
            costs = load(data, k, lanes)
            a = minimum(a, costs + splat(data, 0, lanes))
            b = minimum(b, costs + splat(data, 1, lanes))
            c = minimum(c, costs + splat(data, 2, lanes))
            d = minimum(d, costs + splat(data, 3, lanes))
            e = minimum(e, costs + splat(data, 4, lanes))
            f = minimum(f, costs + splat(data, 5, lanes))
            g = minimum(g, costs + splat(data, 6, lanes))
            h = minimum(h, costs + splat(data, 7, lanes))
    return least(minimum(minimum(minimum(a, b), minimum(c, d)), minimum(minimum(e, f), minimum(g, h))))


def throughput_loop() -> tuple[Callable[[int], float], int]:
    """A loop of additions and minima over data in cache, and the number of operations in a round."""
    data = np.random.default_rng(0).random(1024 + 16).astype(np.float32)
    lanes = lanes_of(16)
    return (lambda rounds: float(_add_and_min(data, rounds, lanes))), 1024 * 8 * 2
