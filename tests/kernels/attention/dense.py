"""The formulas of the attention kernels (paper Eq. 6 and 9-13) written densely in NumPy, and random inputs for them."""

from __future__ import annotations

import numpy as np

from dabp.kernels.attention.dense import BLOCK
from dabp.kernels.attention.one_variable import Inputs, VariableEdges


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def scores(query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """a_m(ℓ) of Eq. 10, [K, d, d], from [d, K] twice."""
    return sigmoid(query.T[:, :, None] + key.T[:, None, :])


def attention(query: np.ndarray, key: np.ndarray, f2v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """λ [d], (d − 1) Σ w f2v [d, D] and w × (d − 1) [d, d] of one variable, heads averaged (Eq. 11-13)."""
    degree = len(query)
    a = scores(query, key)
    others = ~np.eye(degree, dtype=bool)
    powers = np.exp(a) * others
    weights = (degree - 1) * (powers / powers.sum(2, keepdims=True)).mean(0)
    own = np.einsum("kll->kl", a)
    damping = sigmoid(own - (a * others).sum(2) / (degree - 1)).mean(0)
    return damping, weights @ f2v, weights


def variables(
    degrees: list[int], heads: int, width: int, spread: float, dtype: type = np.float64
) -> tuple[VariableEdges, Inputs]:
    """Variables of these degrees, edges and factors numbered at random."""
    rng = np.random.default_rng(sum(degrees) + heads)
    edges = sum(degrees)
    around = VariableEdges(
        np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64), rng.permutation(edges), rng.permutation(edges)
    )
    key = spread * rng.normal(size=(edges, heads))
    terms = np.concatenate([rng.normal(size=(edges, heads)), key, np.zeros((edges, -2 * heads % BLOCK))], 1)
    return around, Inputs(heads, terms.astype(dtype), rng.normal(size=(edges, width)).astype(dtype))


def query_and_key(inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
    """The two halves of the terms, [F, K] each."""
    heads = inputs.heads
    return inputs.terms[:, :heads], inputs.terms[:, heads : 2 * heads]
