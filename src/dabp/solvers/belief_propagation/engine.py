"""Runs min-sum iterations on a factor graph, in one compiled loop or cut into parts for several threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.graph import FactorGraph
from dabp.graph.message_layout import aligned, lane_count, make_layout
from dabp.kernels.belief_propagation.layout import Layout, Reals
from dabp.kernels.belief_propagation.min_sum import price_moved, send_many, send_pairs, total_of, update_variables
from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import Lanes, lanes_of
from dabp.problem import Assignment, Problem

WORTH_THREADS = 400_000
"""Table cells an iteration looks at, below which handing work to threads takes longer than the work."""

FREEZING = 0.3
"""Rate times iterations from which a reinforced start that does not improve has nothing to wait for."""

RUNNING, CONVERGED, SETTLED = 0, 1, 2
"""Why a run of iterations ended: it was long enough, messages stopped changing, values stopped changing."""


class Memory(NamedTuple):
    """What iterations change."""

    v2f: Reals
    f2v: Reals
    field: Reals
    """Reinforced BP's field, padded like the unary costs."""
    damping: Reals
    """[E], edges by variable."""
    assignment: Assignment
    best: Assignment
    moved: NDArray[np.bool_]
    """[N]: variables whose value changed in the last iteration."""
    priced: NDArray[np.float64]
    """[F]: exact cost of each factor under `assignment`."""
    values: NDArray[np.int64]
    """Room for one row number of a table of the largest arity."""
    counts: NDArray[np.int64]
    """Iterations since the start, iterations since a value last changed, iteration of the start's best cost."""
    costs: NDArray[np.float64]
    """Cost of `assignment`, of `best`, and the best since the start."""


class Rules(NamedTuple):
    """What an iteration does and when a run ends."""

    rate: float = 0.0
    """Reinforcement, 0 = none."""
    tolerance: float = 0.0
    """Converged when no v2f message changes by as much, in scaled units."""
    patience: int = 0
    """Settled when no value has changed for so many iterations; 0 = never."""
    constant: float = 0.0
    """Added to every cost."""


@array_kernel
def gain_of(rate: float, iteration: int) -> float:
    """``g_t = 1 − (1 − rate)^t``, or −1 without reinforcement."""
    return 1.0 - (1.0 - rate) ** iteration if rate > 0 else -1.0


@array_kernel
def note_cost(memory: Memory, rules: Rules, changed: int) -> None:
    """Add up the factors' costs if a value changed, and keep the assignment if it is the best."""
    if changed == 0:
        memory.counts[1] += 1
        return
    memory.counts[1] = 0
    total = rules.constant + total_of(memory.priced)
    memory.costs[0] = total
    if total < memory.costs[2]:
        memory.costs[2] = total
        memory.counts[2] = memory.counts[0]
    if total < memory.costs[1]:
        memory.costs[1] = total
        for i in range(len(memory.best)):
            memory.best[i] = memory.assignment[i]


@array_kernel
def verdict(memory: Memory, rules: Rules, change: float) -> int:
    """Whether the run ends here, and why."""
    if change < rules.tolerance:
        return CONVERGED
    if rules.patience > 0 and memory.counts[1] >= rules.patience:
        return SETTLED
    # A few variables may flip for ever while the rest is frozen.
    if rules.rate * memory.counts[0] > FREEZING and memory.counts[0] > 3 * memory.counts[2]:
        return SETTLED
    return RUNNING


@array_kernel
def iterate(layout: Layout, memory: Memory, rules: Rules, lanes: Lanes, trace: Any) -> tuple[int, int]:
    """Iterations until `trace` is full of their costs or the rules end the run; how many, and why."""
    for t in range(len(trace)):
        send_pairs(layout, memory.v2f, memory.f2v, lanes, 0, len(layout.pair_table))
        send_many(layout, memory.v2f, memory.f2v, memory.values, lanes, 0, len(layout.many_table))
        memory.counts[0] += 1
        gain = gain_of(rules.rate, memory.counts[0])
        change, changed = update_variables(
            layout, memory.v2f, memory.f2v, memory.field, memory.damping, gain, memory.assignment, memory.moved, lanes,
            0, len(layout.domain),
        )  # fmt: skip
        if changed > 0:
            price_moved(layout, memory.assignment, memory.moved, memory.priced, 0, len(layout.domain))
        note_cost(memory, rules, changed)
        trace[t] = memory.costs[0]
        why = verdict(memory, rules, change)
        if why != RUNNING:
            return t + 1, why
    return len(trace), RUNNING


@dataclass(frozen=True)
class _Part:
    """One thread's share: ranges of pairs, of higher factors and of variables."""

    pairs: tuple[int, int]
    many: tuple[int, int]
    variables: tuple[int, int]
    values: NDArray[np.int64]


