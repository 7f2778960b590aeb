"""How messages and tables lie in memory for the min-sum kernels: padded to whole vectors, each row where it is used.

Padding is this module's own affair. A message of a variable with D values takes D rounded up to whole vectors;
padded lanes of tables and unary costs hold `PADDING`, so they never win a minimum, and padded lanes of ``v2f`` are 0.

The messages of one variable lie side by side, so that the update of a variable reads memory in order. A message of
a split copy with scale s is stored divided by s: as min(s·T + m) = s·min(T + m/s), all copies read one table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.graph import FactorGraph, FactorGroup
from dabp.kernels.belief_propagation.layout import (
    PADDING,
    ExactCosts,
    Ints,
    Layout,
    Many,
    Pairs,
    PairShape,
    Reals,
    Variables,
)
from dabp.problem import Problem
from dabp.problem.columns import cell_strides, offsets_of

COMPACT = 0.75
"""Rows of tables are padded to whole vectors if the values fill more than this share of them."""


def aligned_zeros(count: int, dtype: Any) -> Reals:
    """Zeros that start at a cache line: vectors of whole lines then never straddle two."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count + 64 // size, dtype=dtype)
    skip = (-room.ctypes.data % 64) // size
    return room[skip : skip + count]


def aligned(values: Reals) -> Reals:
    """A copy that starts at a cache line."""
    result = aligned_zeros(len(values), values.dtype)
    result[:] = values
    return result


def lane_count(graph: FactorGraph) -> int:
    """8 lanes for float64 and small domains, 16 where that saves a quarter of the vectors."""
    if graph.dtype == np.float64:
        return 8
    sizes = graph.domain_sizes[graph.edge_variable] if graph.num_edges else graph.domain_sizes
    eights, sixteens = (float(np.ceil(sizes / lanes).sum()) for lanes in (8, 16))
    return 8 if eights <= 1.25 * sixteens else 16


def make_layout(problem: Problem, graph: FactorGraph, lanes: int) -> Layout:
    """Lay out `graph`, which was made from `problem`, for vectors of `lanes` numbers."""
    copies = len(graph.scales)
    variables = _variables(graph, lanes)
    position = _message_positions(graph, variables.message_start)
    stacks = [_pair_stack(g, position, copies, lanes) for g in graph.groups if g.arity == 2]
    stacks += [_many_stack(g, position, copies, lanes) for g in graph.groups if g.arity > 2]
    first = offsets_of([len(stack.tables) for stack in stacks])
    placed = [s._replace(table=s.table + start) for s, start in zip(stacks, first[:-1].tolist(), strict=True)]
    end = np.zeros(lanes, dtype=graph.dtype)  # a last row may be read past
    return Layout(
        variables=variables,
        tables=aligned(np.concatenate([*(stack.tables for stack in stacks), end])),
        pairs=_pairs([stack for stack in placed if len(stack.shape) == 2], lanes),
        many=_many([stack for stack in placed if len(stack.shape) > 2], copies),
        exact=_exact_costs(problem),
    )


class _Stack(NamedTuple):
    """The factors of one shape as they lie in memory."""

    shape: tuple[int, ...]
    tables: Reals
    """Flat, table after table."""
    table: Ints
    """[G]: where each factor's table starts."""
    message: Ints
    """[G, arity, C]: where its messages start."""
    steps: tuple[int, int] = (0, 0)
    """Arity 2: distances between rows of the two orientations of a table."""


def _variables(graph: FactorGraph, lanes: int) -> Variables:
    """Slices of variables and edges, unary costs padded."""
    width = _whole(graph.domain_sizes, lanes)
    unary_start = offsets_of(width)
    places = np.repeat(unary_start[:-1] - graph.variable_offsets[:-1], graph.domain_sizes) + np.arange(len(graph.unary))
    unary = aligned_zeros(int(unary_start[-1]), graph.dtype)
    unary[:] = PADDING
    unary[places] = graph.unary
    mask = aligned_zeros(len(unary), graph.dtype)
    mask[places] = 1
    copies = np.arange(len(graph.scales))
    edge_copy = _joined([np.tile(np.repeat(copies, g.arity), g.num_factors) for g in graph.groups], (0,))
    return Variables(
        domain=graph.domain_sizes,
        unary_start=unary_start,
        edge_start=graph.variable_edge_offsets,
        message_start=offsets_of(np.diff(graph.variable_edge_offsets) * width),
        unary=unary,
        mask=mask,
        edge_scale=np.array(graph.scales, dtype=graph.dtype)[edge_copy[graph.variable_edges]],
    )


def _message_positions(graph: FactorGraph, message_start: Ints) -> Ints:
    """[E]: where the message of each edge starts; those of a variable lie side by side."""
    degree = np.diff(graph.variable_edge_offsets)
    width = np.diff(message_start) // np.maximum(degree, 1)
    own = np.repeat(np.arange(graph.num_variables), degree)
    rank = np.arange(graph.num_edges) - graph.variable_edge_offsets[own]
    position = np.empty(graph.num_edges, dtype=np.int64)
    position[graph.variable_edges] = message_start[own] + rank * width[own]
    return position


