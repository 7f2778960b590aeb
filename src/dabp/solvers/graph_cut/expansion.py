"""Large neighbourhoods by minimum cuts: every variable may move to one value, or to its value in another assignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.graph.places import Places
from dabp.kernels.graph_cut.fusion import Factors, set_up, take
from dabp.kernels.graph_cut.max_flow import Network, advance, begin, network
from dabp.problem import Assignment, Problem
from dabp.problem.columns import (
    Indices,
    cell_strides,
    first_least,
    offsets_of,
    ragged_positions,
    table_ranges,
    unary_costs,
)
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.status import Status


@dataclass(frozen=True, kw_only=True)
class Expansion(Solver):
    """α-expansion and fusion moves, for problems whose factors have one or two variables, most of them at least.

    An expansion lets every variable keep its value or take α, all at once, by a minimum cut: exact where the tables
    allow it (Potts, truncated linear, metrics), and never worse where they do not. Factors of more variables enter the
    cut only by what moving one variable changes; moves that turn out worse are not made. The values take turns until
    none improves anything. Assignments that others find are fused with its own: each variable keeps its value or takes
    the other's, once for every quarter of the values. An iteration is a move.

    References: Y. Boykov, O. Veksler, R. Zabih, *Fast approximate energy minimization via graph cuts*, PAMI 2001;
    V. Lempitsky, C. Rother, S. Roth, A. Blake, *Fusion moves for Markov random field optimization*, PAMI 2010.

    Parameters
    ----------
    cycles
        The most expansions of each value.
    """

    checkpoints: ClassVar[bool] = True

    cycles: int = 1_000_000

    def __post_init__(self) -> None:
        if self.cycles < 1:
            raise ParameterError(f"expansion's cycles must be at least 1, got {self.cycles}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin at `initial`, or with each variable's cheapest value; `seed` changes nothing."""
        return ExpansionSearch(self, problem, initial, budget)


