"""Rules: minimise variables with few neighbours, and small components, out of the problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.graph.components import component_labels
from dabp.kernels.elimination import living_factors
from dabp.kernels.elimination.living_factors import Given, Index, link
from dabp.kernels.elimination.small_degree import Cheap, eliminate, read_back
from dabp.presolve import rule
from dabp.presolve.assembly import Factors, rebuilt, unary_factors, with_variables
from dabp.presolve.effort import UNLIMITED, Effort, Efforts
from dabp.presolve.merging import pairs_differ
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, handed_over, nullary_costs, offsets_of, ragged_positions, unary_costs


def small_degree(problem: Problem, efforts: Efforts) -> Eliminated | None:
    """The problem without variables that have few neighbours."""
    least = int(rule.NEGLIGIBLE * problem.num_variables) if rule.has_many_values(problem) else 0
    return _checked(Eliminated(problem, effort=efforts.elimination, least=least), problem)


def small_components(problem: Problem, efforts: Efforts) -> Eliminated | None:
    """The problem without components that have few assignments."""
    least = rule.NEGLIGIBLE * problem.num_variables if rule.has_many_values(problem) else 0
    if np.count_nonzero(_allowance(problem)) <= least:
        return None
    return _checked(Eliminated(problem, components=True, effort=efforts.elimination), problem)


def _checked(eliminated: Eliminated, problem: Problem) -> Eliminated | None:
    if eliminated.infeasible:
        raise rule.InfeasibleError
    return None if eliminated.problem is problem else eliminated


class Eliminated:
    """A problem without its variables of small degree.

    Variable x with factors f over neighbours s becomes the factor g(s) = min_x Σ_f f(x, s). With no neighbour g is a
    constant, with one a unary cost, with two a binary factor; so a forest vanishes, and so does every graph of
    treewidth 2.

    Parameters
    ----------
    problem
        Unary factors may repeat; parallel factors make it slower, not wrong.
    components
        Whether components with few assignments are eliminated entirely.
    effort
        Variables whose elimination takes more than what is left of it stay.
    least
        If no more than `least` variables could be eliminated, `problem` is the given one.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        components: bool = False,
        effort: Effort | None = None,
        least: int = 0,
    ):
        effort = effort or Effort()
        unary, starts = unary_costs(problem)
        higher = np.flatnonzero(problem.arities >= 2)
        scopes, offsets = _scopes(problem, higher)
        tables = handed_over(problem.pool_offsets[problem.factor_table[higher]])
        given = Given(problem.domain_sizes, unary, starts, scopes, offsets, tables, problem.pool)
        index = Index.of(problem.num_variables, len(higher), int(given.scope_offsets[-1] - given.scope_offsets[0]))
        allowance = _allowance(problem) if components else np.zeros(problem.num_variables)
        cheap = Cheap(256, 4.0, allowance, UNLIMITED if components else _dear(problem, given))
        link(given, index)
        constant, self._log, factors, effort.left = eliminate(given, index, cheap, effort.left)
        constant += nullary_costs(problem)
        self.removed = self._log.num_steps
        self._sizes = problem.domain_sizes
        gone = np.zeros(problem.num_variables, dtype=bool)
        gone[self._log.variable[: self.removed]] = True
        self.variables: Indices = np.flatnonzero(~gone)
        self.infeasible = not np.isfinite(constant)
        """Whether all values of an eliminated part, or a factor without variables, are forbidden."""
        self.problem = problem
        if self.removed <= least or self.infeasible:
            return
        unary[np.repeat(gone, problem.domain_sizes)] = 0.0
        old = higher[np.flatnonzero(index.alive[: len(higher)])]
        new = np.flatnonzero(index.alive[len(higher) : factors.num_factors])
        added = unary_factors(unary, starts), _new_factors(factors, new)
        self.problem = with_variables(rebuilt(problem, old, added, problem.constant + constant), self.variables)

    def lift(self, assignment: Assignment) -> Assignment:
        """Read the best values of the eliminated variables from the policies, last eliminated first."""
        values = np.zeros(len(self._sizes), dtype=np.int64)
        values[self.variables] = assignment
        read_back(self._log, self._sizes, values)
        return values

    def project(self, assignment: Assignment) -> Assignment:
        """Drop the eliminated variables."""
        return np.asarray(assignment, dtype=np.int64)[self.variables]


def _dear(problem: Problem, given: Given) -> int:
    """The number of given factors from which on a variable has too many neighbours to be eliminated.

    If all factors are binary and no two have one scope, a variable has as many neighbours as factors.
    """
    sizes = problem.domain_sizes if problem.num_variables else np.full(1, 2)
    least, most = int(sizes.min()), int(sizes.max())
    entries = int(given.scope_offsets[-1] - given.scope_offsets[0])
    if least < 2 or entries != 2 * len(given.table_start) or not pairs_differ(problem):
        return UNLIMITED
    neighbours = 3
    while least**neighbours <= most * most:
        neighbours += 1
    return neighbours


def _allowance(problem: Problem) -> NDArray[np.float64]:
    """The cells a table may have when each variable is eliminated: all assignments of its component, if they are few.

    Components with 50 million assignments in all, the smallest first, take about a second.
    """
    labels, count = component_labels(problem)
    digits = np.bincount(labels, np.log2(problem.domain_sizes), minlength=count)
    order = np.argsort(digits, kind="stable")
    affordable = np.zeros(count, dtype=bool)
    affordable[order] = np.cumsum(np.exp2(np.minimum(digits[order], 60))) <= 50_000_000
    return np.where(affordable[labels], np.exp2(np.minimum(digits[labels], 60)), 0.0)


def _scopes(problem: Problem, factors: Indices) -> tuple[Indices, Indices]:
    """The scopes of some factors and where each begins; parts of the problem's own columns if they lie side by side."""
    if len(factors) and factors[-1] - factors[0] == len(factors) - 1:
        return problem.scope_variables, problem.scope_offsets[factors[0] : factors[-1] + 2]
    scopes = problem.scope_variables[ragged_positions(problem.scope_offsets, factors)]
    return handed_over(scopes), handed_over(offsets_of(problem.arities[factors]))


def _new_factors(factors: living_factors.Factors, new: Indices) -> Factors:
    """The factors made by elimination that were not eliminated again."""
    count = factors.num_factors - factors.num_given + 1
    scope_start, table_start = factors.scope_start[:count], factors.table_start[:count]
    return Factors(
        factors.scopes[ragged_positions(scope_start, new)],
        offsets_of(np.diff(scope_start)[new]),
        factors.pool[ragged_positions(table_start, new)],
        offsets_of(np.diff(table_start)[new]),
    )