def _joined(parts: list[Ints], empty: tuple[int, ...]) -> Ints:
    return np.ascontiguousarray(np.concatenate([np.zeros(empty, dtype=np.int64), *parts]))


def _in_order(group: FactorGroup) -> tuple[Ints, Ints, Ints]:
    """Factors by first variable, tables by first use: neighbours in memory are then used together."""
    order = np.argsort(group.scope.min(axis=1), kind="stable")
    first = np.empty(len(group.tables), dtype=np.int64)
    first[group.table_index[order[::-1]]] = np.arange(len(order))[::-1]  # of equals the last, hence first use, stays
    tables = np.argsort(first, kind="stable")
    place = np.empty_like(tables)
    place[tables] = np.arange(len(tables))
    return order, tables, place[group.table_index[order]]


def _messages(group: FactorGroup, order: Ints, position: Ints, copies: int) -> Ints:
    """[G, arity, C]: positions of the messages of the ordered factors."""
    edges = group.first + np.arange(group.num_factors * copies * group.arity)
    return position[edges].reshape(group.num_factors, copies, group.arity)[order].transpose(0, 2, 1)


def _padded(tables: Reals, lanes: int) -> Reals:
    """[U, rows, lanes of the last axis], flattened by table."""
    flat = tables.reshape(len(tables), -1, tables.shape[-1])
    result = np.full((*flat.shape[:2], _whole(flat.shape[-1], lanes)), PADDING, dtype=tables.dtype)
    result[..., : flat.shape[-1]] = flat
    return result.reshape(len(tables), -1)


def _whole(size: Any, lanes: int) -> Any:
    """A size or sizes, rounded up to whole vectors."""
    return -(-size // lanes) * lanes


def _rows(tables: Reals, lanes: int) -> tuple[Reals, int]:
    """Rows for `send_pairs` and the distance between them.

    Where padding would be much of a row, rows follow each other closely and the lanes past a row's end read the
    next: what they compute lands in padded lanes of f2v, where any finite number will do.
    """
    size = tables.shape[-1]
    if size <= COMPACT * _whole(size, lanes):
        return tables.reshape(len(tables), -1), size
    return _padded(tables, lanes), _whole(size, lanes)


def _pair_stack(group: FactorGroup, position: Ints, copies: int, lanes: int) -> _Stack:
    """Tables in both orientations, one after the other."""
    order, table_order, index = _in_order(group)
    tables = group.tables[table_order]
    over_first, first_step = _rows(tables.transpose(0, 2, 1), lanes)
    over_second, second_step = _rows(tables, lanes)
    both = np.concatenate([over_first, over_second], axis=1)
    message = _messages(group, order, position, copies)
    return _Stack(group.shape, both.ravel(), index * both.shape[1], message, (first_step, second_step))


def _many_stack(group: FactorGroup, position: Ints, copies: int, lanes: int) -> _Stack:
    """Tables of three and more variables, rows padded."""
    order, table_order, index = _in_order(group)
    tables = _padded(group.tables[table_order], lanes)
    message = _messages(group, order, position, copies)
    return _Stack(group.shape, tables.ravel(), index * tables.shape[1], message)


def _pairs(stacks: list[_Stack], lanes: int) -> Pairs:
    ends = offsets_of([len(stack.table) for stack in stacks]).tolist()
    shapes = [  # a `PairShape` each
        (*ends[k : k + 2], *stack.shape, *(_whole(size, lanes) for size in stack.shape), *stack.steps)
        for k, stack in enumerate(stacks)
    ]
    return Pairs(
        groups=np.array(shapes, dtype=np.int64).reshape(-1, len(PairShape._fields)),
        table=_joined([stack.table for stack in stacks], (0,)),
        message=_joined([stack.message[..., 0] for stack in stacks], (0, 2)),
    )


def _many(stacks: list[_Stack], copies: int) -> Many:
    return Many(
        start=offsets_of(_joined([np.full(len(stack.table), len(stack.shape)) for stack in stacks], (0,))),
        domain=_joined([np.tile(np.array(stack.shape), len(stack.table)) for stack in stacks], (0,)),
        message=_joined([stack.message.reshape(-1, copies) for stack in stacks], (0, copies)),
        table=_joined([stack.table for stack in stacks], (0,)),
    )


def _exact_costs(problem: Problem) -> ExactCosts:
    owner = np.repeat(np.arange(problem.num_factors), problem.arities)
    return ExactCosts(
        start=problem.scope_offsets,
        variable=problem.scope_variables,
        stride=cell_strides(problem),
        base=problem.pool_offsets[problem.factor_table],
        factor_start=offsets_of(np.bincount(problem.scope_variables, minlength=problem.num_variables)),
        factor_of=owner[np.argsort(problem.scope_variables, kind="stable")],
        pool=problem.pool,
    )