class MinSum:
    """Message passing on one graph: `reset`, then `run` as often as wanted.

    Not thread-safe itself; with ``threads > 1`` it cuts large iterations into parts, which changes nothing but time.
    """

    def __init__(self, problem: Problem, graph: FactorGraph, threads: int = 1):
        self.graph = graph
        width = lane_count(graph)
        self.lanes = lanes_of(width)
        self.layout = make_layout(problem, graph, width)
        layout, real = self.layout, graph.dtype
        arity = int(np.diff(layout.many_start).max(initial=1))
        self.memory = Memory(
            v2f=aligned(np.zeros(layout.message_start[-1], dtype=real)),
            f2v=aligned(np.zeros(layout.message_start[-1], dtype=real)),
            field=aligned(np.zeros(len(layout.unary), dtype=real)),
            damping=np.zeros(graph.num_edges, dtype=real),
            assignment=np.full(graph.num_variables, -1, dtype=np.int64),
            best=np.zeros(graph.num_variables, dtype=np.int64),
            moved=np.zeros(graph.num_variables, dtype=np.bool_),
            priced=problem.factor_costs(np.zeros(graph.num_variables, dtype=np.int64)),
            values=np.zeros(arity, dtype=np.int64),
            counts=np.zeros(3, dtype=np.int64),
            costs=np.full(3, np.inf),
        )
        self._constant = problem.constant
        self._plain_unary = layout.unary.copy()
        threads = threads if len(layout.tables) >= WORTH_THREADS else 1
        self._parts = self._cut(threads)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def reset(self, damping: ArrayLike, extra_unary: Reals | None = None) -> None:
        """Back to zero messages, with a damping factor (one, or one per edge) and unary costs on top of the graph's."""
        memory = self.memory
        for array in (memory.v2f, memory.f2v, memory.field, memory.counts):
            array[:] = 0
        memory.assignment[:] = -1
        memory.costs[0] = memory.costs[2] = np.inf
        every = np.broadcast_to(np.asarray(damping, dtype=self.graph.dtype), self.graph.num_edges)
        memory.damping[:] = every[self.graph.variable_edges]
        self.layout.unary[:] = self._plain_unary
        if extra_unary is not None:
            self.layout.unary[self.layout.mask > 0] += extra_unary.astype(self.graph.dtype)

    def incline(self, assignment: Assignment, charge: float) -> None:
        """First v2f messages that charge every value but the assignment's: a warm start that fades as messages do."""
        layout = self.layout
        width = np.diff(layout.unary_start)
        charges = np.full(len(layout.unary), charge, dtype=self.graph.dtype) * layout.mask
        charges[layout.unary_start[:-1] + assignment] = 0
        degree = np.diff(layout.edge_start)
        own = np.repeat(np.arange(len(degree)), degree * width)
        place = np.arange(len(own)) - layout.message_start[own]
        self.memory.v2f[:] = charges[layout.unary_start[own] + place % width[own]]

    def run(self, iterations: int, rules: Rules) -> tuple[NDArray[np.float64], int]:
        """Up to `iterations` iterations: the cost after each, and why they ended (`RUNNING` if they did not)."""
        trace = np.empty(iterations)
        rules = rules._replace(constant=self._constant)
        if self._pool is None:
            done, why = iterate(self.layout, self.memory, rules, self.lanes, trace)
        else:
            done, why = self._iterate_in_parts(rules, trace)
        return trace[:done], why

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _iterate_in_parts(self, rules: Rules, trace: NDArray[np.float64]) -> tuple[int, int]:
        """`iterate`, each stage cut in parts; the stages are the same functions."""
        layout, memory, lanes = self.layout, self.memory, self.lanes
        v2f, f2v, field, damping = memory[:4]
        assignment, moved = memory.assignment, memory.moved

        def send(part: _Part) -> None:
            send_pairs(layout, v2f, f2v, lanes, *part.pairs)
            send_many(layout, v2f, f2v, part.values, lanes, *part.many)

        def update(part: _Part) -> tuple[float, int]:
            pair: tuple[float, int] = update_variables(
                layout, v2f, f2v, field, damping, gain, assignment, moved, lanes, *part.variables
            )
            return pair

        for t in range(len(trace)):
            self._each(send)
            memory.counts[0] += 1
            gain = gain_of(rules.rate, memory.counts[0])
            outcomes = self._each(update)
            changed = sum(count for _, count in outcomes)
            if changed:
                self._each(lambda part: price_moved(layout, assignment, moved, memory.priced, *part.variables))
            note_cost(memory, rules, changed)
            trace[t] = memory.costs[0]
            why = verdict(memory, rules, max(change for change, _ in outcomes))
            if why != RUNNING:
                return t + 1, int(why)
        return len(trace), RUNNING

    def _each(self, stage: Callable[[_Part], Any]) -> list[Any]:
        """One stage on all parts; returns when all are done."""
        assert self._pool is not None
        others = [self._pool.submit(stage, part) for part in self._parts[1:]]
        return [stage(self._parts[0]), *(other.result() for other in others)]

    def _cut(self, threads: int) -> list[_Part]:
        layout = self.layout
        groups = layout.pair_groups
        pair_work = np.repeat(groups[:, 2] * groups[:, 5], groups[:, 1] - groups[:, 0])
        many_work = np.ones(len(layout.many_table))
        for factor in range(len(many_work)):
            sizes = layout.many_domain[layout.many_start[factor] : layout.many_start[factor + 1]]
            many_work[factor] = float(np.prod(sizes))
        pairs, many, variables = (
            _cuts(work, threads) for work in (pair_work, many_work, np.diff(layout.message_start) + 1)
        )
        return [_Part(pairs[k], many[k], variables[k], np.zeros_like(self.memory.values)) for k in range(threads)]


def _cuts(work: NDArray[Any], parts: int) -> list[tuple[int, int]]:
    """Ranges with about equal work."""
    done = np.concatenate([[0.0], np.cumsum(work)])
    cuts = np.searchsorted(done, done[-1] * np.arange(parts + 1) / parts).tolist()
    cuts[-1] = len(work)
    return list(itertools.pairwise(cuts))
