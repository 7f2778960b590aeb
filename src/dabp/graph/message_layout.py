"""How messages and tables lie in memory for the min-sum kernels: padded to whole vectors, each row where it is used.

A message of a variable with D values takes D numbers rounded up to whole vectors. Padded lanes of tables and unary
costs hold `PADDING`, so they never win a minimum, and padded lanes of ``v2f`` are 0.

The messages of one variable lie side by side, and so do the tables of its factors, so that the update of a variable
reads memory in order, except for the neighbours' messages. A message of a split copy with scale s is stored divided by
s: as min(s·T + m) = s·min(T + m/s), all copies read one table.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from dabp.graph import FactorGraph
from dabp.graph.grouping import grouped
from dabp.kernels.atomics import zeros_apart
from dabp.kernels.belief_propagation.message_arrays import (
    EARLY,
    PADDING,
    ExactCosts,
    Ints,
    Layout,
    Many,
    Pairs,
    Reals,
    Variables,
)
from dabp.kernels.belief_propagation.pair_layout import Edges, PairColumns, PairGroups, fill_pairs
from dabp.problem import Problem
from dabp.problem.columns import as_fixed, cell_strides, offsets_of
from dabp.problem.facts import structural


def lane_count(graph: FactorGraph) -> int:
    """The lanes of vectors: 2 (float32 only) or 4 for small domains, else 8, or 16 of float32 where that pays."""
    single, largest = graph.dtype == np.float32, int(graph.domain_sizes.max(initial=1))
    if largest <= 4:
        return 2 if single and largest <= 2 else 4
    if not single:
        return 8
    degree = np.diff(graph.variable_edge_offsets) if graph.num_edges else 1
    eights, sixteens = (int((degree * _whole(graph.domain_sizes, lanes) // lanes).sum()) for lanes in (8, 16))
    return 8 if eights <= 1.25 * sixteens else 16


def make_layout(problem: Problem, graph: FactorGraph, lanes: int, *, soft: bool = False) -> Layout:
    """Lay out `graph`, which was made from `problem`, for vectors of `lanes` numbers.

    For messages at a temperature (`soft`) the least cost of each table is taken off it, as constants of messages reduce
    the range of sums, and padded lanes of tables of two variables hold 0.
    """
    frame = _frame_of(problem, graph, lanes)
    unary = _padded(graph, frame.variables.unary_start, PADDING, graph.unary)
    return Layout(
        variables=frame.variables._replace(unary=unary),
        tables=_all_tables(graph, frame.stacks, lanes, soft),
        pairs=frame.pairs,
        many=frame.many,
        exact=frame.exact._replace(pool=problem.pool),
    )


class _Stack(NamedTuple):
    """The tables of one shape as they lie in memory, those of two variables in one of two orientations."""

    group: int
    """The number of their group in the graph."""
    turned: bool
    """Whether lanes run over the first of two variables, not over the last."""
    step: int
    """Distance between rows."""
    table_order: Ints
    """[U]: the tables, in the order in which they lie in memory."""
    start: int
    stop: int


class _Frame(NamedTuple):
    """The parts of a layout that do not depend on costs; `unary` and `pool` are empty."""

    variables: Variables
    stacks: tuple[_Stack, ...]
    pairs: Pairs
    many: Many
    exact: ExactCosts


def _frame_of(problem: Problem, graph: FactorGraph, lanes: int) -> _Frame:
    """The frame for a graph, made once for problems of one structure; some are kept for each structure."""
    frames = structural(problem, _frames, bulky=True)
    key = (graph.scales, lanes, graph.dtype.str)
    frame = frames.get(key)  # two threads may make the same frame
    if frame is None:
        if len(frames) >= 8:
            frames.clear()
        variables, stacks = _variables(graph, lanes), list[_Stack]()
        pairs, many = _pairs(graph, lanes, variables, stacks), _many(graph, lanes, variables, stacks)
        frame = frames[key] = _Frame(variables, tuple(stacks), pairs, many, _exact_costs(problem, graph))
    return frame


def _frames(problem: Problem) -> dict[tuple[Any, ...], _Frame]:
    return {}


def _padded(graph: FactorGraph, starts: Ints, padding: float, values: Any) -> Reals:
    """`put_values` into an array that holds `padding` elsewhere."""
    padded = zeros_apart(int(starts[-1]), graph.dtype)
    padded[:] = padding
    put_values(graph, starts, values, padded)
    return padded


def put_values(graph: FactorGraph, starts: Ints, values: Any, padded: Reals) -> None:
    """Write numbers of all values of all variables, or one for all, to a padded array of unary costs."""
    sizes = graph.domain_sizes
    if len(sizes) and (sizes == sizes[0]).all():
        rows = padded.reshape(len(sizes), -1)[:, : sizes[0]]
        rows[:] = values.reshape(rows.shape) if isinstance(values, np.ndarray) else values
    else:
        count = int(graph.variable_offsets[-1])
        padded[np.repeat(starts[:-1] - graph.variable_offsets[:-1], sizes) + np.arange(count)] = values


def _variables(graph: FactorGraph, lanes: int) -> Variables:
    """Slices of variables and edges."""
    width = _whole(graph.domain_sizes, lanes)
    unary_start = offsets_of(width)
    mask = _padded(graph, unary_start, 0.0, 1.0)
    scales = np.resize(np.array(graph.scales, dtype=graph.dtype), 2)
    return Variables(
        domain=graph.domain_sizes,
        unary_start=unary_start,
        edge_start=graph.variable_edge_offsets,
        step=_step(graph.domain_sizes, lanes),
        message_start=offsets_of(np.diff(graph.variable_edge_offsets) * width),
        unary=mask[:0],
        mask=mask,
        scales=scales,
        inverse=1.0 / scales.astype(np.float64),
    )


def _joined(parts: list[Ints], *shape: int) -> Ints:
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros((0, *shape), dtype=np.int64), *parts])


def _whole(size: Any, lanes: int) -> Any:
    """A size or sizes, rounded up to whole vectors."""
    return -(-size // lanes) * lanes


def _step(size: Any, lanes: int) -> Any:
    """The distance between rows of tables of two variables.

    Rows are padded to whole vectors if the values fill three quarters of them. Otherwise rows follow each other, and
    lanes past a row's end read the next row: their results are in padded lanes of f2v, where any finite number will do.
    """
    whole = _whole(size, lanes)
    return np.where(size <= 0.75 * whole, size, whole)


def _all_tables(graph: FactorGraph, stacks: tuple[_Stack, ...], lanes: int, soft: bool) -> Reals:
    """The tables as they lie in memory, and as many zeros as lanes: a last row may be read past its end."""
    result = zeros_apart(stacks[-1].stop + lanes if stacks else lanes, graph.dtype)
    for stack in stacks:
        own = graph.groups[stack.group].tables
        rows = result[stack.start : stack.stop].reshape(len(own), -1, stack.step)
        block = max(1, 2**20 // max(1, rows[:1].size))
        for start in range(0, len(own), block):
            chosen = own[stack.table_order[start : start + block]]
            if soft:
                chosen -= chosen.min(axis=tuple(range(1, chosen.ndim)), keepdims=True)
            turned = chosen.transpose(0, 2, 1) if stack.turned else chosen
            size = turned.shape[-1]
            rows[start : start + block, :, :size] = turned.reshape(len(chosen), -1, size)
            rows[start : start + block, :, size:] = 0.0 if soft and own.ndim == 3 else PADDING
    return result


def _pairs(graph: FactorGraph, lanes: int, variables: Variables, stacks: list[_Stack]) -> Pairs:
    """The factors of arity 2 as variables read them; their tables are added to `stacks`."""
    count, tables = graph.num_edges // len(graph.scales), sum(len(g.tables) for g in graph.groups if g.arity == 2)
    table, source = np.full(count + EARLY, -1, dtype=np.int64), np.zeros(count + EARLY, dtype=np.int32)
    columns = PairColumns(
        table=table[:count],
        source=source,
        rows=np.empty(count, dtype=np.int32),
        number=np.full((2, tables), -1, dtype=np.int64),
        table_order=np.empty((2, tables), dtype=np.int64),
        used=np.zeros((len(graph.groups), 2), dtype=np.int64),
    )
    groups = _pair_groups(graph, lanes)
    if count:
        width = np.diff(variables.unary_start)
        edges = Edges(
            by_variable=as_fixed(graph.variable_edges),
            start=as_fixed(graph.variable_edge_offsets),
            unary_start=as_fixed(variables.unary_start),
            message_start=as_fixed(variables.message_start),
            uniform=int(width[0]) if (width == width[0]).all() else 0,
            copies=len(graph.scales),
        )
        rank = np.empty(graph.num_edges, dtype=np.int32)
        rank[graph.variable_edges] = np.arange(graph.num_edges)
        fill_pairs(edges, groups, rank, columns)
    for number, side in itertools.product(np.flatnonzero(groups.binary).tolist(), range(2)):
        first, tables = groups.table[number], len(graph.groups[number].tables)
        start, cells = int(groups.stack[number, side]), int(groups.cells[number, side])
        order = columns.table_order[side, first : first + tables]
        step = cells // int(groups.senders[number, side])
        stacks.append(_Stack(number, side == 0, step, order, start, start + tables * cells))
    return Pairs(columns.table, columns.source, columns.rows)


def _pair_groups(graph: FactorGraph, lanes: int) -> PairGroups:
    """The groups as kernels read them; the tables of each group and side lie one after the other."""
    factors = np.array([group.num_factors for group in graph.groups], dtype=np.int64)
    tables = np.array([len(group.tables) for group in graph.groups], dtype=np.int64)
    binary = np.array([group.arity == 2 for group in graph.groups], dtype=np.bool_)
    shapes = np.array([group.shape if group.arity == 2 else (0, 0) for group in graph.groups], dtype=np.int64)
    senders = shapes.reshape(-1, 2)[:, ::-1].copy()
    cells = senders * _step(shapes.reshape(-1, 2), lanes)
    return PairGroups(
        first=np.array([group.first for group in graph.groups], dtype=np.int64),
        binary=binary,
        factor=offsets_of(factors * binary)[:-1].copy(),
        table=offsets_of(tables * binary)[:-1].copy(),
        senders=senders,
        cells=cells,
        stack=offsets_of((tables[:, None] * cells).ravel())[:-1].reshape(-1, 2).copy(),
        scope=as_fixed(_joined([group.scope.ravel() for group in graph.groups if group.arity == 2])),
        table_index=as_fixed(_joined([group.table_index for group in graph.groups if group.arity == 2])),
    )


def _many(graph: FactorGraph, lanes: int, variables: Variables, stacks: list[_Stack]) -> Many:
    """The factors of higher arity; their tables are added to `stacks`."""
    copies, position = len(graph.scales), np.zeros(0, dtype=np.int64)
    if any(group.arity > 2 for group in graph.groups):
        position = np.empty(graph.num_edges, dtype=np.int64)  # of the message of each edge
        widths = np.diff(variables.unary_start).repeat(np.diff(graph.variable_edge_offsets))
        position[graph.variable_edges] = offsets_of(widths)[:-1]
    arities, domains, messages, tables = [], [], [], []
    for number, group in enumerate(graph.groups):
        if group.arity == 2:
            continue
        start, step = stacks[-1].stop if stacks else 0, int(_whole(group.shape[-1], lanes))
        size, count = math.prod(group.shape[:-1]) * step, len(group.tables)
        stacks.append(_Stack(number, False, step, np.arange(count), start, start + count * size))
        edges = group.first + np.arange(group.num_factors * copies * group.arity)
        message = position[edges].reshape(group.num_factors, copies, group.arity).transpose(0, 2, 1)
        arities.append(np.full(group.num_factors, group.arity))
        domains.append(np.tile(np.array(group.shape), group.num_factors))
        messages.append(message.reshape(-1, copies))
        tables.append(start + group.table_index * size)
    return Many(
        start=offsets_of(_joined(arities)),
        domain=_joined(domains),
        message=_joined(messages, copies),
        table=_joined(tables),
    )


def _factors_of_variables(problem: Problem, graph: FactorGraph) -> tuple[Ints, Ints]:
    """The factors of each variable, and where they start."""
    if len(graph.scales) == 1 and [group.num_factors for group in graph.groups] == [problem.num_factors]:
        arity, edges = graph.groups[0].arity, graph.variable_edges  # which are entries of scopes
        return edges >> 1 if arity == 2 else edges // arity, graph.variable_edge_offsets
    entries, factor_start = grouped(problem.scope_variables, problem.num_variables)
    return np.repeat(np.arange(problem.num_factors), problem.arities)[entries], factor_start


def _exact_costs(problem: Problem, graph: FactorGraph) -> ExactCosts:
    factor_of, factor_start = _factors_of_variables(problem, graph)
    return ExactCosts(
        start=problem.scope_offsets,
        variable=problem.scope_variables,
        stride=cell_strides(problem),
        base=problem.pool_offsets[problem.factor_table],
        factor_start=factor_start,
        factor_of=factor_of,
        pool=problem.pool[:0],
    )
