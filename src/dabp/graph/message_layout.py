"""How messages and tables lie in memory for the min-sum kernels: padded to whole vectors, each row where it is used.

Padding is this module's own affair. A message of a variable with D values takes D rounded up to whole vectors;
padded lanes of tables and unary costs hold `PADDING`, so they never win a minimum, and padded lanes of ``v2f`` are 0.

The messages of one variable lie side by side, and so do the tables that it hears its neighbours through, so that the
update of a variable reads memory in order, but for the neighbours' messages. A message of
a split copy with scale s is stored divided by s: as min(s·T + m) = s·min(T + m/s), all copies read one table.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dabp.graph import FactorGraph
from dabp.graph.grouping import grouped
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
from dabp.kernels.belief_propagation.pair_layout import Edges, PairColumns, PairGroups, fill_pairs, fill_ranks
from dabp.kernels.belief_propagation.pricing import LARGEST
from dabp.problem import Problem
from dabp.problem.columns import as_fixed, cell_strides, offsets_of
from dabp.problem.facts import structural

KEPT_FRAMES = 8
"""Frames that are kept of one structure: for a few widths of vectors and ratios of splitting."""
BLOCK = 2**20
"""Numbers of tables that are laid out at a time."""
EXACT = 2.0**53
"""Whole numbers up to this are exact."""
COMPACT = 0.75
"""Rows of tables are padded to whole vectors if the values fill more than this share of them."""


def aligned_zeros(count: int, dtype: Any) -> Reals:
    """Zeros that start at a cache line: vectors of whole lines then never straddle two."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count + 64 // size, dtype=dtype)
    skip = (-room.__array_interface__["data"][0] % 64) // size
    return room[skip : skip + count]


