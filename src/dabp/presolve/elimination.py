"""Variables with few neighbours minimised out of the problem, and read back from the answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.graph.components import component_labels
from dabp.kernels.elimination import living_factors
from dabp.kernels.elimination.living_factors import Given, Room, link
from dabp.kernels.elimination.small_degree import Cheap, eliminate, read_back
from dabp.presolve.assembly import Factors, rebuilt, unary_factors
from dabp.presolve.effort import UNLIMITED, Effort
from dabp.presolve.merging import pairs_differ
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, handed_over, nullary_costs, offsets_of, ragged_positions, unary_costs

COMPONENT_CELLS = 50_000_000
"""Assignments that components which are eliminated entirely may have together: a second of work."""


class Eliminated:
    """A problem without its variables of small degree.

    Variable x with factors f over neighbours s becomes the factor g(s) = min_x Σ_f f(x, s). With no neighbour g is a
    constant, with one a unary cost, with two a binary factor; so a forest vanishes, and so does every graph of
    treewidth 2.

    Parameters
    ----------
    problem
        Unary factors may repeat; parallel factors make it slower, not wrong.
    small, growth
        A new binary table may have this many cells, or this many times the cells of the tables it replaces.
    components
        Whether components with few assignments are eliminated entirely, as many as `COMPONENT_CELLS` allows.
    effort
        What it may do; variables that cost more than is left stay.
    least
        If no more than so many variables could go, nothing is done: `problem` is the one given.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        small: int = 256,
        growth: float = 4.0,
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
        room = Room.of(problem.num_variables, len(higher), int(given.scope_offsets[-1] - given.scope_offsets[0]))
        allowance = _allowance(problem) if components else np.zeros(problem.num_variables)
        cheap = Cheap(small, growth, allowance, UNLIMITED if components else _dear(problem, given))
        link(given, room)
        constant, self._log, factors, effort.left = eliminate(given, room, cheap, effort.left)
        constant += nullary_costs(problem)
        self.count = self._log.num_steps
        self._sizes = problem.domain_sizes
        gone = np.zeros(problem.num_variables, dtype=bool)
        gone[self._log.variable[: self.count]] = True
        self.variables: Indices = np.flatnonzero(~gone)
        """The variables that are left, in their original numbers."""
        self.infeasible = not np.isfinite(constant)
        """Whether a part that is gone, or a factor without variables, is forbidden; `problem` is then as it was."""
        if self.count <= least or self.infeasible:
            self.problem = problem
            return
        unary[np.repeat(gone, problem.domain_sizes)] = 0.0
        old = higher[np.flatnonzero(room.alive[: len(higher)])]
        new = np.flatnonzero(room.alive[len(higher) : factors.num_factors])
        added = unary_factors(unary, starts), _new_factors(problem, factors, new)
        self.problem = _without_isolated(rebuilt(problem, old, added, problem.constant + constant), self.variables)

    def lift(self, assignment: Assignment) -> Assignment:
        """Read the best values of the eliminated variables from the policies, last eliminated first."""
        values = np.zeros(len(self._sizes), dtype=np.int64)
        values[self.variables] = assignment
        read_back(self._log, self._sizes, values)
        return values

    def project(self, assignment: Assignment) -> Assignment:
        """Drop the eliminated variables."""
        return np.asarray(assignment, dtype=np.int64)[self.variables]


def in_small_components(problem: Problem) -> int:
    """How many variables are in components with so few assignments that they may be eliminated entirely."""
    return int(np.count_nonzero(_allowance(problem)))


def _dear(problem: Problem, given: Given) -> int:
    """From how many factors on the table of a variable's neighbours is larger than any, so that it surely stays.

    Where all factors are on two variables, and each on others: as many neighbours as factors, at least.
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
    """The cells a table may have when each variable is eliminated: all of its component's, if these are few."""
    labels, count = component_labels(problem)
    digits = np.bincount(labels, np.log2(problem.domain_sizes), minlength=count)
    order = np.argsort(digits, kind="stable")
    affordable = np.zeros(count, dtype=bool)
    affordable[order] = np.cumsum(np.exp2(np.minimum(digits[order], 60))) <= COMPONENT_CELLS
    return np.where(affordable[labels], np.exp2(np.minimum(digits[labels], 60)), 0.0)


def _scopes(problem: Problem, factors: Indices) -> tuple[Indices, Indices]:
    """The scopes of some factors and where each begins; parts of the problem's own columns if they lie side by side."""
    if len(factors) and factors[-1] - factors[0] == len(factors) - 1:
        return problem.scope_variables, problem.scope_offsets[factors[0] : factors[-1] + 2]
    scopes = problem.scope_variables[ragged_positions(problem.scope_offsets, factors)]
    return handed_over(scopes), handed_over(offsets_of(problem.arities[factors]))


def _new_factors(problem: Problem, factors: living_factors.Factors, new: Indices) -> Factors:
    """Of those that elimination made, the ones that were not eliminated again."""
    arities = factors.arity[new]
    cells = _cells(problem.domain_sizes, factors.scopes, factors.scope[new], arities)
    return Factors(
        factors.scopes[_pieces(factors.scope[new], arities)],
        offsets_of(arities),
        factors.pool[_pieces(factors.table[new], cells)],
        offsets_of(cells),
    )


def _pieces(starts: Indices, lengths: Indices) -> Indices:
    """Positions starts[i], …, starts[i] + lengths[i] − 1, one piece after the other."""
    offsets = offsets_of(lengths)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def _cells(sizes: Indices, scopes: Indices, starts: Indices, arities: Indices) -> Indices:
    cells = np.ones(len(starts), dtype=np.int64)
    np.multiply.at(cells, np.repeat(np.arange(len(starts)), arities), sizes[scopes[_pieces(starts, arities)]])
    return cells


def _without_isolated(problem: Problem, kept: Indices) -> Problem:
    """Only the `kept` variables, which are all that the factors look at."""
    number = np.zeros(problem.num_variables, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    return problem.replace(
        domain_sizes=handed_over(problem.domain_sizes[kept]),
        scope_variables=handed_over(number[problem.scope_variables]),
        variable_names=None,
        labels=None,
    )
