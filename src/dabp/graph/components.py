"""Parts of a problem that share no factor: each can be solved apart."""

from __future__ import annotations

import numpy as np

from dabp.kernels.presolve.union_find import connected_components
from dabp.problem import Problem
from dabp.problem.columns import Indices, cells_of_tables, handed_over, offsets_of, ragged_positions
from dabp.problem.facts import structural


def component_labels(problem: Problem) -> tuple[Indices, int]:
    """The component of each variable, numbered by first variable, [N], and their number; cached for each structure."""
    return structural(problem, _component_labels)


def _component_labels(problem: Problem) -> tuple[Indices, int]:
    return connected(problem.num_variables, problem.scope_variables, problem.scope_offsets)


def connected(num_variables: int, scopes: Indices, offsets: Indices) -> tuple[Indices, int]:
    """The component of each variable in the graph of these scopes, numbered by first variable, [N], and their number.

    The kernel takes read-only columns, as those of a problem are, so that one compiled form serves all callers.
    """
    labels = np.zeros(num_variables, dtype=np.int64)
    count = connected_components(num_variables, handed_over(scopes), handed_over(offsets), labels)
    return handed_over(labels), int(count)


def factor_components(problem: Problem, labels: Indices) -> Indices:
    """The component that each factor belongs to, −1 for a factor without variables, [F]."""
    result = np.full(problem.num_factors, -1, dtype=np.int64)
    some = problem.arities > 0
    result[some] = labels[problem.scope_variables[problem.scope_offsets[:-1][some]]]
    return result


def component(problem: Problem, labels: Indices, which: Indices) -> tuple[Problem, Indices]:
    """The components in `which` as one problem without the constant, and its variables in the whole problem."""
    variables = np.flatnonzero(np.isin(labels, which))
    factors = np.flatnonzero(np.isin(factor_components(problem, labels), which))
    number = np.zeros(problem.num_variables, dtype=np.int64)
    number[variables] = np.arange(len(variables))
    used, tables = np.unique(problem.factor_table[factors], return_inverse=True)
    part = Problem(
        handed_over(problem.domain_sizes[variables]),
        handed_over(number[problem.scope_variables[ragged_positions(problem.scope_offsets, factors)]]),
        handed_over(offsets_of(problem.arities[factors])),
        cells_of_tables(problem, used),
        handed_over(offsets_of(np.diff(problem.pool_offsets)[used])),
        handed_over(tables.astype(np.int64)),
        name=problem.name,
    )
    return part, variables
