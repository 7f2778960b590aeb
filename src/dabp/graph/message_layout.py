"""How messages and tables lie in memory for the min-sum kernels: padded to whole vectors, each row where it is used.

Padding is this module's own affair. A message of a variable with D values takes D rounded up to whole vectors;
padded lanes of tables and unary costs hold `PADDING`, so they never win a minimum, and padded lanes of ``v2f`` are 0.

The messages of one variable lie side by side, so that the update of a variable reads memory in order. A message of
a split copy with scale s is stored divided by s: as min(s·T + m) = s·min(T + m/s), all copies read one table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.graph import FactorGraph, FactorGroup
from dabp.kernels.belief_propagation.layout import PADDING, Ints, Layout, Reals
from dabp.problem import Problem

COMPACT = 0.75
"""Rows of tables are padded to whole vectors if the values fill more than this share of them."""


def aligned(values: Reals) -> Reals:
    """A copy that starts at a cache line: vectors of whole lines then never straddle two."""
    spare = 64 // values.itemsize
    room = np.empty(len(values) + spare, dtype=values.dtype)
    skip = (-room.ctypes.data % 64) // values.itemsize
    result = room[skip : skip + len(values)]
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
    width = -(-graph.domain_sizes // lanes) * lanes
    degree = np.diff(graph.variable_edge_offsets)
    message_start = _starts(degree * width)
    position = np.empty(graph.num_edges, dtype=np.int64)
    own = np.repeat(np.arange(graph.num_variables), degree)
    rank = np.arange(graph.num_edges) - graph.variable_edge_offsets[own]
    position[graph.variable_edges] = message_start[own] + rank * width[own]

    copies = len(graph.scales)
    edge_copy = _joined([np.tile(np.repeat(np.arange(copies), g.arity), g.num_factors) for g in graph.groups], (0,))
    unary_start = _starts(width)
    places = np.repeat(unary_start[:-1], graph.domain_sizes) + (
        np.arange(len(graph.unary)) - np.repeat(graph.variable_offsets[:-1], graph.domain_sizes)
    )
    unary = np.full(unary_start[-1], PADDING, dtype=graph.dtype)
    unary[places] = graph.unary
    mask = np.zeros_like(unary)
    mask[places] = 1

    pairs = [_pairs(g, position, copies, lanes) for g in graph.groups if g.arity == 2]
    manys = [_manys(g, position, copies, lanes) for g in graph.groups if g.arity > 2]
    pieces = [p["tables"] for p in pairs + manys]
    firsts = _starts([len(piece) for piece in pieces])
    arities = _joined([np.full(len(m["table"]), m["arity"]) for m in manys], (0,))
    return Layout(
        domain=graph.domain_sizes,
        unary_start=unary_start,
        edge_start=graph.variable_edge_offsets,
        message_start=message_start,
        unary=aligned(unary),
        mask=aligned(mask),
        edge_scale=np.array(graph.scales, dtype=graph.dtype)[edge_copy[graph.variable_edges]],
        tables=aligned(np.concatenate([*pieces, np.zeros(lanes, dtype=graph.dtype)])),  # a last row may be read past
        pair_groups=_ranges(pairs),
        pair_table=_joined([p["table"] + first for p, first in zip(pairs, firsts, strict=False)], (0,)),
        pair_message=_joined([p["message"] for p in pairs], (0, 2)),
        many_start=_starts(arities),
        many_domain=_joined([m["domain"] for m in manys], (0,)),
        many_message=_joined([m["message"] for m in manys], (0, copies)),
        many_table=_joined([m["table"] + first for m, first in zip(manys, firsts[len(pairs) :], strict=False)], (0,)),
        **_exact_costs(problem),
    )


def _starts(sizes: Any) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _joined(parts: list[Ints], empty: tuple[int, ...]) -> Ints:
    return np.ascontiguousarray(np.concatenate([np.zeros(empty, dtype=np.int64), *parts]))


def _in_order(group: FactorGroup) -> tuple[Ints, Ints, Ints]:
    """Factors by first variable, tables by first use: neighbours in memory are then used together."""
    order = np.argsort(group.scope.min(axis=1), kind="stable")
    _, first = np.unique(group.table_index[order], return_index=True)
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


def _whole(size: int, lanes: int) -> int:
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


def _pairs(group: FactorGroup, position: Ints, copies: int, lanes: int) -> dict[str, Any]:
    order, table_order, index = _in_order(group)
    tables = group.tables[table_order]
    (over_first, first_step), (over_second, second_step) = (
        _rows(tables.transpose(0, 2, 1), lanes),
        _rows(tables, lanes),
    )
    both = np.concatenate([over_first, over_second], axis=1)
    return {
        "tables": both.ravel(),
        "table": index * both.shape[1],
        "shape": [*group.shape, *(_whole(size, lanes) for size in group.shape), first_step, second_step],
        "message": _messages(group, order, position, copies)[..., 0],
    }


def _ranges(pairs: list[dict[str, Any]]) -> Ints:
    starts = _starts([len(p["table"]) for p in pairs]).tolist()
    rows = [[*starts[k : k + 2], *p["shape"]] for k, p in enumerate(pairs)]
    return np.array(rows, dtype=np.int64).reshape(-1, 8)


def _manys(group: FactorGroup, position: Ints, copies: int, lanes: int) -> dict[str, Any]:
    order, table_order, index = _in_order(group)
    tables = _padded(group.tables[table_order], lanes)
    return {
        "arity": group.arity,
        "tables": tables.ravel(),
        "table": index * tables.shape[1],
        "domain": np.tile(np.array(group.shape), group.num_factors),
        "message": _messages(group, order, position, copies).reshape(-1, copies),
    }


def _exact_costs(problem: Problem) -> dict[str, Any]:
    stride = np.zeros(len(problem.scope_variables), dtype=np.int64)
    for group in problem.arity_groups:
        places = problem.scope_offsets[group.factors][:, None] + np.arange(group.variables.shape[1])
        stride[places] = group.strides
    owner = np.repeat(np.arange(problem.num_factors), problem.arities)
    return {
        "factor_start": _starts(np.bincount(problem.scope_variables, minlength=problem.num_variables)),
        "factor_of": owner[np.argsort(problem.scope_variables, kind="stable")],
        "cost_start": problem.scope_offsets,
        "cost_variable": problem.scope_variables,
        "cost_stride": stride,
        "cost_base": problem.pool_offsets[problem.factor_table],
        "pool": problem.pool,
    }
