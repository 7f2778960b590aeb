"""How messages and tables lie in memory for the min-sum kernels: padded to whole vectors, each row where it is used.

Padding is this module's own affair. A message of a variable with D values takes D rounded up to whole vectors;
padded lanes of tables and unary costs hold `PADDING`, so they never win a minimum, and padded lanes of ``v2f`` are 0.

The messages of one variable lie side by side, so that the update of a variable reads memory in order. A message of
a split copy with scale s is stored divided by s: as min(s·T + m) = s·min(T + m/s), all copies read one table.
"""

from __future__ import annotations

import math
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

KEPT_FRAMES = 8
"""Frames that are kept of one structure: for a few widths of vectors and ratios of splitting."""
COMPACT = 0.75
"""Rows of tables are padded to whole vectors if the values fill more than this share of them."""


def aligned_zeros(count: int, dtype: Any) -> Reals:
    """Zeros that start at a cache line: vectors of whole lines then never straddle two."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count + 64 // size, dtype=dtype)
    skip = (-room.__array_interface__["data"][0] % 64) // size
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
    frame = _frame_of(problem, graph, lanes)
    unary = aligned_zeros(len(frame.variables.mask), graph.dtype)
    unary[:] = PADDING
    unary[frame.unary_places] = graph.unary
    end = np.zeros(lanes, dtype=graph.dtype)  # a last row may be read past
    tables = [_tables(graph.groups[stack.group].tables[stack.table_order], lanes) for stack in frame.stacks]
    return Layout(
        variables=frame.variables._replace(unary=unary),
        tables=aligned(np.concatenate([*tables, end])),
        pairs=frame.pairs,
        many=frame.many,
        exact=frame.exact._replace(pool=problem.pool),
    )


class _Stack(NamedTuple):
    """The factors of one shape as they lie in memory."""

    shape: tuple[int, ...]
    group: int
    """Which group of the graph they are."""
    table_order: Ints
    """[U]: its tables, in the order in which they lie here."""
    table: Ints
    """[G]: where each factor's table starts."""
    message: Ints
    """[G, arity, C]: where its messages start."""


class _Frame(NamedTuple):
    """All of a layout that no cost enters; `unary` and `pool` are empty."""

    variables: Variables
    unary_places: Ints
    """Where each value's cost lies in the padded `unary`."""
    stacks: tuple[_Stack, ...]
    pairs: Pairs
    many: Many
    exact: ExactCosts


def _frame_of(problem: Problem, graph: FactorGraph, lanes: int) -> _Frame:
    """The frame for a graph, made once for problems of one structure."""
    frames = problem.structural(_frames, bulky=True)
    key = (graph.scales, lanes, graph.dtype.str)
    frame = frames.get(key)  # any thread may ask, and two may make the same
    if frame is None:
        if len(frames) >= KEPT_FRAMES:
            frames.clear()
        frame = frames[key] = _frame(problem, graph, lanes)
    return frame


def _frames(problem: Problem) -> dict[tuple[Any, ...], _Frame]:
    """The frames made for this structure so far."""
    return {}


def _frame(problem: Problem, graph: FactorGraph, lanes: int) -> _Frame:
    copies = len(graph.scales)
    variables, places = _variables(graph, lanes)
    position = _message_positions(graph, variables.message_start)
    stacks: list[_Stack] = []
    start = 0
    numbered = [(number, group) for number, group in enumerate(graph.groups)]
    for number, group in sorted(numbered, key=lambda each: each[1].arity > 2):  # pairs first
        order, table_order, index = _in_order(group)
        size = _table_size(group.shape, lanes)
        message = _messages(group, order, position, copies)
        stacks.append(_Stack(group.shape, number, table_order, start + index * size, message))
        start += size * len(table_order)
    return _Frame(
        variables,
        places,
        tuple(stacks),
        pairs=_pairs([stack for stack in stacks if len(stack.shape) == 2], lanes),
        many=_many([stack for stack in stacks if len(stack.shape) > 2], copies),
        exact=_exact_costs(problem),
    )


def _variables(graph: FactorGraph, lanes: int) -> tuple[Variables, Ints]:
    """Slices of variables and edges, and where the unary costs lie when padded."""
    width = _whole(graph.domain_sizes, lanes)
    unary_start = offsets_of(width)
    places = np.repeat(unary_start[:-1] - graph.variable_offsets[:-1], graph.domain_sizes) + np.arange(len(graph.unary))
    mask = aligned_zeros(int(unary_start[-1]), graph.dtype)
    mask[places] = 1
    copies = np.arange(len(graph.scales))
    edge_copy = _joined([np.tile(np.repeat(copies, g.arity), g.num_factors) for g in graph.groups], (0,))
    variables = Variables(
        domain=graph.domain_sizes,
        unary_start=unary_start,
        edge_start=graph.variable_edge_offsets,
        message_start=offsets_of(np.diff(graph.variable_edge_offsets) * width),
        unary=mask[:0],
        mask=mask,
        edge_scale=np.array(graph.scales, dtype=graph.dtype)[edge_copy[graph.variable_edges]],
    )
    return variables, places


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


def _step(size: int, lanes: int) -> int:
    """The distance between rows of a table of two variables.

    Where padding would be much of a row, rows follow each other closely and the lanes past a row's end read the
    next: what they compute lands in padded lanes of f2v, where any finite number will do.
    """
    whole: int = _whole(size, lanes)
    return size if size <= COMPACT * whole else whole


def _table_size(shape: tuple[int, ...], lanes: int) -> int:
    """Numbers that a table takes: of two variables in both orientations, of more with its rows padded."""
    if len(shape) == 2:
        first, second = shape
        return second * _step(first, lanes) + first * _step(second, lanes)
    return math.prod(shape[:-1]) * int(_whole(shape[-1], lanes))


def _tables(tables: Reals, lanes: int) -> Reals:
    """The tables [U, *shape] as they lie in memory, flat; those of two variables have both orientations in a row."""
    if tables.ndim == 3:
        return np.concatenate([_rows(tables.transpose(0, 2, 1), lanes), _rows(tables, lanes)], axis=1).ravel()
    return _padded(tables, lanes).ravel()


def _rows(tables: Reals, lanes: int) -> Reals:
    """Rows for `send_pairs`, `_step` apart."""
    size = tables.shape[-1]
    return tables.reshape(len(tables), -1) if _step(size, lanes) == size else _padded(tables, lanes)


def _pairs(stacks: list[_Stack], lanes: int) -> Pairs:
    ends = offsets_of([len(stack.table) for stack in stacks]).tolist()
    shapes = [  # a `PairShape` each
        (
            *ends[k : k + 2],
            *stack.shape,
            *(_whole(size, lanes) for size in stack.shape),
            *(_step(size, lanes) for size in stack.shape),
        )
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
        pool=problem.pool[:0],
    )
