"""A problem of binary variables and pairwise factors compiled for local search by flips, and the states of searches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.flips import THRESHOLDS, Couplings, Flips, restart_flips
from dabp.kernels.local_search.tabu_moves import BLOCK
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, offsets_of
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.colouring import Classes, in_classes
from dabp.solvers.local_costs.cost_units import Units
from dabp.solvers.local_costs.search_table import Table
from dabp.solvers.local_costs.temperatures import Differences
from dabp.solvers.stopped import ask


class BinaryCosts(Table[Flips]):
    """One field per variable instead of a padded row of local costs.

    Parameters
    ----------
    guard
        Asked while the problem is compiled, which it may end with `Stopped`.
    classes
        The order to have the variables in, None for the problem's own.
    """

    couplings: Couplings
    hot_share = 0.1
    cooling_power = 0.0

    def __init__(self, problem: Problem, guard: Guard | None = None, *, classes: Classes | None = None):
        super().__init__(problem, Units(in_classes(problem, classes), small_tables=False), classes)
        ask(Guard() if guard is None else guard)
        self.couplings, self._fixed = _couplings(self.units)
        constants = problem.pool[problem.pool_offsets[problem.factor_table[problem.arities == 0]]]
        self.infeasible = bool(np.isinf(constants).any() or (self._fixed == _NOWHERE).any())

    @staticmethod
    def fits(problem: Problem) -> bool:
        """Whether all variables have at most two values, and factors of two variables forbid nothing."""
        if problem.domain_sizes.max(initial=0) > 2 or problem.arities.max(initial=0) > 2:
            return False
        return not (problem.facts.forbidding[problem.factor_table] & (problem.arities == 2)).any()

    def state(self, seed: int) -> Flips:
        """A state to be given an assignment (`put`) before use."""
        n, dtype = self.problem.num_variables, self.units.dtype
        padded = -(-max(n, 1) // BLOCK) * BLOCK
        return Flips(
            x=np.ones(padded, dtype=dtype),
            field=np.full(padded, self.units.pad, dtype=dtype),
            best=np.ones(n, dtype=dtype),
            **self.blank(seed),
        )

    def put(self, state: Flips, assignment: Assignment) -> None:
        """Continue from an assignment; values that are forbidden by themselves are replaced by the other."""
        values = np.where(self._fixed >= 0, self._fixed, self.inside(assignment))
        state.x[: len(values)] = 1 - 2 * values
        restart_flips(self.couplings, state)
        state.tally["soft"] = self.units.of(values)

    def coded(self, assignment: Assignment) -> NDArray[np.signedinteger]:
        """1 for value 0, −1 for value 1."""
        return 1 - 2 * self.inside(assignment)

    def decoded(self, values: NDArray[np.signedinteger]) -> Assignment:
        """The assignment of such numbers, which may be padded."""
        return self.outside(np.asarray((1 - values[: self.problem.num_variables]) // 2, dtype=np.int64))

    def noise(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Exponentially distributed numbers for `sweep`, the largest first."""
        noise = rng.exponential(size=THRESHOLDS).astype(np.float32)
        noise[0] = noise.max()
        return noise

    def differences(self, state: Flips, rng: np.random.Generator, most: int) -> Differences:
        """What flipping costs, for a sample of at most `most` variables whose flips go uphill."""
        count = self.problem.num_variables
        change = state.x[:count].astype(np.float64) * state.field[:count]
        uphill = np.flatnonzero((change > 0) & (self._fixed == _FREE))
        rise = change[rng.choice(uphill, min(len(uphill), most), replace=False)]
        return Differences(np.repeat(np.arange(len(rise)), 2), np.ravel(np.column_stack([np.zeros(len(rise)), rise])))


_FREE = -2
"""The mark of a variable that may flip, in place of the one value that another may take."""

_NOWHERE = -1
"""The mark of a variable without an allowed value."""


def _couplings(units: Units) -> tuple[Couplings, Indices]:
    """The Ising form, and for each variable the one value it may take, or `_FREE` or `_NOWHERE`."""
    problem = units.problem
    sizes, count = problem.domain_sizes, problem.num_variables
    field = np.zeros(count, dtype=np.int64)
    allowed = np.column_stack([np.ones(count, dtype=bool), sizes > 1])
    source = target = weight = np.zeros(0, dtype=np.int64)
    for group in problem.facts.arity_groups:
        if group.variables.shape[1] == 1:
            variable = group.variables[:, 0]
            second = group.bases + (sizes[variable] - 1)
            np.add.at(field, variable, units.cells[second].astype(np.int64) - units.cells[group.bases])
            for value, places in enumerate((group.bases, second)):
                bad = units.forbids[places] & (sizes[variable] > value)
                allowed[variable[bad], value] = False
        elif group.variables.shape[1] == 2:
            one, two = ((sizes[group.variables] - 1) * group.strides).T
            zero_zero, one_zero, zero_one, one_one = (
                units.cells[group.bases + shift].astype(np.int64) for shift in (0 * one, one, two, one + two)
            )
            first, other = group.variables.T
            np.add.at(field, first, one_zero - zero_zero)
            np.add.at(field, other, zero_one - zero_zero)
            source, target = np.concatenate([first, other]), np.concatenate([other, first])
            weight = np.tile(one_one + zero_zero - zero_one - one_zero, 2)
    fixed = np.where(allowed.all(axis=1), _FREE, np.where(allowed.any(axis=1), allowed.argmax(axis=1), _NOWHERE))
    field = np.where(fixed == _FREE, field, np.where(fixed == 1, -units.pad, units.pad))
    source, target, weight = _summed(source, target, weight, count)
    offsets = offsets_of(np.bincount(source, minlength=count))
    return (
        Couplings(offsets, target.astype(np.int32), weight.astype(units.dtype), field.astype(units.dtype), units.pad),
        fixed,
    )


def _summed(source: Indices, target: Indices, weight: Indices, count: int) -> tuple[Indices, Indices, Indices]:
    """Couplings sorted by source and target, several of one pair added up, those of 0 left out."""
    keys = source * count + target
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    total = np.add.reduceat(weight[order], starts) if len(starts) else weight
    keys = keys[starts]
    keys, total = keys[total != 0], total[total != 0]
    first = keys // max(count, 1)
    return first, keys - first * count, total
