"""To and from what other packages hold problems in: NetworkX graphs, pytoulbar2 networks, NumPy tables.

None of these packages is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.packages import require
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.data import cost_table, positional
from dabp.problem.integer_costs import integer_costs

if TYPE_CHECKING:
    from networkx import Graph

Tables = list[tuple[tuple[int, ...], NDArray[np.float64]]]
"""Scopes and tables, an axis per variable of the scope."""


def from_networkx(
    graph: Graph,
    *,
    domain_size: int | None = None,
    edge_costs: ArrayLike | None = None,
    weight: str | None = None,
    maximize: bool = False,
) -> Problem:
    """A pairwise problem on a graph: a variable per node, a binary factor per edge, unary factors where nodes say so.

    Answers have the nodes themselves as keys, whatever they are; in files their text is the variables' names.

    Parameters
    ----------
    graph
        A NetworkX graph, directed or not. Node attribute ``costs`` holds a node's unary costs (and so its number of
        values), edge attribute ``costs`` a matrix, rows for the edge's first node. Undirected edges have no first
        node: their matrices must be symmetric, or tell by their shape which side is whose.
    domain_size
        How many values nodes without ``costs`` have.
    edge_costs
        The matrix of edges without ``costs``; all such edges share it. Undirected edges as above.
    weight
        An edge attribute, such as ``"weight"``, that `edge_costs` is multiplied by; 1 for edges without.
    maximize
        The direction.
    """
    nodes: list[Hashable] = list(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    unary = {node: _unary(node, data["costs"]) for node, data in graph.nodes(data=True) if "costs" in data}
    missing = [node for node in nodes if node not in unary]
    if missing and domain_size is None:
        raise ProblemError(f"node {missing[0]!r} has no 'costs', and no domain_size is given")
    sizes = [len(unary[node]) if node in unary else domain_size or 0 for node in nodes]
    shared = None if edge_costs is None else positional(edge_costs, "edge_costs")
    weighted: dict[float, NDArray[np.float64]] = {}
    tables: list[tuple[Sequence[int], ArrayLike]] = [((index[node],), costs) for node, costs in unary.items()]
    for first, second, data in graph.edges(data=True):
        costs = data.get("costs")
        if costs is None and shared is not None:
            factor = _weight(first, second, data.get(weight, 1.0)) if weight is not None else 1.0
            costs = weighted.setdefault(factor, _times(factor, shared) if factor not in weighted else shared)
        if costs is None:
            raise ProblemError(f"edge {first!r}-{second!r} has no 'costs', and no edge_costs are given")
        if first == second:
            raise ProblemError(f"edge {first!r}-{second!r} is a loop; what it costs belongs to the node's 'costs'")
        scope = index[first], index[second]
        tables.append((scope, costs if graph.is_directed() else _undirected(first, second, scope, sizes, costs)))
    return from_tables(sizes, tables, maximize=maximize, variable_names=_texts(nodes), keys=nodes)


def _unary(node: Hashable, costs: Any) -> NDArray[np.float64]:
    """A node's costs: by position, or by value from a dictionary or a Series."""
    count = len(costs) if hasattr(costs, "__len__") else 0
    return cost_table(costs, [str(node)], [tuple(range(count))])


def _weight(first: Hashable, second: Hashable, value: Any) -> float:
    if isinstance(value, bool | str) or not isinstance(value, Real):
        raise ProblemError(f"the weight of edge {first!r}-{second!r} is {value!r}, not a number")
    return float(value)


