"""Proofs of eigenvalues: never beyond what another library computes, dense and sparse alike."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.semidefinite.mixing import Matrix, factorise_dense, mix
from dabp.problem.columns import offsets_of
from dabp.solvers.semidefinite.proof import Proof


def drawn(seed: int, count: int, density: float) -> tuple[Matrix, np.ndarray]:
    """A symmetric matrix without diagonal, in compressed rows and whole."""
    rng = np.random.default_rng(seed)
    whole = np.triu(rng.normal(size=(count, count)) * (rng.random((count, count)) < density), 1)
    whole = whole + whole.T
    rows, columns = np.nonzero(whole)
    offsets = offsets_of(np.bincount(rows, minlength=count))
    return Matrix(offsets, columns.astype(np.int64), whole[rows, columns]), whole


@pytest.mark.parametrize(("count", "density"), [(5, 0.6), (40, 0.9), (150, 0.01), (60, 0.05)])
def test_what_is_proved_holds(count: int, density: float) -> None:
    """Shifted to just above and just below its least eigenvalue: a proof there, none here."""
    kinds = set()
    for seed in range(20):
        matrix, whole = drawn(seed, count, density)
        proof = Proof(matrix)
        kinds.add(proof.dense)
        diagonal = np.random.default_rng(seed).uniform(0.1, 1.0, count)
        diagonal += max(0.0, -np.linalg.eigvalsh(whole + np.diag(diagonal))[0])
        least = proof.least(diagonal + 1e-7)
        assert -1e-6 < least <= 0.0
        if np.linalg.eigvalsh(whole + np.diag(diagonal))[0] < 1e-9:
            assert proof.least(diagonal - 1e-7) == -np.inf
    assert (density > 0.1) in kinds


def test_the_dense_factor_is_cholesky_s() -> None:
    """Of sizes around the eight rows that are factorised together, as NumPy has it."""
    for count in (1, 2, 7, 8, 9, 16, 37):
        root = np.random.default_rng(count).normal(size=(count, count))
        whole = root @ root.T + np.eye(count)
        lower = whole.copy()
        assert factorise_dense(lower)
        assert np.tril(lower) == pytest.approx(np.linalg.cholesky(whole), abs=1e-12)


def test_a_minimum_of_the_relaxation_is_dual_feasible() -> None:
    """After many sweeps J + diag(‖g‖) has no negative eigenvalue but for rounding."""
    matrix, whole = drawn(3, 30, 0.3)
    vectors = np.random.default_rng(0).normal(size=(30, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    norms = np.zeros(30)
    mix(matrix, vectors, norms, np.zeros(16), 5_000)
    assert np.linalg.eigvalsh(whole + np.diag(norms))[0] > -1e-6
    assert 0.5 * np.sum(whole * (vectors @ vectors.T)) == pytest.approx(-0.5 * norms.sum(), rel=1e-9)
