"""A problem compiled for local search, and the states of searches on it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.exchange import Sets, exchange_changes
from dabp.kernels.local_search.heat_bath import NOISE
from dabp.kernels.local_search.moves import restart
from dabp.kernels.local_search.search_arrays import NOTHING, Costs, State
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, first_least, ragged_positions
from dabp.problem.guard import Guard
from dabp.solvers.base import State as Saved
from dabp.solvers.local_costs.colouring import Classes, in_classes
from dabp.solvers.local_costs.compiled_costs import compiled_costs
from dabp.solvers.local_costs.cost_units import Units
from dabp.solvers.local_costs.exchanges import all_different, exchange_sets
from dabp.solvers.local_costs.search_table import Table
from dabp.solvers.local_costs.temperatures import Differences, joined


class LocalCosts(Table[State]):
    """Any problem: a row of local costs for each variable.

    Parameters
    ----------
    guard
        Asked while the problem is compiled, which it may end with `Stopped`.
    lexicographic
        Whether violating a factor weighs more than all finite costs at a variable from the start.
    movers
        At how many variables, if it does.
    classes
        The order to have the variables in, None for the problem's own.

    Attributes
    ----------
    allowed
        Which places of the rows hold a value that may be taken, [R].
    """

    costs: Costs

    def __init__(
        self,
        problem: Problem,
        guard: Guard | None = None,
        *,
        lexicographic: bool = False,
        movers: int = 1,
        classes: Classes | None = None,
    ):
        # For the literature's baselines one form is enough.
        super().__init__(problem, Units(in_classes(problem, classes), wide=lexicographic), classes)
        self._weight = self.units.dominant_weight(movers) if lexicographic else self.units.first_weight
        self.costs, self.allowed = compiled_costs(self.units, Guard() if guard is None else guard)
        constants = problem.pool_offsets[problem.factor_table[problem.arities == 0]]
        starts = self.costs.rows.start
        possible = np.logical_or.reduceat(self.allowed, starts) if len(starts) else np.ones(0, dtype=bool)
        self.infeasible = bool(np.isinf(problem.pool[constants]).any() or not possible.all())

    def state(self, seed: int) -> State:
        """A state to be given an assignment (`put`) before use."""
        n, hard, dtype = self.problem.num_variables, len(self.costs.hard.wide), self.units.dtype
        return State(
            x=np.zeros(n, dtype=np.int64),
            local=np.zeros(len(self.costs.rows.unary), dtype=dtype),
            position=np.zeros(len(self.costs.wide.soft_at), dtype=np.int64),
            weights=np.full(hard, self._weight, dtype=dtype),
            violated=np.zeros(hard, dtype=np.int64),
            place=np.full(hard, -1, dtype=np.int64),
            best=np.zeros(n, dtype=np.int64),
            **self.blank(seed),
        )

    def put(self, state: State, assignment: Assignment) -> None:
        """Continue from an assignment; values that are forbidden by themselves are replaced by the cheapest."""
        rows = self.costs.rows
        state.x[:] = self.inside(assignment)
        wrong = ~self.allowed[rows.start + state.x]
        if wrong.any():
            state.x[wrong] = self._cheapest[wrong]
        restart(self.costs, state)

    @cached_property
    def _cheapest(self) -> Indices:
        """Each variable's value of least own cost, the first of several, [N]."""
        return first_least(self.costs.rows.unary, np.append(self.costs.rows.start, len(self.costs.rows.unary)))

    def saved(self, state: State) -> Saved:
        """The state of a search, with the weights of violated factors."""
        return {**super().saved(state), "weights": state.weights.copy()}

    def restore(self, state: State, saved: Saved) -> None:
        """Take up a saved state; raises `ValueError` for weights that no search can have reached."""
        state.weights[:] = saved["weights"]
        if ((state.weights < 0) | (state.weights > 2 * self.units.heaviest + 1)).any():
            raise ValueError("its weights are beyond their range")
        super().restore(state, saved)

    def strengthen(self, state: State) -> None:
        """Make what the assignment violates weigh half as much again; L is out of date until `put`."""
        violated = state.violated[: state.tally["violations"]]
        state.weights[violated] += (state.weights[violated] + 1) // 2
        self.relax(state)

    def relax(self, state: State) -> None:
        """Halve all weights if sums might leave the integers' range; L is then out of date until `put`."""
        if len(state.weights) and state.weights.max() >= self.units.heaviest:
            state.weights[:] = (state.weights + 1) // 2

    def forgive(self, state: State) -> None:
        """Halve all weights, down to the first ones; L is out of date until `put`."""
        state.weights[:] = np.maximum(self._weight, state.weights // 2)

    # ---- annealing -------------------------------------------------------------------------------

    @cached_property
    def sets(self) -> Sets | None:  # type: ignore[override]
        """Variables that must all differ; None if there are none."""
        return exchange_sets(self.units.problem, self.costs.rows.start, self.allowed)

    def arranged(self, assignment: Assignment) -> Assignment:
        """The assignment with different values for variables that must all differ, as far as that is easy."""
        if self.sets is None:
            return assignment
        return self.outside(all_different(self.sets, self.costs.rows.start, self.inside(assignment)))

    def noise(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Gumbel numbers for `sweep`, enough for a row from any place."""
        widest = int(self.costs.rows.width.max(initial=0))
        return rng.gumbel(size=NOISE + widest).astype(np.float32)

    def differences(self, state: State, rng: np.random.Generator, most: int) -> Differences:
        """What other values cost, for a sample of at most `most` variables with values uphill; of exchanges, too."""
        rows, sets = self.costs.rows, self.sets
        now = state.local[rows.start + state.x]
        if rows.uniform:
            uphill = self.allowed.reshape(-1, rows.uniform) & (state.local.reshape(-1, rows.uniform) > now[:, None])
            able = uphill.any(axis=1)
        else:
            uphill = self.allowed & (state.local > np.repeat(now, rows.width))
            able = np.logical_or.reduceat(uphill, rows.start) if len(rows.start) else np.zeros(0, dtype=bool)
        open_to = np.flatnonzero(able if sets is None else able & ~sets.only)
        chosen = np.sort(rng.choice(open_to, min(len(open_to), most), replace=False))
        places = ragged_positions(np.append(rows.start, len(rows.unary)), chosen)
        owner = np.repeat(np.arange(len(chosen)), rows.width[chosen])
        rise = (state.local[places] - np.repeat(now[chosen], rows.width[chosen])).astype(np.float64)
        keep = self.allowed[places]
        single = Differences(owner[keep], rise[keep])
        return single if sets is None else joined(single, self._exchanges(state, sets, rng, most))

    def _exchanges(self, state: State, sets: Sets, rng: np.random.Generator, most: int) -> Differences:
        """What exchanges cost, for a sample of the variables: each with all others of its set, or some of them."""
        chosen = rng.permutation(sets.members)[:most]
        start, end = sets.offsets[sets.of[chosen]], sets.offsets[sets.of[chosen] + 1]
        partners = int(min((end - start).max(), max(2, 16 * most // len(chosen))))
        first = np.repeat(chosen, partners)
        second = sets.members[rng.integers(np.repeat(start, partners), np.repeat(end, partners))]
        changes = np.zeros(len(first), dtype=np.int64)
        exchange_changes(self.costs, state, sets, first, second, changes)
        rise = np.where(changes == NOTHING, 0.0, changes).reshape(len(chosen), partners)
        rise = rise[(rise > 0).any(axis=1)]
        rise[:, 0] = 0.0  # staying
        return Differences(np.repeat(np.arange(len(rise)), partners), rise.ravel())
