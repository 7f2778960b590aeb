"""To and from what other packages hold problems in, also as ``dabp.interop``.

NumPy tables, NetworkX graphs, QUBO and Ising models as matrices, dictionaries or objects of dimod, Bayesian and Markov
networks of pgmpy and pyAgrum, networks of pytoulbar2. None of these packages is imported before it is needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError, named_keywords
from dabp.packages import require
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.conversion import as_float, as_floats, as_integers
from dabp.problem.data import cost_table, positional
from dabp.problem.facts import minimized
from dabp.problem.grid import grid as grid
from dabp.problem.integer_costs import integer_costs
from dabp.problem.quadratic_function import SPINS, Quadratic, problem_of, quadratic_of
from dabp.problem.views import Label

if TYPE_CHECKING:
    from networkx import Graph

Tables = list[tuple[tuple[int, ...], NDArray[np.float64]]]
"""Scopes and tables, an axis per variable of the scope."""


@named_keywords
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
    _check_has(graph, "nodes", "a graph of NetworkX")
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
            factor = (
                as_float(data.get(weight, 1.0), f"the weight of edge {first!r}-{second!r}")
                if weight is not None
                else 1.0
            )
            costs = weighted.setdefault(factor, _times(factor, shared) if factor not in weighted else shared)
        if costs is None:
            raise ProblemError(f"edge {first!r}-{second!r} has no 'costs', and no edge_costs are given")
        if first == second:
            raise ProblemError(f"edge {first!r}-{second!r} is a loop; what it costs belongs to the node's 'costs'")
        scope = index[first], index[second]
        tables.append((scope, costs if graph.is_directed() else _undirected(first, second, scope, sizes, costs)))
    return from_tables(sizes, tables, maximize=maximize, variable_names=_texts(nodes), keys=nodes)


def _check_has(given: Any, member: str, wanted: str) -> None:
    if not hasattr(given, member):
        raise ProblemError(f"{wanted} is expected, not {type(given).__name__}")


def _unary(node: Hashable, costs: Any) -> NDArray[np.float64]:
    """A node's costs: by position, or by value from a dictionary or a Series."""
    count = len(costs) if hasattr(costs, "__len__") else 0
    return cost_table(costs, [str(node)], [tuple(range(count))])


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
    """The matrix of an undirected edge, rows for `first`; refused if neither symmetry nor shape decides the sides."""
    matrix, shape = positional(costs, f"the costs of edge {first!r}-{second!r}"), (sizes[scope[0]], sizes[scope[1]])
    if shape[0] == shape[1] == len(matrix) and not np.array_equal(matrix, matrix.T):
        raise ProblemError(
            f"the costs of edge {first!r}-{second!r} are not symmetric; a DiGraph tells which node has the rows"
        )
    return matrix.T if matrix.shape == shape[::-1] != shape else costs