def lane_count(graph: FactorGraph) -> int:
    """As many lanes as the largest domain needs: 2 (of float32 only) or 4 where it is small, else 8.

    16 in single precision where that saves a quarter of the vectors.
    """
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

    For messages at a temperature (`soft`) the least cost of each table is taken off it, as a constant of messages would
    take up the range of their sums, and padded lanes of tables of two variables hold 0.
    """
    frame = _frame_of(problem, graph, lanes)
    unary = _padded(graph, frame.variables.unary_start, PADDING, graph.unary)
    return Layout(
        variables=frame.variables._replace(unary=unary),
        tables=_all_tables(graph, frame.stacks, lanes, soft),
        pairs=frame.pairs,
        many=frame.many,
        exact=frame.exact._replace(pool=problem.pool, unit=0.0 if soft else _unit(problem, graph)),
    )


def _unit(problem: Problem, graph: FactorGraph) -> float:
    """What numbers of tables are multiplied by to be nearest to the costs, if these are whole numbers."""
    if any(group.arity != 2 for group in graph.groups) or problem.facts.forbidding.any() or not problem.facts.integral:
        return 0.0
    if graph.shifted:
        return 0.0
    largest = max(float(np.abs(ends).max(initial=0.0)) for ends in problem.facts.finite_extremes)
    if largest > LARGEST or problem.facts.magnitude > EXACT:
        return 0.0
    return graph.cost_scale


class _Stack(NamedTuple):
    """The tables of one shape as they lie in memory, those of two variables in one of two orientations."""

    group: int
    """Which group of the graph they are of."""
    turned: bool
    """Whether lanes run over the first of two variables, and not over the last of all."""
    step: int
    """Distance between rows."""
    table_order: Ints
    """[U]: its tables, in the order in which they lie here."""
    start: int
    stop: int


class _Frame(NamedTuple):
    """All of a layout that no cost enters; `unary` and `pool` are empty."""

    variables: Variables
    stacks: tuple[_Stack, ...]
    pairs: Pairs
    many: Many
    exact: ExactCosts


def _frame_of(problem: Problem, graph: FactorGraph, lanes: int) -> _Frame:
    """The frame for a graph, made once for problems of one structure."""
    frames = structural(problem, _frames, bulky=True)
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
    variables = _variables(graph, lanes)
    stacks: list[_Stack] = []
    pairs = _pairs(graph, lanes, variables, stacks)
    many = _many(graph, lanes, variables, stacks)
    return _Frame(variables, tuple(stacks), pairs, many, exact=_exact_costs(problem, graph))


def _padded(graph: FactorGraph, starts: Ints, padding: float, values: Any) -> Reals:
    """Numbers of all values of all variables, or one for all, where unary costs lie, and `padding` elsewhere."""
    padded = aligned_zeros(int(starts[-1]), graph.dtype)
    if padding:
        padded[:] = padding
    put_values(graph, starts, values, padded)
    return padded


def put_values(graph: FactorGraph, starts: Ints, values: Any, padded: Reals) -> None:
    """Write numbers of all values of all variables, or one for all, where unary costs lie."""
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
        step=np.where(graph.domain_sizes <= COMPACT * width, graph.domain_sizes, width),
        message_start=offsets_of(np.diff(graph.variable_edge_offsets) * width),
        unary=mask[:0],
        mask=mask,
        edge_scale=_edge_scales(graph, scales),
        scales=scales,
        inverse=1.0 / scales.astype(np.float64),
    )


def _edge_scales(graph: FactorGraph, scales: Reals) -> Reals:
    """[E]: the scale of the copy at each edge, edges by variable."""
    if len(graph.scales) == 1:
        return np.full(graph.num_edges, scales[0])
    copies = np.arange(len(graph.scales))
    edge_copy = _joined([np.tile(np.repeat(copies, g.arity), g.num_factors) for g in graph.groups], (0,))
    return scales[edge_copy[graph.variable_edges]]


def _message_positions(graph: FactorGraph, variables: Variables) -> Ints:
    """[E]: where the message of each edge starts; those of a variable lie side by side, edges in order."""
    degree, width = np.diff(graph.variable_edge_offsets), np.diff(variables.unary_start)
    own = np.repeat(np.arange(graph.num_variables), degree)
    rank = np.arange(graph.num_edges) - graph.variable_edge_offsets[own]
    position = np.empty(graph.num_edges, dtype=np.int64)
    position[graph.variable_edges] = variables.message_start[own] + rank * width[own]
    return position


def _joined(parts: list[Ints], empty: tuple[int, ...]) -> Ints:
    return np.ascontiguousarray(np.concatenate([np.zeros(empty, dtype=np.int64), *parts]))


def _by_first_use(order: Ints, index: Ints, tables: int) -> tuple[Ints, Ints]:
    """Tables in the order in which factors first use them, taken in `order`, and the place of each factor's table."""
    used = index[order]
    first = np.empty(tables, dtype=np.int64)
    first[used[::-1]] = np.arange(len(used))[::-1]  # of equals the last, hence first use, stays
    table_order = used[first[used] == np.arange(len(used))]
    place = np.empty_like(table_order)
    place[table_order] = np.arange(tables)
    return table_order, place[index]


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


