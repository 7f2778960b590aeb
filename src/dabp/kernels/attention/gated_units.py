# mypy: disable-error-code="untyped-decorator"
"""A cell of gated recurrent units (GRU) for many rows, forwards and backwards; blocks of rows as in `dense`.

With i = x W + b of the inputs and h = s U + c of the state: r = σ(i_r + h_r), z = σ(i_z + h_z), n = tanh(i_n + r h_n),
new = n + z (s − n). Nothing but inputs and state is kept: gates are made again on the way back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.dense import AT_ONCE, ROWS, product
from dabp.kernels.attention.vectors import BLOCK, LANES, sigmoid_of
from dabp.kernels.decorators import kernel, part
from dabp.kernels.simd import full_like, load, store

Floats = NDArray[np.floating]

UNITS = BLOCK
"""Of the cell, decided here: a vector holds a row's."""
GATES = 3 * UNITS
"""Columns of r, z and n."""


class Columns(NamedTuple):
    """A cell's parameters."""

    inputs: Floats
    """W, [D, 3 units]."""
    state: Floats
    """U, [units, 3 units]."""
    input_bias: Floats
    """b, [3 units]."""
    state_bias: Floats
    """c, [3 units]."""


@part()
def _gates(row: int, rows: int, cell: Columns, x: Floats, state: Floats, of_input: Floats, of_state: Floats) -> None:
    """Write i and h of some rows from `row` on, [AT_ONCE, 3 units] each."""
    inputs = len(cell.inputs)
    for r in range(rows):
        for n in range(0, GATES, UNITS):
            store(of_input, r * GATES + n, load(cell.input_bias, n, LANES))
            store(of_state, r * GATES + n, load(cell.state_bias, n, LANES))
    product(rows, inputs, x, row * inputs, inputs, 1, cell.inputs, 0, GATES, of_input, 0, False)
    product(rows, UNITS, state, row * UNITS, UNITS, 1, cell.state, 0, GATES, of_state, 0, False)


@part()
def _tanh(x: Any) -> Any:
    two = full_like(2.0, x)
    return two * sigmoid_of(two * x) - full_like(1.0, x)


@kernel
def advance(first: int, last: int, cell: Columns, x: Floats, state: Floats, new: Floats) -> None:
    """Write the new states, [E, units], of blocks first..last − 1 from inputs [E, D] and states."""
    of_input, of_state = np.empty((AT_ONCE, GATES), x.dtype), np.empty((AT_ONCE, GATES), x.dtype)
    end = min(last * ROWS, len(x))
    for row in range(first * ROWS, end, AT_ONCE):
        rows = min(AT_ONCE, end - row)
        _gates(row, rows, cell, x, state, of_input, of_state)
        for r in range(rows):
            i = r * GATES
            reset = sigmoid_of(load(of_input, i, LANES) + load(of_state, i, LANES))
            update = sigmoid_of(load(of_input, i + UNITS, LANES) + load(of_state, i + UNITS, LANES))
            fresh = _tanh(load(of_input, i + 2 * UNITS, LANES) + reset * load(of_state, i + 2 * UNITS, LANES))
            before = load(state, (row + r) * UNITS, LANES)
            store(new, (row + r) * UNITS, fresh + update * (before - fresh))


@kernel
def advance_backward(
    first: int,
    last: int,
    cell: Columns,
    rows_of_state: Floats,
    x: Floats,
    state: Floats,
    gradient: Floats,
    grad_state: Floats,
    sums: Floats,
) -> None:
    """Write the gradient of the states, and the blocks' sums of those of the parameters, given that of the new states.

    `rows_of_state` is Uᵀ, [3 units, units]; `sums` [blocks, D + 1 + units + 1, 3 units] has W, b, U and c one
    below the other. No gradient of the inputs is made.
    """
    inputs = len(cell.inputs)
    of_input, of_state = np.empty((AT_ONCE, GATES), x.dtype), np.empty((AT_ONCE, GATES), x.dtype)
    for block in range(first, last):
        own = block * (inputs + UNITS + 2) * GATES
        for n in range(0, (inputs + UNITS + 2) * GATES, BLOCK):
            store(sums, own + n, full_like(0.0, load(gradient, 0, LANES)))
        end = min((block + 1) * ROWS, len(x))
        for row in range(block * ROWS, end, AT_ONCE):
            rows = min(AT_ONCE, end - row)
            _gates(row, rows, cell, x, state, of_input, of_state)
            _gate_gradients(row, rows, state, gradient, of_input, of_state, grad_state)
            at = row * UNITS
            product(rows, GATES, of_state, 0, GATES, 1, rows_of_state, 0, UNITS, grad_state, at, False)
            place = own
            product(inputs, rows, x, row * inputs, 1, inputs, of_input, 0, GATES, sums, place, False)
            place += inputs * GATES
            _add_rows(rows, of_input, sums, place)
            place += GATES
            product(UNITS, rows, state, at, 1, UNITS, of_state, 0, GATES, sums, place, False)
            _add_rows(rows, of_state, sums, place + UNITS * GATES)


@part()
def _gate_gradients(
    row: int, rows: int, state: Floats, gradient: Floats, of_input: Floats, of_state: Floats, grad_state: Floats
) -> None:
    """Replace i and h by their gradients; of the state's write what does not go through the gates."""
    for r in range(rows):
        i, place = r * GATES, (row + r) * UNITS
        given, before = load(gradient, place, LANES), load(state, place, LANES)
        one, heard = full_like(1.0, given), load(of_state, i + 2 * UNITS, LANES)
        reset = sigmoid_of(load(of_input, i, LANES) + load(of_state, i, LANES))
        update = sigmoid_of(load(of_input, i + UNITS, LANES) + load(of_state, i + UNITS, LANES))
        fresh = _tanh(load(of_input, i + 2 * UNITS, LANES) + reset * heard)
        through = given * update
        of_fresh = (given - through) * (one - fresh * fresh)
        of_reset = of_fresh * heard * (one - reset) * reset
        of_update = given * (before - fresh) * (one - update) * update
        store(grad_state, place, through)
        store(of_input, i, of_reset)
        store(of_state, i, of_reset)
        store(of_input, i + UNITS, of_update)
        store(of_state, i + UNITS, of_update)
        store(of_input, i + 2 * UNITS, of_fresh)
        store(of_state, i + 2 * UNITS, of_fresh * reset)


@part()
def _add_rows(rows: int, values: Floats, sums: Floats, place: int) -> None:
    """Add rows of 3 units up."""
    for n in range(0, GATES, UNITS):
        whole = load(sums, place + n, LANES)
        for r in range(rows):
            whole = whole + load(values, r * GATES + n, LANES)
        store(sums, place + n, whole)