class ExpansionSearch(Search):
    """The incumbent and the current move."""

    def __init__(self, solver: Expansion, problem: Problem, initial: Assignment | None, budget: Budget):
        self._problem, self._guard = problem, budget.guard
        self._moves, self._most_moves = 0, budget.max_iterations
        self._factors, self._net = columns(problem)
        unary, starts = unary_costs(problem)
        self._values = first_least(unary, starts) if initial is None else np.array(initial, dtype=np.int64)
        self._cost = float(problem.cost(self._values))
        self._labels = int(problem.domain_sizes.max(initial=1))
        self._turns_left = solver.cycles * self._labels
        self._turn, self._idle = 0, 0
        self._order = self._frequent_first()
        self._offered: Assignment | None = None
        self._offered_cost, self._since_fusion = np.inf, self._labels
        self._proposal: Assignment | None = None
        self._reported = False

    @property
    def at_boundary(self) -> bool:
        """True between two moves, where a checkpoint is complete."""
        return self._proposal is None

    def step(self) -> Step:
        """Go on with moves for about a block."""
        started = working_seconds()
        costs: list[float] = []
        finished = None
        while finished is None:
            if self._proposal is None:
                self._propose()
            if not self._move(started + BLOCK_SECONDS):
                break
            costs.append(self._cost)
            self._moves += 1
            if self._offered is None and (self._idle >= self._labels or self._turns_left <= 0):
                finished = Status.CONVERGED
            if working_seconds() - started > BLOCK_SECONDS or self._moves == self._most_moves:
                break
        best = None if self._reported and not costs else self._values.copy()
        self._reported = True
        return Step(np.array(costs), best, self._cost if best is not None else np.inf, finished=finished)

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Fuse it with the incumbent soon, or adopt it if its cost is lower by 1 % or more."""
        if cost != self._cost or (assignment != self._values).any():
            self._offered, self._offered_cost = np.array(assignment, dtype=np.int64), cost

    def state_dict(self) -> State:
        """The incumbent and the next value."""
        turns = {
            "order": self._order,
            "turn": self._turn,
            "idle": self._idle,
            "turns_left": self._turns_left,
            "moves": self._moves,
        }
        return {"values": self._values, **turns}

    def load_state_dict(self, state: State) -> None:
        """Go on with the next move."""
        self._values = np.array(state["values"], dtype=np.int64)
        self._cost = float(self._problem.cost(self._values))
        self._turn, self._idle, self._turns_left = int(state["turn"]), int(state["idle"]), int(state["turns_left"])
        self._moves, self._order = int(state["moves"]), np.array(state["order"], dtype=np.int64)
        if not np.array_equal(np.sort(self._order), np.arange(self._labels)) or not 0 <= self._turn < self._labels:
            raise ValueError(f"values have no turns in the order {self._order}")

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The residual capacities of the network."""
        return {"capacities": self._net.capacity, "excess": self._net.excess}

    def _propose(self) -> None:
        """Choose the next move: an offered assignment first, else the next value where a variable has it."""
        if self._offered is not None and self._cost - self._offered_cost > 0.01 * abs(self._offered_cost):
            self._values, self._cost, self._offered = self._offered, self._offered_cost, None
            self._idle = 0
        fusing = 4 * self._since_fusion >= self._labels or self._idle >= self._labels
        self._since_fusion += 1
        if self._offered is not None and fusing:
            self._proposal, self._offered, self._since_fusion = self._offered, None, 0
            self._idle = 0 if (self._proposal != self._values).any() else self._idle
        else:
            if self._turn == 0 and self._idle == 0:  # else the turns since the last improvement would not be of all
                self._order = self._frequent_first()
            label = self._order[self._turn]
            self._proposal = np.where(label < self._problem.domain_sizes, label, self._values)
            self._turn = (self._turn + 1) % self._labels
            self._turns_left -= 1
        self._choices = set_up(self._factors, self._net, self._values, self._proposal)
        begin(self._net)

    def _frequent_first(self) -> Indices:
        """All values, those that most variables have first."""
        return np.argsort(-np.bincount(self._values, minlength=self._labels), kind="stable")

    def _move(self, until: float) -> bool:
        """Continue the flow until it is maximal (True) or the time is over; adopt the cut if it is better."""
        while self._choices and not advance(self._net, 20_000):
            if working_seconds() > until or self._guard.over:
                return False
        assert self._proposal is not None
        moved = self._values.copy()
        self._idle += 1
        if self._choices and take(self._net, moved, self._proposal):
            cost = float(self._problem.cost(moved))
            if cost < self._cost:
                self._values, self._cost, self._idle = moved, cost, 0
        self._proposal = None
        return True


def columns(problem: Problem) -> tuple[Factors, Network]:
    """A problem as the kernels take it; forbidden combinations cost more than any allowed total."""
    places = Places.of(problem)
    unary, starts = unary_costs(problem)
    lowest, ranges = table_ranges(problem)
    forbidden = 2.0 * float(ranges[problem.factor_table].sum()) + 1.0
    many = np.flatnonzero(problem.arities > 2)
    entries = ragged_positions(problem.scope_offsets, many)
    stand_ins = np.repeat(lowest + forbidden, np.diff(problem.pool_offsets))
    factors = Factors(
        unary=np.where(np.isinf(unary), forbidden, unary),
        unary_start=starts,
        first=places.scopes[:, 0].copy(),
        second=places.scopes[:, 1].copy(),
        table=problem.pool_offsets[problem.factor_table[places.factors]],
        pool=np.where(np.isinf(problem.pool), stand_ins, problem.pool)
        if np.isinf(problem.pool).any()
        else problem.pool,
        arc=places.place[:, 0].copy(),
        many_start=offsets_of(problem.arities[many]),
        many_variable=problem.scope_variables[entries],
        many_stride=cell_strides(problem)[entries],
        many_table=problem.pool_offsets[problem.factor_table[many]],
    )
    return factors, network(places.start, places.other, places.partner)
