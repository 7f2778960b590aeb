"""Runs min-sum iterations on a factor graph, in one compiled loop or cut into parts for several threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.graph import FactorGraph
from dabp.graph.meetings import meeting_of
from dabp.graph.message_layout import aligned_zeros, lane_count, make_layout, put_values
from dabp.kernels.atomics import zeros_apart
from dabp.kernels.belief_propagation.iteration import (
    MANY_CHANGES,
    gain_of,
    iterate,
    note_cost,
    note_total,
    price_all,
    stays_stale,
    update_part,
    verdict,
)
from dabp.kernels.belief_propagation.layout import Layout, Reals
from dabp.kernels.belief_propagation.memory import (
    BEST,
    BEST_OF_START,
    CURRENT,
    ITERATIONS,
    RUNNING,
    Memory,
    Rules,
)
from dabp.kernels.belief_propagation.min_sum import price_moved, send_many
from dabp.kernels.belief_propagation.pricing import price_across, price_rest
from dabp.kernels.belief_propagation.warm_start import lean
from dabp.kernels.simd import lanes_of
from dabp.problem import Assignment, Problem
from dabp.problem.columns import offsets_of

WORTH_THREADS = 400_000
"""Table cells an iteration looks at, padding and copies counted, below which handing work to threads takes longer than
the work."""
WORTH_SHARING = 20_000
"""Factors between parts and not of arity 2 below which one thread prices what is left of them: waking others takes
longer."""
MESSAGE_CELLS = 4
"""A message takes about as long as so many rows of a table, beside its rows."""


@dataclass(frozen=True)
class _Part:
    """One thread's share: ranges of higher factors, variables, all factors, and those not of arity 2; its own room."""

    number: int
    many: tuple[int, int]
    variables: tuple[int, int]
    across: tuple[int, int]
    """Pairs of blocks of variables whose factors this thread looks for that nobody could price before."""
    factors: tuple[int, int]
    rest: tuple[int, int]
    values: NDArray[np.int64]
    f2v: Reals


