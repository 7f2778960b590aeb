"""Passes on problems with unary and binary factors only: same bounds as `dabp.solvers.dual.passes`, much faster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.graph.places import Places
from dabp.graph.table_kinds import GENERAL, POTTS, table_kinds
from dabp.kernels.dual.certificate import certified_pairs
from dabp.kernels.dual.pairs import WIDTH, Pairs, pairs_cost, pairs_pass, room_for
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, nullary_constant, offsets_of, unary_costs
from dabp.solvers.dual.passes import largest_total

Costs = NDArray[np.float64]


class PairPasses:
    """A pairwise problem's relaxation; stands where `dabp.solvers.dual.passes.Passes` does."""

    def __init__(self, problem: Problem):
        self.constant = nullary_constant(problem)
        self._pairs, self.messages = pairs_of(problem)
        self._room = room_for(self._pairs)
        self.largest = largest_total(problem)

    def run(self, forward: bool, values: Assignment) -> tuple[float, float]:
        """One pass; decodes into `values`."""
        bound, magnitude = pairs_pass(forward, self._pairs, self.messages, self._room, values)
        return float(bound), float(magnitude)

    def certified(self) -> float:
        """A bound, without the constant, that the messages surely prove; not finite if some of them are not."""
        return float(certified_pairs(self._pairs, self.messages, self._room))

    def cost(self, values: Assignment) -> float:
        """The cost of an assignment, without the constant."""
        return float(pairs_cost(self._pairs, values))


def pairs_of(problem: Problem) -> tuple[Pairs, Costs]:
    """The columns of a problem with factors of arity 2 at most, and messages that move nothing yet."""
    places = Places.of(problem)
    width = -(-problem.domain_sizes // WIDTH) * WIDTH
    message = offsets_of(width[places.variable])
    kinds, parameters = table_kinds(problem)
    kinds[(kinds == POTTS) & (parameters[:, 0] > parameters[:, 1])] = GENERAL
    factor_table = problem.factor_table[places.factors]
    table, kind = np.empty((2, len(places.variable)), dtype=np.int64)
    table[places.place] = factor_table[:, None]
    kind[places.place] = kinds[factor_table][:, None]
    row = offsets_of(width)
    pairs = Pairs(
        domain=problem.domain_sizes,
        row=row,
        unary=_padded_rows(*unary_costs(problem), row),
        start=places.start,
        middle=places.middle,
        other=places.other,
        message=message[:-1],
        other_message=message[:-1][places.partner],
        kind=kind,
        table=table,
        tables=_general_tables(problem, places, np.flatnonzero(kinds[factor_table] == GENERAL), table),
        parameters=parameters,
    )
    return pairs, np.zeros(message[-1])


def _padded_rows(values: Costs, starts: Indices, row: Indices) -> Costs:
    """Rows of a ragged array, each made as long as `row` says by copies of its last entry."""
    lengths, widths = np.diff(starts), np.diff(row)
    if len(lengths) and (lengths == lengths[0]).all():
        padded = np.empty((len(lengths), widths[0]))
        padded[:, : lengths[0]] = values.reshape(len(lengths), lengths[0])
        padded[:, lengths[0] :] = padded[:, lengths[0] - 1 : lengths[0]]
        return padded.ravel()
    within = np.arange(row[-1]) - np.repeat(row[:-1], widths)
    source = np.repeat(starts[:-1], widths) + np.minimum(within, np.repeat(lengths - 1, widths))
    return np.asarray(values[source])


def _general_tables(problem: Problem, places: Places, rows: Indices, table: Indices) -> Costs:
    """The tables of the binary factors in `rows` both ways round, padded; `table` gets where each place's begins."""
    if len(rows) == 0:
        return np.zeros(0)
    sizes = problem.domain_sizes[places.scopes[rows]]
    chosen = problem.factor_table[places.factors[rows]]
    keys = chosen * (int(sizes.max()) + 1) + sizes[:, 0]  # one table may serve factors of other shapes
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    begin = problem.pool_offsets[chosen[first]]
    shapes = sizes[first]
    parts, position = [], 0
    starts = np.zeros((len(first), 2), dtype=np.int64)
    for side in (0, 1):
        lanes, others = shapes[:, side], shapes[:, 1 - side]
        widths = -(-lanes // WIDTH) * WIDTH
        lane_stride = shapes[:, 1] if side == 0 else np.ones_like(lanes)
        other_stride = np.ones_like(lanes) if side == 0 else shapes[:, 1]
        ends = offsets_of(widths * others)
        which = np.repeat(np.arange(len(first)), widths * others)
        within = np.arange(ends[-1]) - ends[which]
        lane = np.minimum(within % widths[which], lanes[which] - 1)
        source = begin[which] + lane * lane_stride[which] + (within // widths[which]) * other_stride[which]
        parts.append(problem.pool[source])
        starts[:, side] = position + ends[:-1]
        position += int(ends[-1])
    table[places.place[rows]] = starts[inverse]
    return np.concatenate(parts)
