"""Messages of pairs in vectors: those of the plain kernels, the first of equal values wins."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.pair_minima import pair_gradients, pair_messages, pair_tables

FACTORS = 6


def case(shape: tuple[int, int], dtype: type) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tables with many ties [4, *shape], which one each factor has, scales of two copies, messages with room beyond."""
    rng, width = np.random.default_rng(sum(shape)), max(shape) + 1
    v2f = np.zeros((2 * FACTORS, 2, width), dtype)
    for p, size in enumerate(shape):
        v2f[:, p, :size] = rng.integers(0, 3, size=(2 * FACTORS, size))
    scales = np.array([0.75, 0.25], dtype)
    return rng.integers(-2, 3, size=(4, *shape)).astype(dtype), rng.integers(0, 4, FACTORS), scales, v2f


@pytest.mark.parametrize("shape", [(3, 2), (1, 4), (4, 1), (1, 1), (8, 8), (9, 15), (17, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_minima_and_gradients_to_the_first_of_equals(shape: tuple[int, int], dtype: type) -> None:
    """Shared tables, two copies, shapes below, at and beyond whole vectors; nothing is written beyond a domain."""
    tables, index, scales, v2f = case(shape, dtype)
    flat = v2f.reshape(4 * FACTORS, -1)
    made, winners = np.full_like(flat, -7.0), np.full(flat.shape, -7, dtype=np.int32)
    costs = pair_tables(tables, index, scales)
    pair_messages(0, 2 * FACTORS, costs, flat, made, winners)
    gradient = np.random.default_rng(1).normal(size=flat.shape).astype(dtype)
    passed, wanted = np.zeros_like(flat), np.zeros_like(flat)
    pair_gradients(0, 2 * FACTORS, costs, winners, gradient, passed)
    for factor in range(2 * FACTORS):
        table = scales[factor % 2] * tables[index[factor // 2]]
        for own, other, cells in ((0, 1, table), (1, 0, table.T)):
            edge, size = 2 * factor + own, shape[own]
            totals = cells + v2f[factor, other, : shape[other]]
            np.testing.assert_array_equal(made[edge, :size], totals.min(1))
            np.testing.assert_array_equal(winners[edge, :size], totals.argmin(1))
            np.testing.assert_array_equal(made[edge, size:], -7.0)
            np.add.at(wanted[2 * factor + other], totals.argmin(1), gradient[edge, :size])
    np.testing.assert_allclose(passed, wanted, rtol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_winners_are_values_whatever_is_sent(bad: float) -> None:
    """A message that is not finite, or almost, makes no minimum beyond the domains, where its gradient would go."""
    tables, index, scales, v2f = case((3, 5), np.float32)
    v2f[:, 1, :5] = bad
    v2f[:, 0, 1] = bad
    flat = v2f.reshape(4 * FACTORS, -1)
    made, winners = np.zeros_like(flat), np.zeros(flat.shape, dtype=np.int32)
    pair_messages(0, 2 * FACTORS, pair_tables(-1e33 - tables, index, scales), flat, made, winners)
    assert winners.min() >= 0
    assert winners[0::2].max() < 5
    assert winners[1::2].max() < 3
