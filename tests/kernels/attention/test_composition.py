"""New messages from damping and weighted sums (Eq. 6): what `tests/solvers/dabp/test_compiled.py` does not compare."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.composition import Edges, Parts, compose, compose_backward


@pytest.mark.parametrize("more", [0, 5, 6, 13])
def test_a_tied_minimum_shares_its_gradient(more: int) -> None:
    """Two values that are both least get half of what the shift takes, as in PyTorch's amin; at any domain size."""
    far = np.full(more, 9.0)
    edges = Edges(np.array([3 + more]), np.array([False]), np.zeros((1, 3 + more)))
    old, others = (np.concatenate([far, one])[None] for one in ([1.0, 1.0, 4.0], [2.0, 2.0, 8.0]))
    parts = Parts(np.array([0.5]), old, others)
    new, made = np.empty(old.shape), Parts(np.empty(1), np.empty(old.shape), np.empty(old.shape))
    compose(0, 1, edges, parts, new)
    gradient = np.zeros(old.shape)
    gradient[0, -1] = 1.0
    compose_backward(0, 1, edges, parts, new, gradient, made)
    assert made.v2f.tolist() == [[0.0] * more + [-0.25, -0.25, 0.5]]
    assert made.damping.tolist() == [-3.0]
