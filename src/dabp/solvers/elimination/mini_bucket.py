"""Mini-bucket elimination: exact on narrow problems, a bound and a greedy assignment on others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.graph.elimination_order import EliminationOrder, elimination_order
from dabp.kernels.elimination.mini_bucket import Choices, eliminate, read_back, read_choices
from dabp.kernels.elimination.mini_bucket_plan import Buckets, Functions, make_plan, reuse_memory
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cell_strides, offsets_of
from dabp.problem.exactness import UNIT_ROUNDOFF
from dabp.problem.guard import Guard
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.status import Status

BLOCK_CELLS = 1_000_000
"""Message cells computed between two readings of the clock."""

LARGEST_CHOICE = 256
"""Largest domain whose values fit a byte."""

QUICK_CELLS = 2_000_000
"""A plan with more cells than this is preceded by one of i-bound 2, for an early answer."""


@dataclass(frozen=True, kw_only=True)
class MiniBucketElimination(Solver):
    """Mini-bucket elimination (MBE), the paper's MBE baseline.

    Variables are eliminated one by one in a min-fill order. The functions that look at the eliminated variable x, its
    bucket, are partitioned into mini-buckets Q small enough, and each sends the message

        m_Q(s) = min_x Σ_{f ∈ Q} f(x, s)

    to later buckets. Minimising the mini-buckets separately gives a lower bound on the optimum; an assignment is read
    back greedily, last eliminated variable first. Where no bucket is split, which is when the induced width is at most
    the i-bound, both are exact and the status is OPTIMAL. Use it on trees and narrow problems of any size, and for
    a quick bound elsewhere. Time and memory grow as (domain size)^i-bound.

    Reference: R. Dechter, I. Rish, *Mini-buckets: a general scheme for bounded inference*, Journal of the ACM 50, 2003.

    Parameters
    ----------
    i_bound
        Variables a message may look at, at most.
    max_entries
        Costs that all messages together may hold (8 bytes each); a smaller i-bound is used where they would not fit.
        Where no bucket is split, the best values are kept in place of the costs, a byte each.
    """

    proves: ClassVar[bool] = True

    i_bound: int = 9
    max_entries: int = 100_000_000

    def __post_init__(self) -> None:
        if self.i_bound < 1:
            raise ParameterError(f"mbe's i_bound is at least 1, not {self.i_bound}")
        if self.max_entries < 1:
            raise ParameterError(f"mbe's max_entries is at least 1, not {self.max_entries}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin; nothing is random here, and a warm start is of no use to it."""
        entries = self.max_entries
        if budget.memory_limit is not None:
            entries = max(1, min(entries, budget.memory_limit // 16))
        return MiniBucketSearch(problem, self.i_bound, entries, guard=budget.guard)


class Plan(NamedTuple):
    """What `kernels.elimination.mini_bucket_plan.make_plan` returns, described there, and what is kept of messages."""

    functions: Functions
    buckets: Buckets
    pool_size: int
    exact: bool
    choices: Choices

    @property
    def num_buckets(self) -> int:
        """How many mini-buckets the elimination has."""
        return int(self.buckets.first[-1])


class MiniBucketSearch(Search):
    """A run of mini-bucket elimination: first a small i-bound if the wanted one takes long, then that."""

    def __init__(
        self,
        problem: Problem,
        i_bound: int,
        max_entries: int,
        elimination: EliminationOrder | None = None,
        guard: Guard | None = None,
        keep_messages: bool = False,
    ):
        self._problem, self._max_entries, self._keep_messages = problem, max_entries, keep_messages
        self._i_bound = min(i_bound, max(problem.num_variables, 1))  # no bucket has more
        self._elimination, self._guard = elimination, guard
        self._steps = self._run()
        self._answered = False
        self._complete = False  # whether all messages are in the pool

    def step(self) -> Step:
        """Go on for a block."""
        step = next(self._steps)
        self._answered = self._answered or len(step.costs) > 0
        return step

    @property
    def at_boundary(self) -> bool:
        """Only before the first answer."""
        return not self._answered

    def state_dict(self) -> State:
        """Nothing: what an elimination holds is larger than the problem, so a resumed one begins anew."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Start from the beginning: an elimination keeps no state."""

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Messages, once all are made; an infinite one is that of values that cannot be."""
        return {"messages": np.where(self._pool == np.inf, 0.0, self._pool)} if self._complete else {}

    @property
    def exact(self) -> bool:
        """Whether the i-bound that was asked for fits the memory and splits no bucket; plans, but computes nothing."""
        self._elimination = self._elimination or elimination_order(self._problem, guard=self._guard)
        self.order = self._elimination.order
        self._functions = _ranked_functions(self._problem, self.order)
        plan = self._planned(self._i_bound)
        return plan.pool_size >= 0 and bool(plan.exact)

    @property
    def work(self) -> float:
        """How many costs the elimination with the i-bound that was asked for adds up."""
        plan, sizes = self._planned(self._i_bound), self._problem.domain_sizes
        functions, buckets, count = plan.functions, plan.buckets, plan.num_buckets
        first, last = functions.starts[buckets.outputs[:count]], functions.starts[buckets.outputs[:count] + 1]
        bits = np.concatenate([[0.0], np.cumsum(np.log2(sizes[functions.variables[: last.max(initial=0)]]))])
        cells = np.exp2(bits[last] - bits[first]) * sizes[buckets.eliminated[:count]]
        return float((cells * np.diff(buckets.input_starts[: count + 1])).sum())

    def solved(self) -> tuple[Plan, NDArray[np.float64]] | None:
        """The plan whose messages fit the memory, and the pool with all messages; None if the guard ended it."""
        plan = self._fitting()[1]
        for _ in self._eliminated(plan):
            if self._guard is not None and self._guard.over:
                return None
        return plan, self._pool

    @property
    def plan(self) -> Plan:
        """The plan with the i-bound that was asked for, once `exact` was asked."""
        return self._planned(self._i_bound)

    def minimum(self, plan: Plan, costs: NDArray[np.float64]) -> Assignment:
        """The assignment of least cost for other costs of the same factors, by an exact plan; forbidden if all are."""
        for _ in self._eliminated(plan, costs):
            pass
        return self._read(plan)

    def bound(self, plan: Plan) -> float:
        """The sum of the messages that look at nothing any more: no assignment costs less, up to rounding."""
        problem, functions, outputs = self._problem, plan.functions, plan.buckets.outputs[: plan.num_buckets]
        complete = outputs[functions.starts[outputs + 1] == functions.starts[outputs]]
        constants = problem.pool[problem.pool_offsets[problem.factor_table[self._constants]]]
        return problem.constant + math.fsum(self._pool[functions.bases[complete]]) + math.fsum(constants)

    def _run(self) -> Iterator[Step]:
        elimination = self._elimination or elimination_order(self._problem, guard=self._guard)
        self.order = elimination.order
        yield Step()
        i_bound, plan = self._fitting()
        yield Step()
        entries = int(plan.choices.starts[-1]) if plan.choices.kept else plan.pool_size - len(self._problem.pool)
        if entries > QUICK_CELLS and i_bound > 2:
            small = self._planned(2)
            if not small.exact:
                yield from self._eliminated(small)
                yield self._answer(small)
        yield from self._eliminated(plan)
        step = self._answer(plan)
        if step.finished is None:
            step.finished = Status.CONVERGED
        width = "beyond count" if elimination.width is None else str(elimination.width)
        step.notes = (f"mini-bucket elimination: induced width {width}, i-bound used {i_bound}, {entries} entries",)
        yield step

    # ---- planning ----------------------------------------------------------------------------

    def _fitting(self) -> tuple[int, Plan]:
        """The plan with the largest i-bound whose messages fit the memory."""
        self._functions = _ranked_functions(self._problem, self.order)
        for i_bound in range(self._i_bound, 1, -1):
            plan = self._planned(i_bound)
            if plan.pool_size >= 0:
                return i_bound, plan
        return 1, self._planned(1, cap=False)

    def _planned(self, i_bound: int, cap: bool = True) -> Plan:
        """The plan at an i-bound; its pool_size is −1 if what is kept does not fit the memory."""
        sizes, costs = self._problem.domain_sizes, len(self._problem.pool)
        entries = self._max_entries if cap else np.iinfo(np.int64).max // 4
        by_choice = cap and not self._keep_messages and sizes.max(initial=1) <= LARGEST_CHOICE
        most = 8 * entries if by_choice else entries
        functions, buckets, pool_size, exact = make_plan(self.order, sizes, self._functions, costs, i_bound, most)
        if pool_size >= 0 and exact and by_choice:
            functions, pool_size, starts = reuse_memory(functions, buckets, sizes, costs)
            fits = 8 * (pool_size - costs) + starts[-1] <= 8 * entries
            choices = Choices(True, np.empty(0, dtype=np.uint8), starts)
            return Plan(functions, buckets, pool_size if fits else -1, exact, choices)
        choices = Choices(False, np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
        return Plan(functions, buckets, pool_size if pool_size - costs <= entries else -1, exact, choices)

    # ---- running -----------------------------------------------------------------------------

    def _eliminated(self, plan: Plan, costs: NDArray[np.float64] | None = None) -> Iterator[Step]:
        """Compute all messages into `_pool`, or the choices, yielding now and then; `costs` are by default the pool."""
        self._complete = False
        self._pool = np.empty(plan.pool_size)
        self._pool[: len(self._problem.pool)] = self._problem.pool if costs is None else costs
        sizes = self._problem.domain_sizes
        choices = self._choices = plan.choices._replace(values=np.empty(plan.choices.starts[-1], dtype=np.uint8))
        bucket, cell, since = 0, 0, working_seconds()
        while bucket < plan.num_buckets:
            bucket, cell = eliminate(
                sizes, plan.functions, plan.buckets, self._pool, choices, bucket, cell, BLOCK_CELLS
            )
            if working_seconds() - since > BLOCK_SECONDS:
                yield Step()
                since = working_seconds()
        self._complete = True

    def _read(self, plan: Plan) -> Assignment:
        """The assignment that the choices or the messages give."""
        sizes = self._problem.domain_sizes
        values = np.zeros(len(sizes), dtype=np.int64)
        if plan.choices.kept:
            read_choices(self.order, plan.functions, plan.buckets, self._choices, values)
        else:
            read_back(self.order, sizes, plan.functions, plan.buckets, self._pool, values)
        return values

    def _answer(self, plan: Plan) -> Step:
        """The bound and the assignment that the messages give."""
        problem, bound = self._problem, self.bound(plan)
        if math.isinf(bound):
            return Step(finished=Status.INFEASIBLE)
        values = self._read(plan)
        cost = float(problem.cost(values))
        step = Step(costs=np.array([cost]))
        if math.isfinite(cost):
            step.best, step.best_cost = values, cost
        if plan.exact:
            step.bound, step.finished = cost, Status.OPTIMAL
        else:
            # A message's minimum is one addition more for each eliminated variable; integers are exact.
            further = UNIT_ROUNDOFF * problem.num_variables * problem.facts.table_magnitude
            step.bound = bound if problem.facts.integral else bound - problem.facts.rounding_error - further
        return step

    @property
    def _constants(self) -> NDArray[np.int64]:
        """Factors that look at no variable with a choice."""
        return np.flatnonzero(np.diff(self._functions.starts) == 0)


def _ranked_functions(problem: Problem, order: NDArray[np.int64]) -> Functions:
    """The factors with their scopes sorted by rank.

    Variables with one value are left out: they are never a choice, and index 0 of their axis is the table itself.
    """
    rank = np.empty(problem.num_variables, dtype=np.int64)
    rank[order] = np.arange(problem.num_variables)
    owner = np.repeat(np.arange(problem.num_factors), problem.arities)
    sorting = np.lexsort((rank[problem.scope_variables], owner))
    sorting = sorting[problem.domain_sizes[problem.scope_variables[sorting]] > 1]
    starts = offsets_of(np.bincount(owner[sorting], minlength=problem.num_factors))
    bases = problem.pool_offsets[problem.factor_table]
    return Functions(problem.scope_variables[sorting], cell_strides(problem)[sorting], starts, bases)
