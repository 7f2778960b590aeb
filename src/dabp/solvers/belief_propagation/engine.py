"""Min-sum on a factor graph, in one compiled loop or cut into parts for several threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.graph import FactorGraph
from dabp.graph.message_layout import lane_count, make_layout, put_values
from dabp.kernels.atomics import zeros_apart
from dabp.kernels.belief_propagation.iteration import (
    MANY_CHANGES,
    gain_of,
    iterate,
    lean,
    note_cost,
    price_all,
    price_moved,
    verdict,
)
from dabp.kernels.belief_propagation.message_arrays import PROGRESS, RUNNING, Layout, Memory, Reals, Rules
from dabp.kernels.belief_propagation.min_sum import send_many, update_variables
from dabp.kernels.simd import lanes_of
from dabp.problem import Assignment, Problem
from dabp.problem.columns import offsets_of
from dabp.solvers.base import State

WORTH_THREADS = 400_000
"""Table cells read in an iteration, padding and copies counted, below which threads cost more than they save."""


@dataclass(frozen=True, eq=False)
class Part:
    """The ranges of each stage that one thread computes, and its scratch memory."""

    many: tuple[int, int]
    """Factors of arity 3 and more."""
    variables: tuple[int, int]
    factors: tuple[int, int]
    """All factors."""
    values: NDArray[np.int64]
    f2v: Reals


class MinSum:
    """Message passing on one graph: `reset`, then `run` any number of times; not thread-safe.

    With ``threads > 1`` large iterations are cut into parts, which changes nothing but time.
    """

    in_stages: ClassVar[bool] = False
    """Whether all f2v messages are made and stored before variables are updated."""

    def __init__(self, problem: Problem, graph: FactorGraph, threads: int = 1):
        self.graph, self._problem = graph, problem
        width = lane_count(graph)
        self.lanes = lanes_of(width)
        self.layout = make_layout(problem, graph, width, soft=self.in_stages)
        self.memory = _memory(problem, graph, self.layout, self.in_stages)
        self._constant = problem.constant
        self._untouched = True
        """Whether the messages are still zero."""
        self.other_unary = False
        """Whether unary costs differ from the graph's."""
        if threads > 1 and _cells(self.layout).sum() + _many_cells(self.layout).sum() < WORTH_THREADS:
            threads = 1
        self.threads = threads
        """Threads in use: 1 where more would not pay."""
        self._parts = self._cut(threads) if threads > 1 else []
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    @property
    def iterations(self) -> int:
        """The number of iterations since the start."""
        return int(self.memory.progress["iterations"][0])

    @property
    def best_cost(self) -> float:
        """The cost of `memory.best`, the best of all starts."""
        return float(self.memory.progress["best"][0])

    @property
    def start_cost(self) -> float:
        """The least cost of this start."""
        return float(self.memory.progress["best_of_start"][0])

    def keep(self, best: Assignment) -> None:
        """Store an assignment as the best."""
        self.memory.best[:] = best
        self.memory.progress["best"] = self._problem.cost(best)

    def reset(self, damping: ArrayLike, extra_unary: Reals | None = None) -> None:
        """Zero all messages; set damping (one factor, or one per edge) and unary costs on top of the graph's."""
        memory = self.memory
        if not self._untouched:  # writing zeros to new memory takes time
            for array in (memory.v2f, memory.f2v, memory.field):
                array[:] = 0
        self._untouched = False
        memory.assignment[:] = -1
        memory.progress[:] = (0, 0, 0, np.inf, self.best_cost, np.inf)
        given = np.asarray(damping, dtype=self.graph.dtype)
        memory.damping[:] = given if given.ndim == 0 else given[self.graph.variable_edges]
        if extra_unary is not None or self.other_unary:
            extra = 0 if extra_unary is None else extra_unary.astype(self.graph.dtype)
            variables = self.layout.variables
            put_values(self.graph, variables.unary_start, self.graph.unary + extra, variables.unary)
        self.other_unary = extra_unary is not None

    def incline(self, assignment: Assignment, charge: float) -> None:
        """Start from v2f messages that charge every value but the assignment's, which fades as iterations go on."""
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
                self._swap()
        else:
            done, why = self._iterate_in_parts(rules, trace)
        return trace[:done], why

    def state_dict(self) -> State:
        """What `load_state_dict` needs beside the values of the last `reset`."""
        memory, progress = self.memory, self.memory.progress[0]
        return {
            "v2f": memory.v2f.copy(),
            "field": memory.field.copy(),
            "assignment": memory.assignment.astype(np.int64),
            "best": memory.best.copy(),
            "counts": np.array([progress[name] for name in _COUNTS], dtype=np.int64),
            "costs": np.array([progress[name] for name in _COSTS]),
        }

    def load_state_dict(self, state: State) -> None:
        """Continue bit for bit after `reset`; raises `ValueError` if no iterations can have led to this state."""
        memory, problem = self.memory, self._problem
        for name in ("v2f", "field", "assignment", "best"):
            getattr(memory, name)[:] = state[name]
        if ((memory.assignment < -1) | (memory.assignment >= problem.domain_sizes)).any():
            raise ValueError("the assignment has values that do not exist")
        if (memory.assignment >= 0).all():  # otherwise the next iteration prices all factors
            memory.priced[:] = problem.factor_costs(memory.assignment)
        counts, costs = np.asarray(state["counts"]), np.asarray(state["costs"])
        if counts.shape != (3,) or costs.shape != (3,) or (counts < 0).any() or np.isnan(costs).any():
            raise ValueError("counts or costs are impossible")
        for name, value in zip((*_COUNTS, *_COSTS), (*counts, *costs), strict=True):
            memory.progress[name] = value
        best, cost = self.best_cost, float(problem.cost(memory.best))
        if best != np.inf and not abs(best - cost) <= problem.facts.rounding(cost):
            raise ValueError("the best cost is not that of the best assignment")

    def close(self) -> None:
        """Shut down the pool of threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _iterate_in_parts(self, rules: Rules, trace: NDArray[np.float64]) -> tuple[int, int]:
        """`iterate`, each stage cut in parts; the stages are the same functions."""
        for t in range(len(trace)):
            if len(self.layout.many.table):
                self._each(lambda part: send_many(self.layout, self.memory, part.values, self.lanes, *part.many))
            why = self._update_in_parts(self.memory, gain_of(rules.rate, self.iterations + 1), rules)
            self._swap()
            trace[t] = self.memory.progress["current"][0]
            if why != RUNNING:
                return t + 1, why
        return len(trace), RUNNING

    def _swap(self) -> None:
        """Let the next iteration read the messages made last."""
        self.memory = self.memory._replace(v2f=self.memory.fresh, fresh=self.memory.v2f)

    def _update_in_parts(self, memory: Memory, gain: float, rules: Rules) -> int:
        """The stages of an iteration after `send_many`, in threads; returns the verdict."""

        def update(part: Part) -> Any:
            own = memory._replace(f2v=part.f2v)
            return update_variables(self.layout, own, gain, self.lanes, *part.variables)

        memory.progress["iterations"] += 1
        outcomes = self._each(update)
        changed = sum(count for _, count in outcomes)
        self.price(changed)
        note_cost(memory, rules, changed)
        return int(verdict(memory, rules, max(change for change, _ in outcomes)))

    def price(self, changed: int) -> None:
        """Price an assignment by `dabp.kernels.belief_propagation.iteration.price`, in several threads."""
        exact, memory = self.layout.exact, self.memory
        if MANY_CHANGES * changed > self.graph.num_variables:
            self._each(lambda part: price_all(exact, memory, *part.factors))
        elif changed:
            self._each(lambda part: price_moved(exact, memory, *part.variables))

    def _each(self, stage: Callable[[Part], Any]) -> list[Any]:
        """One stage on all parts; returns when all are done."""
        assert self._pool is not None
        others = [self._pool.submit(stage, part) for part in self._parts[1:]]
        return [stage(self._parts[0]), *(other.result() for other in others)]

    def _cut(self, threads: int) -> list[Part]:
        layout, memory = self.layout, self.memory
        # A message takes about as long as four rows of a table, beside its rows.
        works = (_many_cells(layout), _cells(layout, 4) + 1, np.diff(layout.exact.start) + 1)
        many, variables, factors = (_cuts(work, threads) for work in works)
        return [
            Part(
                many[k],
                variables[k],
                factors[k],
                values=zeros_apart(len(memory.values)),
                f2v=memory.f2v if memory.f2v_of_all else zeros_apart(len(memory.f2v), memory.f2v.dtype),
            )
            for k in range(threads)
        ]


_COUNTS = ("iterations", "unchanged", "best_at")
"""The counters of `PROGRESS` in the order of a state."""
_COSTS = ("current", "best", "best_of_start")
"""The costs of `PROGRESS` in the order of a state."""


def _memory(problem: Problem, graph: FactorGraph, layout: Layout, in_stages: bool) -> Memory:
    """Memory of a run before its first iteration."""
    messages, real = layout.variables.message_start[-1], graph.dtype
    whole = in_stages or len(layout.many.table) > 0
    of_a_variable = int(np.diff(layout.variables.message_start).max(initial=0))
    return Memory(
        v2f=zeros_apart(messages, real),
        fresh=zeros_apart(0 if in_stages else messages, real),
        f2v=zeros_apart(messages if whole else of_a_variable, real),
        fused=True,
        f2v_of_all=whole,
        field=zeros_apart(len(layout.variables.unary), real),
        damping=np.zeros(graph.num_edges, dtype=real),
        assignment=np.full(graph.num_variables, -1, dtype=np.int32),
        best=np.zeros(graph.num_variables, dtype=np.int64),
        moved=np.zeros(graph.num_variables, dtype=np.bool_),
        priced=problem.pool[layout.exact.base],  # all variables at their first values
        values=np.zeros(int(np.diff(layout.many.start).max(initial=1)), dtype=np.int64),
        progress=np.array([(0, 0, 0, np.inf, np.inf, np.inf)], dtype=PROGRESS),
    )


def _cells(layout: Layout, more_rows: int = 0) -> NDArray[np.int64]:
    """[N]: table cells of the pairs of each variable, with `more_rows` added to each table."""
    copies = layout.many.message.shape[1]
    rows = offsets_of(layout.pairs.rows + more_rows)
    cells = np.diff(rows[layout.variables.edge_start // copies])
    return np.asarray(cells * np.diff(layout.variables.unary_start) * copies)


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
