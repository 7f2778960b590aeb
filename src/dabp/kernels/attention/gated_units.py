# mypy: disable-error-code="untyped-decorator"
"""A cell of gated recurrent units (GRU) for many rows, forwards and backwards; blocks of rows as in `dense`.

With i = x W + b of the inputs and h = s U + c of the state: r = σ(i_r + h_r), z = σ(i_z + h_z), n = tanh(i_n + r h_n),
new = n + z (s − n). Only inputs and states are stored: gates are computed again for the gradients.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.attention.dense import AT_ONCE, BLOCK, LANES, ROWS, Floats, add_rows, product, sigmoid_of
from dabp.kernels.decorators import kernel, part
from dabp.kernels.simd import full_like, load, store

HIDDEN = BLOCK
"""Units of the cell, one vector a row."""
GATES = 3 * HIDDEN
"""Columns of r, z and n."""


class Columns(NamedTuple):
    """A cell's parameters, one column for each gate and unit."""

    inputs: Floats  # W, [D, 3 units]
    state: Floats  # U, [units, 3 units]
    input_bias: Floats  # b, [3 units]
    state_bias: Floats  # c, [3 units]


@part(_nrt=False)
def _gates(cell: Columns, x: Floats, state: Floats, of_input: Floats, of_state: Floats) -> None:
    """Write i and h of some rows, [AT_ONCE, 3 units] each."""
    for r in range(len(x)):
        for n in range(0, GATES, HIDDEN):
            store(of_input, r * GATES + n, load(cell.input_bias, n, LANES))
            store(of_state, r * GATES + n, load(cell.state_bias, n, LANES))
    product(x, cell.inputs, of_input[: len(x)], False)
    product(state, cell.state, of_state[: len(x)], False)


@part(_nrt=False)
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
        _gates(cell, x[row : row + rows], state[row : row + rows], of_input, of_state)
        for r in range(rows):
            i = r * GATES
            reset = sigmoid_of(load(of_input, i, LANES) + load(of_state, i, LANES))
            update = sigmoid_of(load(of_input, i + HIDDEN, LANES) + load(of_state, i + HIDDEN, LANES))
            fresh = _tanh(load(of_input, i + 2 * HIDDEN, LANES) + reset * load(of_state, i + 2 * HIDDEN, LANES))
            before = load(state, (row + r) * HIDDEN, LANES)
            store(new, (row + r) * HIDDEN, fresh + update * (before - fresh))


@kernel
def advance_backward(
    first: int, last: int, cell: Columns, rows_of_state: Floats, x: Floats, state: Floats, gradient: Floats,
    grad_state: Floats, sums: Floats,
) -> None:  # fmt: skip
    """Write the gradient of the states, and the blocks' sums of those of the parameters, given that of the new states.

    `rows_of_state` is Uᵀ, [3 units, units]; `sums` [blocks, D + 1 + units + 1, 3 units] has W, b, U and c one
    below the other. No gradient of the inputs is computed.
    """
    inputs = len(cell.inputs)
    of_input, of_state = np.empty((AT_ONCE, GATES), x.dtype), np.empty((AT_ONCE, GATES), x.dtype)
    for block in range(first, last):
        own = sums[block]
        own[:, :] = x.dtype.type(0.0)
        end = min((block + 1) * ROWS, len(x))
        for row in range(block * ROWS, end, AT_ONCE):
            here = slice(row, min(row + AT_ONCE, end))
            near, before = x[here], state[here]
            _gates(cell, near, before, of_input, of_state)
            _gate_gradients(before, gradient[here], of_input, of_state, grad_state[here])
            changed_input, changed_state = of_input[: len(near)], of_state[: len(near)]
            product(changed_state, rows_of_state, grad_state[here], False)
            product(near.T, changed_input, own[:inputs], False)
            add_rows(changed_input, own[inputs])
            product(before.T, changed_state, own[inputs + 1 : inputs + 1 + HIDDEN], False)
            add_rows(changed_state, own[inputs + 1 + HIDDEN])


@part(_nrt=False)
def _gate_gradients(state: Floats, gradient: Floats, of_input: Floats, of_state: Floats, grad_state: Floats) -> None:
    """Replace i and h by their gradients; of the state's write what does not go through the gates."""
    for r in range(len(state)):
        i, place = r * GATES, r * HIDDEN
        given, before = load(gradient, place, LANES), load(state, place, LANES)
        one, candidate = full_like(1.0, given), load(of_state, i + 2 * HIDDEN, LANES)
        reset = sigmoid_of(load(of_input, i, LANES) + load(of_state, i, LANES))
        update = sigmoid_of(load(of_input, i + HIDDEN, LANES) + load(of_state, i + HIDDEN, LANES))
        fresh = _tanh(load(of_input, i + 2 * HIDDEN, LANES) + reset * candidate)
        through = given * update
        of_fresh = (given - through) * (one - fresh * fresh)
        of_reset = of_fresh * candidate * (one - reset) * reset
        of_update = given * (before - fresh) * (one - update) * update
        store(grad_state, place, through)
        store(of_input, i, of_reset)
        store(of_state, i, of_reset)
        store(of_input, i + HIDDEN, of_update)
        store(of_state, i + HIDDEN, of_update)
        store(of_input, i + 2 * HIDDEN, of_fresh)
        store(of_state, i + 2 * HIDDEN, of_fresh * reset)
