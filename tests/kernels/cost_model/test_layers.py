"""The steps of an attention layer."""

from __future__ import annotations

import numpy as np

from dabp.kernels.cost_model import layers
from dabp.kernels.cost_model.layers import WIDTH
from tests.kernels.alone import alone

elu = alone(layers.elu)
project = alone(layers.project)


def test_elu_is_right_to_its_promise() -> None:
    """exp(x) − 1 below zero and x above, to 1e-5, also far out and near zero."""
    x = np.concatenate([np.linspace(-40, 5, 999), [-1e-6, 0.0, 1e-6]]).astype(np.float32)
    found = x.copy()
    elu(found)
    np.testing.assert_allclose(found, np.where(x > 0, x, np.expm1(x)), atol=1e-5)


def test_projection_is_a_matrix_product() -> None:
    """The unrolled loop multiplies as NumPy does."""
    rng = np.random.default_rng(0)
    x, matrix = rng.normal(size=WIDTH).astype(np.float32), rng.normal(size=(WIDTH, 16)).astype(np.float32)
    out = np.empty(16, dtype=np.float32)
    project(x, matrix, out)
    np.testing.assert_allclose(out, x @ matrix, rtol=1e-4, atol=1e-5)