@named_keywords
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
    column = as_integers([] if domain_sizes is None else domain_sizes, "domain sizes")
    if column.ndim != 1:
        raise ProblemError(f"domain sizes are a list of whole numbers, not {domain_sizes!r}")
    sizes: list[int] = column.tolist()
    pool: list[NDArray[np.float64]] = []
    numbers: dict[int, int] = {}
    factor_table, scopes = [], []
    for entry in tables if isinstance(tables, Iterable) else [tables]:
        if not isinstance(entry, Sequence) or len(entry) != 2:
            raise ProblemError(f"from_tables takes pairs of a scope and a table, not {entry!r}")
        scope, table = entry
        if not isinstance(scope, tuple | list) or not set(map(type, scope)) <= {int}:
            scope = as_integers(scope, "a scope").ravel().tolist()
        if not all(0 <= variable < len(sizes) for variable in scope):
            raise ProblemError(f"the scope {list(scope)} names a variable outside 0..{len(sizes) - 1}")
        values = positional(table, f"the costs on {scope}")
        expected = tuple(sizes[variable] for variable in scope)
        if values.shape != expected:
            raise ProblemError(f"the factor on {list(scope)} needs a table of shape {expected}, it has {values.shape}")
        if id(table) not in numbers:
            numbers[id(table)] = len(pool)
            pool.append(values.ravel())
        factor_table.append(numbers[id(table)])
        scopes.append(scope)
    return Problem(
        sizes,
        np.array([variable for scope in scopes for variable in scope], dtype=np.int64),
        offsets_of([len(scope) for scope in scopes]),
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
    limit, top = minimized(problem).limit, (costs.top - costs.raised) / costs.scale
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


# ---- QUBO and Ising models ------------------------------------------------------------------

_Terms = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


@named_keywords
def from_qubo(
    matrix: ArrayLike | Mapping[tuple[Hashable, Hashable], float] | Any,
    offset: float = 0.0,
    *,
    maximize: bool = False,
    name: str = "problem",
) -> Problem:
    """The problem of the least (or largest) ``x' Q x + offset`` with x in {0, 1}^N.

    Parameters
    ----------
    matrix
        Q as a square array, a SciPy sparse matrix, or a dictionary ``(u, v) → coefficient`` as dimod takes. Every entry
        counts as it stands: ``Q[i, j]`` and ``Q[j, i]`` are added up, the diagonal is linear. The variables of a
        dictionary are named after its keys, in order of appearance, unless they are the integers 0, 1, …, N − 1.
    offset
        Added to every cost.
    maximize
        The direction.
    name
        What the problem is called.
    """
    order = None if not isinstance(matrix, Mapping) else _order([], matrix)
    terms, size = _terms(matrix, order)
    quadratic = Quadratic(np.zeros(size), *terms, as_float(offset, "the offset"))
    return problem_of(quadratic, maximize=maximize, variable_names=_names(order), name=name)


@named_keywords
def from_ising(
    h: ArrayLike | Mapping[Hashable, float] | None,
    J: ArrayLike | Mapping[tuple[Hashable, Hashable], float] | Any,
    offset: float = 0.0,
    *,
    maximize: bool = False,
    name: str = "problem",
) -> Problem:
    """The problem of the least (or largest) ``h' s + s' J s + offset`` with s in {−1, +1}^N, which are its labels.

    `h` is an array or a dictionary, None for no field; `J` is what `from_qubo` takes for a matrix, its diagonal a
    constant. Both are dictionaries or neither is.
    """
    if isinstance(J, Mapping) != isinstance(h, Mapping) and h is not None:
        raise ProblemError("h and J are both dictionaries or both arrays")
    order = None
    if isinstance(J, Mapping):
        order = _order(list(h) if isinstance(h, Mapping) else [], J)
    terms, size = _terms(J, order)
    if isinstance(h, Mapping):
        assert order is not None
        linear = np.zeros(size)
        for variable, value in h.items():
            linear[order[variable]] = as_float(value, f"the field of {variable!r}")
    else:
        linear = np.zeros(size) if h is None else as_floats(h, "the fields h")
    if linear.shape != (size,):
        raise ProblemError(f"h has shape {linear.shape}, J is for {size} spins")
    quadratic = Quadratic(linear, *terms, as_float(offset, "the offset"), spin=True)
    return problem_of(quadratic, maximize=maximize, variable_names=_names(order), name=name)


def _order(first: Sequence[Hashable], terms: Mapping[tuple[Hashable, Hashable], float]) -> dict[Hashable, int]:
    """The number of each variable of a dictionary."""
    if not all(isinstance(key, tuple) and len(key) == 2 for key in terms):
        raise ProblemError("a dictionary of couplings has pairs of variables as keys")
    found = dict.fromkeys([*first, *(variable for pair in terms for variable in pair)])
    if all(type(variable) is int for variable in found):
        numbers = sorted(variable for variable in found if isinstance(variable, int))
        if not numbers or (numbers[0] >= 0 and numbers[-1] == len(numbers) - 1):
            return {number: number for number in numbers}
    return {variable: i for i, variable in enumerate(found)}


def _names(order: Mapping[Hashable, int] | None) -> list[str] | None:
    if order is None or all(variable == i and type(variable) is int for variable, i in order.items()):
        return None
    return [str(variable) for variable in order]


def _terms(matrix: Any, order: Mapping[Hashable, int] | None) -> tuple[_Terms, int]:
    """Rows, columns and coefficients of all entries, and the number of variables."""
    if order is not None:
        count = len(matrix)
        rows = np.fromiter((order[u] for u, _ in matrix), dtype=np.int64, count=count)
        columns = np.fromiter((order[v] for _, v in matrix), dtype=np.int64, count=count)
        return (rows, columns, as_floats(list(matrix.values()), "couplings")), len(order)
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        shape = tuple(sparse.shape)
        terms = sparse.row.astype(np.int64), sparse.col.astype(np.int64), as_floats(sparse.data, "couplings")
    else:
        dense = as_floats(matrix, "couplings")
        shape = dense.shape
        if dense.ndim == 2:
            rows, columns = np.nonzero(dense)
            terms = rows.astype(np.int64), columns.astype(np.int64), dense[rows, columns]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ProblemError(f"a matrix of couplings is square, not of shape {shape}")
    return terms, int(shape[0])


@named_keywords
def from_dimod(model: Any, *, maximize: bool = False, name: str = "problem") -> Problem:
    """The problem of a ``dimod.BinaryQuadraticModel``; spins keep −1 and +1 as labels.

    Variables are named after the model's, unless those are 0, 1, …, N − 1 in this order.
    """
    _check_has(model, "to_numpy_vectors", "a BinaryQuadraticModel of dimod")
    variables = list(model.variables)
    vectors = model.to_numpy_vectors(variable_order=variables)
    rows, columns, weights = vectors.quadratic
    quadratic = Quadratic(
        np.array(vectors.linear_biases, dtype=np.float64),
        np.array(rows, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        np.array(weights, dtype=np.float64),
        float(vectors.offset),
        spin=model.vartype.name == "SPIN",
    )
    names = None if variables == list(range(len(variables))) else [str(variable) for variable in variables]
    return problem_of(quadratic, maximize=maximize, variable_names=names, name=name)


def has_spins(problem: Problem) -> bool:
    """Whether the labels of every variable are −1 and +1."""
    return problem.num_variables > 0 and all(problem.names.labels(i) == SPINS for i in range(problem.num_variables))


def to_dimod(problem: Problem) -> Any:
    """A ``dimod.BinaryQuadraticModel`` of a problem of two-valued variables, to be minimised.

    Spins if the labels of all variables are −1 and +1, otherwise binary with 1 for the second value; coefficients of a
    problem that maximises are negated.
    """
    dimod = _dimod()
    quadratic = quadratic_of(minimized(problem), spin=has_spins(problem))
    return dimod.BinaryQuadraticModel.from_numpy_vectors(
        quadratic.linear,
        (quadratic.rows, quadratic.columns, quadratic.weights),
        quadratic.offset,
        "SPIN" if quadratic.spin else "BINARY",
        variable_order=_dimod_variables(problem),
    )


def to_sampleset(problem: Problem, assignments: ArrayLike) -> Any:
    """Assignments, one [N] or some [B, N], as a ``dimod.SampleSet`` with the problem's costs as energies."""
    dimod = _dimod()
    rows = np.atleast_2d(np.asarray(assignments))
    spin = has_spins(problem)
    energies = problem.cost(rows) * (-1.0 if problem.maximize else 1.0)
    return dimod.SampleSet.from_samples(
        (sample_array(problem, rows), _dimod_variables(problem)), vartype="SPIN" if spin else "BINARY", energy=energies
    )


def sample_array(problem: Problem, assignments: ArrayLike) -> NDArray[np.int8]:
    """Assignments as arrays of the same shape of 0 and 1, or of −1 and +1 for spins."""
    if (problem.domain_sizes != 2).any():
        raise ProblemError("samples are of two-valued variables; this problem has others")
    values = np.asarray(assignments).astype(np.int8)
    return 2 * values - 1 if has_spins(problem) else values


def _dimod() -> Any:
    try:
        return importlib.import_module("dimod")
    except ImportError:
        raise ProblemError("dimod is not installed; `pip install dimod` does it") from None


def _dimod_variables(problem: Problem) -> list[Hashable]:
    return list(problem.names.variable_names or range(problem.num_variables))


# ---- Bayesian and Markov networks: a probability p is a cost of −ln p, and p = 0 is forbidden ----

_Table = tuple[list[int], NDArray[np.float64], str]


@named_keywords
def from_pgmpy(model: Any, *, name: str = "problem") -> Problem:
    """The problem of a pgmpy network: a ``DiscreteBayesianNetwork``'s distributions, or a Markov network's factors.

    Names of states are labels; a factor of a Bayesian network has the parents first and the variable last.
    """
    bayesian = hasattr(model, "get_cpds")
    if not bayesian:
        _check_has(model, "get_factors", "a network of pgmpy")
    parts = model.get_cpds() if bayesian else model.get_factors()
    nodes = [node for node in model.nodes() if not hasattr(node, "values")]  # factor graphs have factors as nodes
    index: dict[Hashable, int] = {node: i for i, node in enumerate(nodes)}
    states: list[Sequence[Hashable] | None] = [None] * len(nodes)
    tables: list[_Table] = []
    for part in parts:
        variables = list(part.variables)
        values = np.asarray(part.values, dtype=np.float64)
        for variable, size in zip(variables, values.shape, strict=True):
            named = getattr(part, "state_names", {}).get(variable, range(size))
            known = states[index[variable]]
            if known is None:
                states[index[variable]] = list(named)
            elif list(known) != list(named):  # pgmpy lets each factor order them as it likes
                axis = variables.index(variable)
                values = np.take(values, [list(named).index(one) for one in known], axis=axis)
        if bayesian:  # the variable first
            variables, values = [*variables[1:], variables[0]], np.moveaxis(values, 0, -1)
        tables.append(([index[one] for one in variables], values, str(variables[-1] if bayesian else "")))
    missing = [node for node, found in zip(nodes, states, strict=True) if found is None]
    if missing:
        raise ProblemError(f"variable {missing[0]!r} has no distribution")
    return _of_probabilities([str(node) for node in nodes], [list(one or ()) for one in states], tables, name)


@named_keywords
def from_pyagrum(model: Any, *, name: str = "problem") -> Problem:
    """The problem of a pyAgrum ``BayesNet`` or ``MarkovRandomField``; names of states are labels."""
    _check_has(model, "nodes", "a network of pyAgrum")
    ids = sorted(model.nodes())
    names = [model.variable(i).name() for i in ids]
    index = {one: i for i, one in enumerate(names)}
    bayesian = hasattr(model, "cpt")
    parts: Iterable[Any] = [model.cpt(i) for i in ids] if bayesian else [model.factor(one) for one in model.factors()]
    tables: list[_Table] = []
    for part in parts:
        scope = [index[one] for one in reversed(part.names)]  # the axes of its arrays run backwards
        tables.append((scope, np.asarray(part.toarray(), dtype=np.float64), names[scope[-1]] if bayesian else ""))
    return _of_probabilities(names, [list(model.variable(i).labels()) for i in ids], tables, name)


def _of_probabilities(names: list[str], states: list[list[Any]], tables: list[_Table], name: str) -> Problem:
    sizes = [len(one) for one in states]
    for scope, table, _ in tables:
        if table.shape != tuple(sizes[v] for v in scope):
            raise ProblemError(f"a table on {[names[v] for v in scope]} has shape {table.shape}")
        if not (np.isfinite(table) & (table >= 0)).all():
            raise ProblemError(f"a table on {[names[v] for v in scope]} has values that are no probabilities")
    with np.errstate(divide="ignore"):
        cells = [0.0 - np.log(table.ravel()) for _, table, _ in tables]
    return Problem(
        np.array(sizes, dtype=np.int64),
        np.array([v for scope, _, _ in tables for v in scope], dtype=np.int64),
        offsets_of([len(scope) for scope, _, _ in tables]),
        np.concatenate([np.zeros(0), *cells]),
        offsets_of([len(one) for one in cells]),
        variable_names=names,
        factor_names=[one or f"f{i}" for i, (_, _, one) in enumerate(tables)],
        labels=[_state_labels(one) for one in states],
        name=name,
    )


def _state_labels(states: list[Any]) -> tuple[Label, ...] | None:
    """Labels as a problem takes them: text and numbers as they are, anything else as text."""
    if states == list(range(len(states))):
        return None
    return tuple(one if isinstance(one, str | int | float) else str(one) for one in states)
