"""Passes of message passing on the dual of a problem with unary and binary factors only, in threads."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from dabp.graph.places import Levels, Places
from dabp.graph.table_kinds import GENERAL, POTTS, table_kinds
from dabp.kernels.atomics import APART, zeros_apart
from dabp.kernels.dual.certificate import certified_pairs, certified_sum, pairs_excess
from dabp.kernels.dual.pairs import WIDTH, Answer, Pairs, copy_tables, pairs_cost, pairs_pass, scratch_for
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, nullary_constant, offsets_of, own_costs
from dabp.problem.guard import Guard
from dabp.solvers.dual.general_passes import largest_total
from dabp.solvers.stopped import ask
from dabp.solvers.trials import Trials

Costs = NDArray[np.float64]
Allowed = NDArray[np.bool_]
"""Whether each value of a variable is allowed."""

WORTH_THREADS = 100_000
"""Costs in messages below which passes run in one thread and in double precision."""

WIDE_LEVELS = 48
"""Variables in a level on average below which threads would wait more than they work."""

COARSE_TABLES = 50_000_000
"""Costs in general tables above which there is no second copy of them in single precision."""


class PairPasses:
    """A pairwise problem's relaxation, with the methods of `dabp.solvers.dual.general_passes.Passes`.

    The number of threads changes no result. Passes on large problems are in single precision, with half the memory to
    read and twice as many lanes, until `refine` is called; certified bounds are always computed in double precision.
    """

    def __init__(self, problem: Problem, threads: int = 1, guard: Guard | None = None):
        self.constant = nullary_constant(problem)
        self._exact, length, self._order = pairs_of(problem, guard or Guard())
        self._pairs = _coarse(self._exact) if length >= WORTH_THREADS else self._exact
        self._rounded = not _equal(self._pairs, self._exact)
        """Whether costs that the passes add up are rounded to single precision."""
        self.messages = zeros_apart(length, self._pairs.unary.dtype)
        self.largest = largest_total(problem)
        count = problem.num_variables
        self._strips = len(self._pairs.strip) - 1
        self._answer = Answer(
            np.zeros(count, dtype=np.int64),
            np.zeros(count),
            np.zeros(count),
            zeros_apart(self._strips * APART, np.float64),
        )
        self._threads = threads if self._strips > 1 else 1
        self._scratch = [scratch_for(self._pairs) for _ in range(self._threads)]
        self._pool = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None
        self._trials = Trials()
        self._place = np.empty(count, dtype=np.int64)
        """The position of each variable in the order of passes."""
        self._place[self._order] = np.arange(count)
        self._own: dict[int, Costs] = {}
        """The own costs of restricted variables as they were, by place."""

    @property
    def coarse(self) -> bool:
        """Whether passes are in single precision."""
        return bool(self.messages.dtype == np.float32)

    def refine(self) -> None:
        """Go on in double precision."""
        coarse, self._pairs = self.messages, self._exact
        self.messages = zeros_apart(len(coarse), np.float64)
        self.messages[:] = coarse
        self._scratch = [scratch_for(self._pairs) for _ in range(self._threads)]

    def run(self, forward: bool) -> float:
        """One pass; returns the bound, which is not finite if some cost is not."""
        if self._pool is None:
            self._share(forward, 1)
        else:
            with self._trials.turn() as together:
                self._share(forward, self._threads if together else 1)
        return float(self._answer.bound.sum() if self._strips == 1 else self._answer.sums[::APART].sum())

    def certified(self) -> float:
        """A bound, without the constant, that the messages prove; not finite if some of them are not."""
        pairs = self._exact
        first = pairs.chunk[pairs.strip]

        def sums(thread: int) -> list[tuple[float, float, float]]:
            strips = range(thread, self._strips, self._threads)
            return [certified_pairs(pairs, self.messages, first[k], first[k + 1]) for k in strips]

        others = [self._pool.submit(sums, k) for k in range(1, self._threads)] if self._pool is not None else []
        parts = sums(0) + [part for other in others for part in other.result()]
        return certified_sum(parts, len(pairs.middle) + len(pairs.other) // 2)

    @property
    def cost(self) -> float:
        """The cost of the assignment that the last pass decoded."""
        if self.coarse and self._rounded:
            return float(pairs_cost(self._exact, self._answer.values)) + self.constant
        costs = self._answer.cost if self._strips == 1 else self._answer.sums[1::APART]
        return float(costs.sum()) + self.constant

    def decoded(self) -> Assignment:
        """The assignment that the last pass decoded."""
        values: Assignment = np.empty(len(self._order), dtype=np.int64)
        values[self._order] = self._answer.values
        return values

    def restrict(self, allowed: Mapping[int, Allowed], penalty: float) -> None:
        """Add `penalty` to the values of variables that are not allowed; undo earlier restrictions.

        Costs of allowed values do not change: bounds are valid for all assignments that take only these.
        """
        exact, passing = self._exact.unary, self._pairs.unary
        for place, costs in self._own.items():
            begin = self._exact.row[place]
            exact[begin : begin + len(costs)] = passing[begin : begin + len(costs)] = costs
        self._own.clear()
        for variable, values in allowed.items():
            place = int(self._place[variable])
            begin, end = self._exact.row[place : place + 2]
            self._own[place] = exact[begin:end].copy()
            row = exact[begin:end]
            row[: len(values)][~values] += penalty
            row[len(values) :] = row[len(values) - 1]
            passing[begin:end] = row

    def excess(self, values: Assignment) -> Costs:
        """What each variable and half of each of its factors cost above their least; adds up to cost less bound."""
        excess = np.zeros(len(self._order))
        pairs_excess(self._exact, self.messages, values[self._order], excess)
        return excess[self._place]

    def close(self) -> None:
        """End the threads that pass messages."""
        if self._pool is not None:
            self._pool.shutdown()

    def _share(self, forward: bool, threads: int) -> None:
        """One pass by `threads` threads."""
        progress, submit = zeros_apart(self._strips * APART), self._pool.submit if self._pool is not None else None
        others = [submit(self._part, forward, k, threads, progress) for k in range(1, threads)] if submit else []
        try:
            self._part(forward, 0, threads, progress)
        except BaseException:  # interrupted: the other threads must not wait for this one
            progress[:] = self._pairs.levels
            raise
        finally:
            for other in others:
                other.result()

    def _part(self, forward: bool, thread: int, threads: int, progress: Indices) -> None:
        """A thread's part of a pass; after a long wait the thread yields its core."""
        pairs, scratch, chunk = self._pairs, self._scratch[thread], 0
        while True:
            chunk = pairs_pass(forward, pairs, self.messages, scratch, self._answer, chunk, thread, threads, progress)
            if chunk == len(pairs.level):
                return
            time.sleep(0)