def _all_tables(graph: FactorGraph, stacks: tuple[_Stack, ...], lanes: int, soft: bool) -> Reals:
    """The tables as they lie in memory, made there a few at a time; a last row may be read past its end."""
    result = aligned_zeros(stacks[-1].stop + lanes if stacks else lanes, graph.dtype)
    for stack in stacks:
        own = graph.groups[stack.group].tables
        rows = result[stack.start : stack.stop].reshape(len(own), -1, stack.step)
        block = max(1, BLOCK // max(1, rows[:1].size))
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
    count = graph.num_edges // len(graph.scales)
    columns = PairColumns(
        table=_with_more(count, -1, np.int64)[:count],
        source=_with_more(count, 0, np.int32),
        rows=np.empty(count, dtype=np.int32),
        other=_with_more(count, 0, np.int32),
        **_unused_tables(graph),
    )
    groups, blocks = _pair_groups(graph, lanes)
    rank = np.empty(graph.num_edges, dtype=np.int32)
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
        fill_ranks(edges.by_variable, rank)
        fill_pairs(edges, groups, rank, columns)
    for number, side in blocks:
        first, tables = groups.table[number], len(graph.groups[number].tables)
        start, cells = groups.stack[number, side], groups.cells[number, side]
        order = columns.table_order[side, first : first + tables]
        step = int(cells // groups.senders[number, side])
        stacks.append(_Stack(number, side == 0, step, order, int(start), int(start + tables * cells)))
    return Pairs(columns.table, columns.source, columns.rows, columns.other)


def _with_more(count: int, filling: int, dtype: Any) -> Any:
    """Room for `count` numbers, and `EARLY` more that are there to be read."""
    column = np.empty(count + EARLY, dtype=dtype)
    column[count:] = filling
    return column


def _unused_tables(graph: FactorGraph) -> dict[str, Ints]:
    """The order of tables in `PairColumns` before any has a place."""
    tables = sum(len(group.tables) for group in graph.groups if group.arity == 2)
    return {
        "number": np.full((2, tables), -1, dtype=np.int64),
        "table_order": np.empty((2, tables), dtype=np.int64),
        "used": np.zeros((len(graph.groups), 2), dtype=np.int64),
    }


def _pair_groups(graph: FactorGraph, lanes: int) -> tuple[PairGroups, list[tuple[int, int]]]:
    """The groups as kernels know them, and the groups and sides whose tables lie one after the other."""
    count = len(graph.groups)
    factor, table = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    senders, cells, stack = (np.zeros((count, 2), dtype=np.int64) for _ in range(3))
    pairs = [(number, group) for number, group in enumerate(graph.groups) if group.arity == 2]
    factors = tables = numbers = 0
    for number, group in pairs:
        factor[number], table[number] = factors, tables
        for side in range(2):
            senders[number, side] = group.shape[1 - side]
            cells[number, side] = group.shape[1 - side] * _step(group.shape[side], lanes)
            stack[number, side] = numbers
            numbers += len(group.tables) * int(cells[number, side])
        factors, tables = factors + group.num_factors, tables + len(group.tables)
    groups = PairGroups(
        first=np.array([group.first for group in graph.groups], dtype=np.int64),
        binary=np.array([group.arity == 2 for group in graph.groups], dtype=np.bool_),
        factor=factor,
        table=table,
        senders=senders,
        cells=cells,
        stack=stack,
        scope=as_fixed(_one_after_another([group.scope.ravel() for _, group in pairs])),
        table_index=as_fixed(_one_after_another([group.table_index for _, group in pairs])),
    )
    return groups, [(number, side) for number, _ in pairs for side in range(2)]


def _one_after_another(parts: list[Ints]) -> Ints:
    return parts[0] if len(parts) == 1 else _joined(parts, (0,))


def _many(graph: FactorGraph, lanes: int, variables: Variables, stacks: list[_Stack]) -> Many:
    """The factors of higher arity by first variable; their tables are added to `stacks`."""
    copies, higher = len(graph.scales), any(group.arity > 2 for group in graph.groups)
    position = _message_positions(graph, variables) if higher else np.zeros(0, dtype=np.int64)
    arities, domains, messages, tables = [], [], [], []
    for number, group in enumerate(graph.groups):
        if group.arity == 2:
            continue
        order = grouped(group.scope.min(axis=1), graph.num_variables)[0]
        table_order, index = _by_first_use(order, group.table_index, len(group.tables))
        start, step = stacks[-1].stop if stacks else 0, int(_whole(group.shape[-1], lanes))
        size = math.prod(group.shape[:-1]) * step
        stacks.append(_Stack(number, False, step, table_order, start, start + len(table_order) * size))
        edges = group.first + np.arange(group.num_factors * copies * group.arity)
        message = position[edges].reshape(group.num_factors, copies, group.arity)[order].transpose(0, 2, 1)
        arities.append(np.full(group.num_factors, group.arity))
        domains.append(np.tile(np.array(group.shape), group.num_factors))
        messages.append(message.reshape(-1, copies))
        tables.append(start + index[order] * size)
    return Many(
        start=offsets_of(_joined(arities, (0,))),
        domain=_joined(domains, (0,)),
        message=_joined(messages, (0, copies)),
        table=_joined(tables, (0,)),
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
        rest=np.flatnonzero(problem.arities != 2),
        unit=0.0,
    )
