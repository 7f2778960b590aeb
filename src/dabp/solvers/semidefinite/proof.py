"""Proofs that a symmetric matrix has no negative eigenvalue: a factorisation that succeeds, rounding included."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.semidefinite.mixing import Factor, Matrix, count_columns, factorise, factorise_dense
from dabp.problem.columns import offsets_of
from dabp.problem.exactness import UNIT_ROUNDOFF

MOST_DENSE = 5_000
"""Rows up to which a matrix of much fill is factorised as a dense one."""

DENSE_WORTH = 8.0
"""Operations of the dense factorisation in the time of one of the sparse one."""

MOST_WORK = 5e9
"""Operations of a sparse factorisation."""

MOST_ENTRIES = 50_000_000
"""Entries of a sparse factor."""


class Proof:
    """Factorises J + diag(d) for one J and many d."""

    def __init__(self, matrix: Matrix):
        self._matrix, n = matrix, len(matrix.offsets) - 1
        parent, mark, count = np.zeros((3, n), dtype=np.int64)
        count_columns(matrix, parent, mark, count)
        sparse, dense = float((count.astype(np.float64) ** 2).sum()), n**3 / 3 / DENSE_WORTH
        self.dense = n <= MOST_DENSE and dense < sparse
        """Whether the factorisation is a dense one."""
        self.possible = self.dense or (sparse <= MOST_WORK and int(count.sum()) <= MOST_ENTRIES)
        """Whether the matrix is small or sparse enough."""
        self.work = dense if self.dense else sparse
        """About the operations of a factorisation."""
        if self.possible and not self.dense:
            entries = int(count.sum())
            self._factor = Factor(
                parent=parent,
                start=offsets_of(count),
                row=np.zeros(entries, dtype=np.int64),
                value=np.zeros(entries),
                pivot=np.zeros(n),
                filled=count,
                mark=mark,
                pattern=np.zeros(2 * n, dtype=np.int64),
                work=np.zeros(n),
            )

    def least(self, diagonal: NDArray[np.float64]) -> float:
        """A proved lower bound on the least eigenvalue of J + diag(diagonal), at most 0; −inf without a proof.

        The factors that rounding makes are those of a matrix whose entries differ by at most γ √(b_ii b_jj) with
        γ = (n + 1) u / (1 − 2 (n + 1) u), whatever the order of the sums. So the least eigenvalue is at least
        −γ Σ_i b_ii; four times that is returned. Reference: S. M. Rump, *Verification of positive definiteness*, BIT
        2006.
        """
        n = len(diagonal)
        if not (np.isfinite(diagonal).all() and (diagonal > 0.0).all()):
            return -math.inf
        positive = self._dense(diagonal) if self.dense else factorise(self._matrix, diagonal, self._factor)
        return -4.0 * (n + 8) * UNIT_ROUNDOFF * math.fsum(diagonal) - n * 1e-290 if positive else -math.inf

    def _dense(self, diagonal: NDArray[np.float64]) -> bool:
        n = len(diagonal)
        rows = np.repeat(np.arange(n), np.diff(self._matrix.offsets))
        whole = np.zeros((n, n))
        whole[rows, self._matrix.target] = self._matrix.weight
        whole[np.arange(n), np.arange(n)] = diagonal
        return bool(factorise_dense(whole))