class MinSum:
    """Message passing on one graph: `reset`, then `run` as often as wanted.

    Not thread-safe itself; with ``threads > 1`` it cuts large iterations into parts, which changes nothing but time.
    """

    in_stages: ClassVar[bool] = False
    """Whether all f2v messages are kept, as those need that make them in a stage of its own."""

    def __init__(self, problem: Problem, graph: FactorGraph, threads: int = 1):
        self.graph, self._problem = graph, problem
        width = lane_count(graph)
        self.lanes = lanes_of(width)
        self.layout = make_layout(problem, graph, width)
        if self.in_stages:  # who makes messages in another way may have other tables, too
            self.layout = self.layout._replace(exact=self.layout.exact._replace(unit=0.0))
        self.memory = _memory(problem, graph, self.layout, self.in_stages)
        self._constant = problem.constant
        self._untouched, self.other_unary = True, False
        """Whether nothing was written to the messages yet, and whether unary costs are others than the graph's."""
        if threads > 1 and _cells(self.layout).sum() + _many_cells(self.layout).sum() < WORTH_THREADS:
            threads = 1
        self._parts = self._cut(threads)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    @property
    def iterations(self) -> int:
        """Since the start."""
        return int(self.memory.counts[ITERATIONS])

    @property
    def best_cost(self) -> float:
        """Of `memory.best`, over all starts."""
        return float(self.memory.costs[BEST])

    def reset(self, damping: ArrayLike, extra_unary: Reals | None = None) -> None:
        """Back to zero messages, with a damping factor (one, or one per edge) and unary costs on top of the graph's."""
        memory = self.memory
        if not self._untouched:  # memory that is zero because nobody has touched it takes no time
            for array in (memory.v2f, memory.f2v, memory.field, memory.counts):
                array[:] = 0
        self._untouched = False
        memory.assignment[:] = -1
        memory.stale[:] = self.layout.exact.unit > 0
        memory.costs[CURRENT] = memory.costs[BEST_OF_START] = np.inf
        given = np.asarray(damping, dtype=self.graph.dtype)
        memory.damping[:] = given if given.ndim == 0 else given[self.graph.variable_edges]
        variables = self.layout.variables
        if extra_unary is not None:
            variables.unary[self._values] = self.graph.unary + extra_unary.astype(self.graph.dtype)
        elif self.other_unary:
            put_values(self.graph, variables.unary_start, self.graph.unary, variables.unary)
        self.other_unary = extra_unary is not None

    @cached_property
    def _values(self) -> NDArray[np.int64]:
        """Where the values of variables lie among what is padded like the unary costs, [sum D]."""
        return np.flatnonzero(self.layout.variables.mask)

    def incline(self, assignment: Assignment, charge: float) -> None:
        """First v2f messages that charge every value but the assignment's: a warm start that fades as messages do."""
        lean(self.layout.variables, np.asarray(assignment), charge, self.memory.v2f)

    def run(self, iterations: int, rules: Rules) -> tuple[NDArray[np.float64], int]:
        """Up to `iterations` iterations: the cost after each, and why they ended (`RUNNING` if they did not)."""
        trace = np.empty(iterations)
        rules = rules._replace(constant=self._constant)
        if not len(self.memory.fresh):
            self.memory = self.memory._replace(fresh=np.zeros_like(self.memory.v2f))
        if self._pool is None:
            done, why = iterate(self.layout, self.memory, rules, self.lanes, trace)
            if done % 2:
                self._turn()
        else:
            done, why = self._iterate_in_parts(rules, trace)
        return trace[:done], why

    def prices(self) -> NDArray[np.float64]:
        """The exact cost of each factor under the values decoded last."""
        if self.memory.stale[0] and (self.memory.assignment >= 0).all():
            price_all(self.layout.exact, self.memory, 0, len(self.memory.priced))
        return self.memory.priced.copy()

    def check(self) -> None:
        """Raise `ValueError` if what came from a file is none that iterations can have led to."""
        memory, problem = self.memory, self._problem
        if ((memory.assignment < -1) | (memory.assignment >= problem.domain_sizes)).any():
            raise ValueError("the assignment has values that do not exist")
        decoded = (memory.assignment >= 0).all()  # otherwise all factors are priced after the next iteration
        if decoded and not np.array_equal(memory.priced, problem.factor_costs(memory.assignment)):
            raise ValueError("the factors' costs are not those of the assignment")
        if (memory.counts < 0).any() or np.isnan(memory.costs).any():
            raise ValueError("counts or costs cannot be")
        best, cost = float(memory.costs[BEST]), float(problem.cost(memory.best))
        if best != np.inf and not abs(best - cost) <= problem.rounding(cost):
            raise ValueError("the best cost is not that of the best assignment")

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _iterate_in_parts(self, rules: Rules, trace: NDArray[np.float64]) -> tuple[int, int]:
        """`iterate`, each stage cut in parts; the stages are the same functions."""
        for t in range(len(trace)):
            if len(self.layout.many.table):
                self._each(self._send)
            gain = gain_of(rules.rate, self.iterations + 1)
            why = self._update_in_parts(self.memory, gain, rules)
            self._turn()
            trace[t] = self.memory.costs[CURRENT]
            if why != RUNNING:
                return t + 1, why
        return len(trace), RUNNING

    def _turn(self) -> None:
        """The messages made last are those heard next."""
        self.memory = self.memory._replace(v2f=self.memory.fresh, fresh=self.memory.v2f)

    def _send(self, part: _Part) -> None:
        """A part of the f2v messages of higher factors."""
        send_many(self.layout, self.memory, part.values, self.lanes, *part.many)

    def _update_in_parts(self, memory: Memory, gain: float, rules: Rules) -> int:
        """What an iteration makes of the v2f messages, or of the f2v messages if it makes these before; the verdict."""
        layout, lanes, pricing = self.layout, self.lanes, bool(memory.stale[0])

        def update(part: _Part) -> tuple[float, int, float]:
            own = memory._replace(f2v=part.f2v)
            outcome: tuple[float, int, float] = update_part(
                layout, own, gain, pricing, lanes, part.number, *part.variables
            )
            return outcome

        memory.counts[ITERATIONS] += 1
        memory.meeting.done[:] = 0
        memory.meeting.seen[:] = 0
        outcomes = self._each(update)
        changed = sum(count for _, count, _ in outcomes)
        if pricing:
            shared = len(memory.meeting.place) + len(layout.exact.rest) >= WORTH_SHARING
            rest = self._each(self._price_rest) if shared else map(self._price_rest, self._parts)
            cost = sum(price for _, _, price in outcomes) + sum(rest)
            note_total(memory, rules.constant + cost, changed)
        many = MANY_CHANGES * changed > self.graph.num_variables
        if not pricing or not many:
            self.price(changed if not pricing else self.graph.num_variables)
        if not pricing:
            note_cost(memory, rules, changed)
        memory.stale[0] = stays_stale(layout.exact, pricing, changed, self.graph.num_variables)
        return int(verdict(memory, rules, max(change for change, _, _ in outcomes)))

    def _price_rest(self, part: _Part) -> float:
        """What a part's share of the factors costs that are not of arity 2 or have variables of two parts."""
        across: float = price_across(self.layout, self.memory, *part.across)
        alone: float = price_rest(self.layout.exact, self.memory, *part.rest)
        return across + alone

    def price(self, changed: int) -> None:
        """Look up the costs of factors, in threads, after so many variables have changed their value."""
        exact, memory = self.layout.exact, self.memory
        if MANY_CHANGES * changed > self.graph.num_variables:
            self._each(lambda part: price_all(exact, memory, *part.factors))
        elif changed:
            self._each(lambda part: price_moved(exact, memory, *part.variables))

    def _each(self, stage: Callable[[_Part], Any]) -> list[Any]:
        """One stage on all parts; returns when all are done."""
        assert self._pool is not None
        others = [self._pool.submit(stage, part) for part in self._parts[1:]]
        return [stage(self._parts[0]), *(other.result() for other in others)]

    def _cut(self, threads: int) -> list[_Part]:
        layout = self.layout
        if threads == 1:
            return []  # nothing is cut
        alone = np.ones_like(layout.exact.rest)
        works = (_many_cells(layout), _cells(layout, MESSAGE_CELLS) + 1, np.diff(layout.exact.start) + 1, alone)
        many, variable, factors, rest = (_cuts(work, threads) for work in works)
        self.memory = memory = self.memory._replace(meeting=meeting_of(layout, variable))
        across = _cuts(np.diff(memory.meeting.first) + 1, threads)
        return [
            _Part(
                k,
                many[k],
                variable[k],
                across[k],
                factors[k],
                rest[k],
                zeros_apart(len(memory.values)),
                memory.f2v if len(memory.f2v) == len(memory.v2f) else zeros_apart(len(memory.f2v), memory.f2v.dtype),
            )
            for k in range(threads)
        ]