def pairs_of(problem: Problem, guard: Guard) -> tuple[Pairs, int, Indices]:
    """The columns of a problem with factors of arity 2 at most, the number of costs in messages, and its variables.

    Variables are ordered level by level, in 16 strips if threads may share passes: the number of strips does not
    depend on the number of threads, since sums depend on the order of variables.
    """
    found = Levels.of(problem)
    levels = int(found.level.max(initial=-1)) + 1
    costs = -(-problem.domain_sizes // WIDTH) * WIDTH * found.degree
    shared = costs.sum() >= WORTH_THREADS and problem.num_variables >= WIDE_LEVELS * levels
    places, order, strips = Places.in_strips(problem, found, 16 if shared else 1)
    domain = problem.domain_sizes[order]
    width = -(-domain // WIDTH) * WIDTH
    message = offsets_of(width[places.variable])
    ask(guard)
    kinds, parameters = table_kinds(problem)
    ask(guard)
    same, different, _ = parameters.T
    kinds[(kinds == POTTS) & (same > different)] = GENERAL
    potts = kinds == POTTS  # truncated linear with a slope that reaches the top in one step
    parameters[potts] = np.stack([same, 2.0 * (different - same), different], axis=1)[potts]
    general = kinds[problem.factor_table[places.factors]] == GENERAL
    factor_table = problem.factor_table[places.factors]
    table, linear = np.empty(len(places.variable), dtype=np.int64), np.empty(len(places.variable), dtype=np.bool_)
    table[places.place] = factor_table[:, None]
    linear[places.place] = ~general[:, None]
    row = offsets_of(width)
    pairs = Pairs(
        domain=domain,
        row=row,
        unary=_padded_rows(*own_costs(problem), order, row),
        start=places.start,
        middle=places.middle,
        other=places.other,
        message=message[:-1],
        other_message=message[:-1][places.partner],
        linear=linear,
        table=table,
        tables=_general_tables(problem, domain, places, np.flatnonzero(general), table, guard),
        parameters=parameters,
        levels=levels,
        **strips._asdict(),
    )
    return pairs, int(message[-1]), order


def _coarse(pairs: Pairs) -> Pairs:
    """The same in single precision; `pairs` itself if costs are too large for that or too many to keep twice."""
    costs = {name: getattr(pairs, name) for name in ("unary", "tables", "parameters")}
    if len(pairs.tables) > COARSE_TABLES or any(_largest(values) > 1e30 for values in costs.values()):
        return pairs
    return pairs._replace(**{name: values.astype(np.float32) for name, values in costs.items()})


def _equal(pairs: Pairs, others: Pairs) -> bool:
    """Whether two have the same costs, in whatever precision."""
    if pairs is others:
        return True
    columns = zip(pairs, others, strict=True)
    return all(np.array_equal(mine, theirs) for mine, theirs in columns if mine is not theirs)


def _largest(values: Costs) -> float:
    """The largest finite absolute value."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return largest if np.isfinite(largest) else float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _padded_rows(values: Costs, starts: Indices, order: Indices, row: Indices) -> Costs:
    """Rows of a ragged array in an order, each padded to the lengths of `row` by copies of its last entry."""
    lengths, widths = np.diff(starts), np.diff(row)
    if len(lengths) and (lengths == lengths[0]).all():
        padded, rows = np.empty((len(lengths), widths[0])), values.reshape(len(lengths), lengths[0])
        block = max(1, 2**16 // int(widths[0]))  # blocks stay in the processor's cache
        for first in range(0, len(lengths), block):
            part = padded[first : first + block]
            part[:, : lengths[0]] = rows[order[first : first + block]]
            part[:, lengths[0] :] = part[:, lengths[0] - 1 : lengths[0]]
        return padded.ravel()
    within = np.arange(row[-1]) - np.repeat(row[:-1], widths)
    source = np.repeat(starts[:-1][order], widths) + np.minimum(within, np.repeat(lengths[order] - 1, widths))
    return np.asarray(values[source])


def _general_tables(
    problem: Problem, domain: Indices, places: Places, rows: Indices, table: Indices, guard: Guard
) -> Costs:
    """The tables of the binary factors in `rows` both ways round, padded; `table` gets where each place's begins.

    They are stored as passes read them: tables of one shape together, of these first those that a forward pass needs,
    in the order of its variables, then those of a backward pass. The guard is checked after every 2²⁰ costs copied.
    """
    if len(rows) == 0:
        return np.zeros(0)
    sizes = domain[places.scopes[rows]]
    chosen = problem.factor_table[places.factors[rows]]
    first, inverse = _different(chosen, sizes[:, 0])
    begin, shapes, ends = problem.pool_offsets[chosen[first]], sizes[first], places.place[rows[first]]
    backward = places.scopes[rows[first]][:, ::-1] > places.scopes[rows[first]]
    widths = -(-shapes // WIDTH) * WIDTH
    result = np.empty(int((widths * shapes[:, ::-1]).sum()))
    starts = np.zeros((len(first), 2), dtype=np.int64)
    position = 0
    for members in _of_one_shape(shapes.ravel(), shapes[:, ::-1].ravel()):
        members = members[np.lexsort((ends.ravel()[members], backward.ravel()[members]))]
        lanes, others = shapes.ravel()[members[0]], shapes[:, ::-1].ravel()[members[0]]
        width = widths.ravel()[members[0]]
        end = position + len(members) * width * others
        starts.ravel()[members] = np.arange(position, end, width * others)
        padded = result[position:end].reshape(len(members), others, width)
        position = end
        block = max(1, 2**20 // int(width * others))
        for start in range(0, len(members), block):
            ask(guard)
            these = members[start : start + block]
            copy_tables(problem.pool, begin, these, int(lanes), padded[start : start + block])
    table[places.place[rows]] = starts[inverse]
    return result


def _of_one_shape(lanes: Indices, others: Indices) -> list[Indices]:
    """The entries of each shape, in order."""
    keys = lanes * (int(others.max()) + 1) + others
    if (keys == keys[0]).all():
        return [np.arange(len(keys))]
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def _different(tables: Indices, sizes: Indices) -> tuple[Indices, Indices]:
    """The first factor of each set with one table and shape, and the set of each factor.

    One table may serve factors of different shapes, distinguished by the size of their first variable.
    """
    keys = tables * (int(sizes.max()) + 1) + sizes
    return np.unique(keys, return_index=True, return_inverse=True)[1:]
