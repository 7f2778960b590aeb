"""Factor→variable messages on padded arrays: minima by brute force, gradients to where the minimum is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.kernels.belief_propagation.min_marginals import Tables, gradients, messages

WIDTH = 4


def case(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tables [3, *shape], which one each of four factors has, scales of two copies, v2f messages."""
    rng = np.random.default_rng(len(shape))
    v2f = np.zeros((4 * 2, len(shape), WIDTH))
    for p, size in enumerate(shape):
        v2f[:, p, :size] = rng.random((8, size))
    return rng.normal(size=(3, *shape)), np.array([0, 2, 1, 2]), np.array([0.95, 0.05]), v2f.reshape(-1, WIDTH)


def brute_force(shape: tuple[int, ...]) -> tuple[np.ndarray, dict[tuple[int, int], tuple[int, ...]]]:
    """Messages, and the cell that each comes from."""
    tables, index, scales, v2f = case(shape)
    result, cells = np.zeros_like(v2f), {}
    for factor, p in itertools.product(range(8), range(len(shape))):
        table = scales[factor % 2] * tables[index[factor // 2]]
        for x in range(shape[p]):

            def cost(cell: tuple[int, ...], factor=factor, p=p, table=table) -> float:  # type: ignore[no-untyped-def]
                sent = (v2f[factor * len(shape) + q, y] for q, y in enumerate(cell) if q != p)
                return float(table[cell]) + sum(sent)

            best = min((cell for cell in np.ndindex(shape) if cell[p] == x), key=cost)
            edge = factor * len(shape) + p
            result[edge, x], cells[edge, x] = cost(best), best
    return result, cells


@pytest.mark.parametrize("shape", [(3, 2), (1, 4), (2, 3, 4), (2, 1, 3, 2)])
def test_messages_are_minima_and_gradients_go_to_their_cells(shape: tuple[int, ...]) -> None:
    """Two copies, shared tables, any arity; a gradient reaches the other variables' values of the minimising cell."""
    tables, index, scales, v2f = case(shape)
    expected, cells = brute_force(shape)
    flat = Tables(tables.reshape(3, -1), index, scales)
    f2v, winners = np.zeros_like(v2f), np.zeros(v2f.shape, dtype=np.int64)
    messages(0, 8, np.array(shape), flat, v2f, f2v, winners)
    np.testing.assert_allclose(f2v, expected, rtol=1e-12)
    given = np.random.default_rng(9).normal(size=v2f.shape)
    wanted = np.zeros_like(v2f)
    for (edge, x), cell in cells.items():
        base = edge - edge % len(shape)
        for q, y in enumerate(cell):
            if base + q != edge:
                wanted[base + q, y] += given[edge, x]
    passed = np.zeros_like(v2f)
    gradients(0, 8, np.array(shape), winners, given, passed)
    np.testing.assert_allclose(passed, wanted, atol=1e-13)