def _times(factor: float, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """A matrix times a weight; what is forbidden stays so, whatever the weight."""
    return np.where(np.isinf(costs), costs, factor * np.where(np.isinf(costs), 0.0, costs))


def _texts(nodes: Sequence[Hashable]) -> list[str]:
    """The text of each node, with a number where another has the same: 1 and "1" are different nodes."""
    taken = {str(node) for node in nodes}
    seen: set[str] = set()
    names = []
    for node in nodes:
        name, number = str(node), 2
        while name in seen or (number > 2 and name in taken):
            name, number = f"{node}_{number}", number + 1
        seen.add(name)
        names.append(name)
    return names


def _undirected(
    first: Hashable, second: Hashable, scope: tuple[int, int], sizes: Sequence[int], costs: ArrayLike
) -> ArrayLike:
    """The matrix of an undirected edge, rows for `first`; refused if nothing tells which side is whose."""
    matrix, shape = positional(costs, f"the costs of edge {first!r}-{second!r}"), (sizes[scope[0]], sizes[scope[1]])
    if shape[0] == shape[1] == len(matrix) and not np.array_equal(matrix, matrix.T):
        raise ProblemError(
            f"the costs of edge {first!r}-{second!r} are not symmetric; a DiGraph tells which node has the rows"
        )
    return matrix.T if matrix.shape == shape[::-1] != shape else costs


def from_tables(
    domain_sizes: Sequence[int],
    tables: Sequence[tuple[Sequence[int], ArrayLike]],
    *,
    constant: float = 0.0,
    maximize: bool = False,
    variable_names: Sequence[str] | None = None,
    keys: Sequence[Hashable] | None = None,
) -> Problem:
    """A problem from scopes and NumPy tables; tables that are the same object are stored once."""
    pool: list[NDArray[np.float64]] = []
    numbers: dict[int, int] = {}
    factor_table = []
    for scope, table in tables:
        values = positional(table, f"the costs on {list(scope)}")
        expected = tuple(int(domain_sizes[v]) for v in scope)
        if values.shape != expected:
            raise ProblemError(f"the factor on {list(scope)} needs a table of shape {expected}, it has {values.shape}")
        if id(table) not in numbers:
            numbers[id(table)] = len(pool)
            pool.append(values.ravel())
        factor_table.append(numbers[id(table)])
    return Problem(
        np.array(domain_sizes, dtype=np.int64),
        np.array([v for scope, _ in tables for v in scope], dtype=np.int64),
        offsets_of([len(scope) for scope, _ in tables]),
        np.concatenate(pool) if pool else np.zeros(0),
        offsets_of([len(values) for values in pool]),
        np.array(factor_table, dtype=np.int64),
        constant=constant,
        maximize=maximize,
        variable_names=variable_names,
        keys=keys,
    )


def to_tables(problem: Problem) -> Tables:
    """Scope and table of every factor; the tables are read-only views of the problem's own."""
    return [(factor.scope, factor.table) for factor in problem.factors]


def to_toulbar2(problem: Problem, **options: Any) -> Any:
    """A ``pytoulbar2.CFN`` with the same variables, values and costs, ready for its `Solve`.

    Costs of the network are those of the problem, negated when it maximises, to as many decimals as toulbar2's
    64-bit costs have room for, and its upper bound is the problem's limit, if it has one; `options` go to the ``CFN``
    constructor.
    """
    require("pytoulbar2", "a network of pytoulbar2")
    import pytoulbar2

    costs, _ = integer_costs(problem)
    decimals = max(0, round(np.log10(costs.scale)))
    limit, top = problem.minimized().limit, (costs.top - costs.raised) / costs.scale
    top = top if limit is None else min(top, limit)
    network = pytoulbar2.CFN(**{"ubinit": top, "resolution": decimals, **options})
    for variable in problem.variables:
        network.AddVariable(variable.name, [str(label) for label in variable.labels])
    if shift := (costs.constant - costs.raised) / costs.scale:
        network.AddFunction([], shift)
    for f in range(problem.num_factors):
        table = problem.factor_table[f]
        cells = costs.pool[problem.pool_offsets[table] : problem.pool_offsets[table + 1]]
        values = np.where(cells < 0, float(costs.top), cells)
        if problem.arities[f] > 3:  # pytoulbar2 rounds these down
            values[values > values.min()] += 1e-3
        network.AddFunction([int(v) for v in problem.scope(f)], (values / costs.scale).tolist())
    return network
