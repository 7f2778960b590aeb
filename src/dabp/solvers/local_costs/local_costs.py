"""A problem compiled for local search, and the states of searches on it."""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.chromatic import sweep_together
from dabp.kernels.local_search.exchange_sweep import Sets, exchange_changes, sweep_and_exchange
from dabp.kernels.local_search.heat_bath import NOISE, sweep
from dabp.kernels.local_search.moves import remember_now, restart
from dabp.kernels.local_search.search_arrays import LANES, NOTHING, SOFT, VIOLATIONS, WEIGHTED, Edges, State
from dabp.kernels.local_search.tabu_moves import BLOCK, Moves, Rules, tabu, weigh_all
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, ragged_positions
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.colouring import Classes, in_classes
from dabp.solvers.local_costs.compiled_costs import compiled_costs
from dabp.solvers.local_costs.crew import Sweepers
from dabp.solvers.local_costs.exchanges import all_different, exchange_sets
from dabp.solvers.local_costs.scaled_costs import Units
from dabp.solvers.local_costs.search_table import Table
from dabp.solvers.local_costs.soundness import check_blocks, check_journal, check_ring, check_violated, same, within
from dabp.solvers.local_costs.temperatures import Differences, joined


class LocalCosts(Table[State, Moves]):
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
    costs
        What the kernels read.
    allowed
        Which places of the rows hold a value that may be taken, [R].
    """

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
            journal=np.zeros(max(n, 1), dtype=np.int64),
            tally=np.zeros(8, dtype=np.int64),
            random=np.array([seed], dtype=np.uint64),
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
        """Each variable's value of least own cost, the first of several."""
        rows = self.costs.rows
        lowest = np.minimum.reduceat(rows.unary, rows.start)
        owner = np.repeat(np.arange(len(rows.size)), rows.width)
        places = np.flatnonzero(rows.unary == lowest[owner])
        first = places[np.diff(owner[places], prepend=-1) != 0]
        return np.asarray(first - rows.start, dtype=np.int64)

    def remember(self, state: State) -> None:
        """Keep the assignment if it is feasible and the best so far."""
        remember_now(state)

    def best(self, state: State) -> Assignment:
        """The best feasible assignment, a copy."""
        return self.outside(state.best.copy())

    def strengthen(self, state: State) -> None:
        """Make what the assignment violates weigh half as much again; L is then out of date until `put`."""
        violated = state.violated[: state.tally[VIOLATIONS]]
        state.weights[violated] += (state.weights[violated] + 1) // 2
        self.relax(state)

    def relax(self, state: State) -> None:
        """Halve all weights if one is so large that sums might leave the integers' range; then `put` as well."""
        if len(state.weights) and state.weights.max() >= self.units.heaviest:
            state.weights[:] = (state.weights + 1) // 2

    def forgive(self, state: State) -> None:
        """Halve all weights, down to what they were at first; L is then out of date until `put`."""
        state.weights[:] = np.maximum(self._weight, state.weights // 2)

    def check(self, state: State) -> None:
        """Local costs and violations are those of the assignment and the weights."""
        for values in (state.x, state.best):
            if ((values < 0) | (values >= self.units.problem.domain_sizes)).any():
                raise ValueError("there are no such values")
        within("weights", state.weights, 0, 2 * self.units.heaviest + 2)
        expected = self.state(0)
        expected.weights[:] = state.weights
        self.put(expected, self.outside(state.x))
        for name in ("x", "local", "position"):
            same({"x": "values", "local": "local costs"}.get(name, name), getattr(state, name), getattr(expected, name))
        same("costs", state.tally[[SOFT, WEIGHTED]], expected.tally[[SOFT, WEIGHTED]])
        check_violated(state, expected)
        check_journal(state)

    def check_moves(self, state: State, moves: Moves) -> None:
        """Best moves are those that the local costs and what is closed leave."""
        rows, pad, count = self.costs.rows, self.units.pad, len(state.x)
        check_ring(moves, len(rows.unary), pad)
        same("owners", moves.owner, np.repeat(np.arange(count), rows.width))
        now = state.local[rows.start + state.x]
        best = {"any_best": state.local, "open_best": state.local + moves.closed}
        for name, costs in best.items():
            found = np.full(len(moves.any_best), pad, dtype=self.units.dtype)
            found[:count] = np.minimum.reduceat(costs, rows.start) - now
            same("best moves", getattr(moves, name), found)
        check_blocks(moves, moves.any_best, moves.open_best, pad)

    # ---- annealing -------------------------------------------------------------------------------

    @cached_property
    def sets(self) -> Sets | None:
        """Variables that must all differ, which annealing lets exchange their values; None if there are none."""
        return exchange_sets(self.units.problem, self.costs.rows.start, self.allowed)

    def arranged(self, assignment: Assignment) -> Assignment:
        """With values of variables that must all differ different, as far as that is easy."""
        if self.sets is None:
            return assignment
        return self.outside(all_different(self.sets, self.costs.rows.start, self.inside(assignment)))

    def noise(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Gumbel numbers, enough for a row from any place."""
        widest = int(self.costs.rows.width.max(initial=0))
        return rng.gumbel(size=NOISE + widest).astype(np.float32)

    def sweepers(self, threads: int) -> Sweepers | None:
        """Who does the sweeps of a search in classes, unless variables exchange their values."""
        if self.classes is None or self.sets is not None:
            return None
        edges, violable = self.costs.edges, len(self.costs.hard.wide)

        def arranged(order: Indices) -> Edges:
            soft = edges._replace(target=edges.target[order], soft_at=edges.soft_at[order])
            return soft._replace(hard_at=edges.hard_at[order], weight=edges.weight[order]) if violable else soft

        return Sweepers(self.classes.starts, edges.offsets, edges.target, violable, threads, edges, arranged)

    def sweep(
        self,
        state: State,
        noise: NDArray[np.float32],
        temperatures: NDArray[np.float64],
        lowest: NDArray[np.int64],
        sweepers: Sweepers | None = None,
    ) -> None:
        """Resample every variable once per temperature, and let those that must differ exchange their values."""
        if sweepers is not None:
            sweepers.sweep(partial(sweep_together, self.costs, state, noise, temperatures, lowest), len(temperatures))
        elif self.sets is None:
            sweep(self.costs, state, noise, temperatures, lowest)
        else:
            sweep_and_exchange(self.costs, state, self.sets, noise, temperatures, lowest)

    def differences(self, state: State, rng: np.random.Generator, most: int) -> Differences:
        """What other values cost, for a sample of the variables that have anywhere to go uphill; of exchanges, too."""
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

    # ---- tabu search ------------------------------------------------------------------------------

    def moves(self, longest_tenure: int) -> Moves:
        """Room for tabu search."""
        rows, dtype, pad = self.costs.rows, self.units.dtype, self.units.pad
        places, count = len(rows.unary), len(rows.size)
        blocks = max(1, -(-count // BLOCK))
        padded = -(-blocks // LANES) * LANES
        ring = 2 * longest_tenure + 2
        return Moves(
            closed=np.zeros(places, dtype=dtype),
            until=np.zeros(places, dtype=np.int64),
            owner=np.repeat(np.arange(count), rows.width),
            open_best=np.full(blocks * BLOCK, pad, dtype=dtype),
            any_best=np.full(blocks * BLOCK, pad, dtype=dtype),
            open_block=np.full(padded, pad, dtype=dtype),
            any_block=np.full(padded, pad, dtype=dtype),
            dirty=np.zeros(blocks, dtype=np.int64),
            is_dirty=np.zeros(blocks, dtype=np.bool_),
            made=np.zeros(ring, dtype=np.int64),
            following=np.full(ring, -1, dtype=np.int64),
            ending=np.full(ring, -1, dtype=np.int64),
            clock=np.zeros(3, dtype=np.int64),
        )

    def open_all(self, state: State, moves: Moves) -> None:
        """Begin with nothing tabu."""
        weigh_all(self.costs, state, moves)

    def tabu(self, state: State, moves: Moves, rules: Rules, lowest: NDArray[np.int64]) -> None:
        """Iterations of tabu search."""
        tabu(self.costs, state, moves, rules, lowest)
