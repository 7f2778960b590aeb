# mypy: disable-error-code="untyped-decorator"
"""What a variable whose messages take a vector each hears from a factor of arity 2."""

from __future__ import annotations

from typing import Any

from dabp.kernels.belief_propagation.layout import EARLY, UNIT, Layout
from dabp.kernels.belief_propagation.memory import Memory
from dabp.kernels.belief_propagation.pricing import fetch_table, fetch_value
from dabp.kernels.decorators import part
from dabp.kernels.simd import (
    Lanes,
    as_real,
    item,
    load,
    minimum,
    prefetch_early,
    splat,
    store,
    widened,
)


@part(_nrt=False)
def fetch(layout: Layout, memory: Memory, pricing: bool, at: int) -> None:
    """Ask for what is needed some places after `at`: memory answers late, but to many questions at once."""
    prefetch_early(memory.v2f, UNIT * item(layout.pairs.source, at + EARLY))
    fetch_table(layout, at)
    if pricing:
        fetch_value(layout, memory, at)


@part(_nrt=False)
def _costs(layout: Layout, place: int, lanes: Lanes) -> Any:
    """A row of a table that is kept as bytes, in scaled units."""
    unit = splat(layout.bytes.unit, 0, lanes)
    whole = widened(load(layout.bytes.cells, place, lanes), load(layout.pairs.source, 0, lanes))
    return as_real(whole, unit) * unit


@part(_nrt=False)
def heard_at(layout: Layout, memory: Memory, heard: int, lanes: Lanes, i: int, at: int) -> tuple[Any, Any]:
    """The f2v messages of both copies at a place of a variable whose messages take a vector each, kept at `heard`.

    Those of pairs are made here, unless all have been made before. Without copies both are the same.
    """
    pairs, tables, v2f, f2v = layout.pairs, layout.tables, memory.v2f, memory.f2v
    copies = layout.many.message.shape[1]
    table = item(pairs.table, at)
    if table >= 0 and len(memory.fresh) > 0:
        source, rows, step = UNIT * item(pairs.source, at), item(pairs.rows, at), item(layout.variables.step, i)
        if copies == 1:
            if len(layout.bytes.cells) > 0:
                first = _costs(layout, table, lanes) + splat(v2f, source, lanes)
                for row in range(1, rows):
                    table += step
                    first = minimum(first, _costs(layout, table, lanes) + splat(v2f, source + row, lanes))
            else:
                first = load(tables, table, lanes) + splat(v2f, source, lanes)
                for row in range(1, rows):
                    table += step
                    first = minimum(first, load(tables, table, lanes) + splat(v2f, source + row, lanes))
            store(f2v, heard, first)
            return first, first
        other = source + (rows + len(lanes) - 1) // len(lanes) * len(lanes)
        if len(layout.bytes.cells) > 0:
            costs = _costs(layout, table, lanes)
            first, second = costs + splat(v2f, source, lanes), costs + splat(v2f, other, lanes)
            for row in range(1, rows):
                table += step
                costs = _costs(layout, table, lanes)
                first = minimum(first, costs + splat(v2f, source + row, lanes))
                second = minimum(second, costs + splat(v2f, other + row, lanes))
        else:
            costs = load(tables, table, lanes)
            first, second = costs + splat(v2f, source, lanes), costs + splat(v2f, other, lanes)
            for row in range(1, rows):
                table += step
                costs = load(tables, table, lanes)
                first = minimum(first, costs + splat(v2f, source + row, lanes))
                second = minimum(second, costs + splat(v2f, other + row, lanes))
        store(f2v, heard, first)
        store(f2v, heard + len(lanes), second)
        return first, second
    return load(f2v, heard, lanes), load(f2v, heard + (copies - 1) * len(lanes), lanes)
