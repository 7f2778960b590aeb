"""QUBO and Ising models from matrices, dictionaries and dimod, and answers in their forms.

Neither SciPy nor dimod is imported before something of theirs is handed in or asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.quadratic import SPINS, Quadratic, problem_of, quadratic_of

_Terms = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


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
    quadratic = Quadratic(np.zeros(size), *terms, float(offset))
    return problem_of(quadratic, maximize=maximize, variable_names=_names(order), name=name)


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
            linear[order[variable]] = value
    else:
        linear = np.zeros(size) if h is None else np.array(h, dtype=np.float64)
    if linear.shape != (size,):
        raise ProblemError(f"h has shape {linear.shape}, J is for {size} spins")
    quadratic = Quadratic(linear, *terms, float(offset), spin=True)
    return problem_of(quadratic, maximize=maximize, variable_names=_names(order), name=name)


def _order(first: Sequence[Hashable], terms: Mapping[tuple[Hashable, Hashable], float]) -> dict[Hashable, int]:
    """Where each variable of a dictionary stands."""
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
    """Rows, columns and coefficients of every entry, and how many variables there are."""
    if order is not None:
        count = len(matrix)
        rows = np.fromiter((order[u] for u, _ in matrix), dtype=np.int64, count=count)
        columns = np.fromiter((order[v] for _, v in matrix), dtype=np.int64, count=count)
        return (rows, columns, np.fromiter(matrix.values(), dtype=np.float64, count=count)), len(order)
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        shape = tuple(sparse.shape)
        terms = sparse.row.astype(np.int64), sparse.col.astype(np.int64), sparse.data.astype(np.float64)
    else:
        dense = np.asarray(matrix, dtype=np.float64)
        shape = dense.shape
        if dense.ndim == 2:
            rows, columns = np.nonzero(dense)
            terms = rows.astype(np.int64), columns.astype(np.int64), dense[rows, columns]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ProblemError(f"a matrix of couplings is square, not of shape {shape}")
    return terms, int(shape[0])


def from_dimod(model: Any, *, maximize: bool = False, name: str = "problem") -> Problem:
    """The problem of a ``dimod.BinaryQuadraticModel``; spins keep −1 and +1 as labels.

    Variables are named after the model's, unless those are 0, 1, …, N − 1 in this order.
    """
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
    return problem.num_variables > 0 and all(problem.labels(i) == SPINS for i in range(problem.num_variables))


def to_dimod(problem: Problem) -> Any:
    """A ``dimod.BinaryQuadraticModel`` of a problem of two-valued variables, to be minimised.

    Spins if the labels of all variables are −1 and +1, otherwise binary with 1 for the second value; coefficients of a
    problem that maximises are negated.
    """
    dimod = _dimod()
    quadratic = quadratic_of(problem.minimized(), spin=has_spins(problem))
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
    return list(problem.variable_names) if problem.has_names else list(range(problem.num_variables))