def _memory(problem: Problem, graph: FactorGraph, layout: Layout, in_stages: bool) -> Memory:
    """Room for messages and answers, all zero; the cost of no answer yet is infinite."""
    messages, real = layout.variables.message_start[-1], graph.dtype
    of_a_variable = int(np.diff(layout.variables.message_start).max(initial=0))
    return Memory(
        v2f=aligned_zeros(messages, real),
        fresh=aligned_zeros(0 if in_stages else messages, real),
        f2v=aligned_zeros(messages if in_stages or len(layout.many.table) else of_a_variable, real),
        field=aligned_zeros(len(layout.variables.unary), real),
        damping=np.zeros(graph.num_edges, dtype=real),
        assignment=np.full(graph.num_variables, -1, dtype=np.int32),
        best=np.zeros(graph.num_variables, dtype=np.int64),
        moved=np.zeros(graph.num_variables, dtype=np.bool_),
        priced=problem.pool[layout.exact.base],  # everybody at its first value
        stale=np.zeros(1, dtype=np.bool_),
        values=np.zeros(int(np.diff(layout.many.start).max(initial=1)), dtype=np.int64),
        counts=np.zeros(3, dtype=np.int64),
        costs=np.full(3, np.inf),
        meeting=meeting_of(layout, [(0, graph.num_variables)]),
    )


def _cells(layout: Layout, more_rows: int = 0) -> NDArray[np.int64]:
    """[N]: table cells that each variable hears pairs through, with so many rows more for each pair."""
    copies = layout.many.message.shape[1]
    rows = offsets_of(layout.pairs.rows + more_rows)
    heard = np.diff(rows[layout.variables.edge_start // copies])
    cells: NDArray[np.int64] = heard * np.diff(layout.variables.unary_start) * copies
    return cells


def _many_cells(layout: Layout) -> NDArray[np.int64]:
    """[M]: table cells of each factor of higher arity."""
    many = layout.many
    return np.multiply.reduceat(many.domain, many.start[:-1]) if len(many.table) else many.table


def _cuts(work: NDArray[Any], parts: int) -> list[tuple[int, int]]:
    """Ranges with about equal work."""
    done = offsets_of(work)
    cuts = np.searchsorted(done, done[-1] * np.arange(parts + 1) / parts).tolist()
    cuts[-1] = len(work)
    return list(itertools.pairwise(cuts))
