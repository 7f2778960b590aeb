# mypy: disable-error-code="untyped-decorator"
"""Coordinate descent on the semidefinite relaxation of quadratic functions of spins (the mixing method)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Matrix(NamedTuple):
    """A symmetric matrix J of n rows without its diagonal, both of its triangles by rows."""

    offsets: Ints  # row i is ``offsets[i]:offsets[i + 1]``, [n + 1]
    target: Ints  # the column of each entry, ascending in a row
    weight: Floats  # J_ij


@kernel(_nrt=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def mix(matrix: Matrix, vectors: Floats, norms: Floats, pull: Floats, sweeps: int) -> None:
    """Sweeps of v_i ← −g_i / ‖g_i‖ with g_i = Σ_j J_ij v_j; `norms` gets ‖g_i‖.

    Each update minimises ½ Σ_ij J_ij ⟨v_i, v_j⟩ over the unit vector v_i. At a minimum of enough dimensions
    J + diag(‖g‖) has no negative eigenvalue. `pull` is room for one vector.
    """
    rank = vectors.shape[1]
    for _ in range(sweeps):
        for i in range(len(norms)):
            pull[:] = 0.0
            for e in range(matrix.offsets[i], matrix.offsets[i + 1]):
                j, weight = matrix.target[e], matrix.weight[e]
                for k in range(rank):
                    pull[k] += weight * vectors[j, k]
            square = 0.0
            for k in range(rank):
                square += pull[k] * pull[k]
            norms[i] = np.sqrt(square)
            if norms[i] > 1e-200:
                scale = -1.0 / norms[i]
                for k in range(rank):
                    vectors[i, k] = scale * pull[k]


@array_kernel
def count_columns(matrix: Matrix, parent: Ints, mark: Ints, count: Ints) -> None:
    """The elimination tree of J in the order of its rows, and the entries of each column of its factor L."""
    for k in range(len(parent)):
        parent[k], mark[k], count[k] = -1, k, 0
        for e in range(matrix.offsets[k], matrix.offsets[k + 1]):
            i = matrix.target[e]
            while i < k and mark[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                count[i] += 1
                mark[i] = k
                i = parent[i]


class Factor(NamedTuple):
    """Room for a factorisation J + D = L · diag(pivot) · Lᵀ; n rows."""

    parent: Ints  # the elimination tree, [n]
    start: Ints  # column i of L begins here, [n + 1]
    row: Ints  # the row of each entry of L
    value: Floats
    pivot: Floats  # [n]
    filled: Ints  # entries of each column so far, [n]
    mark: Ints  # the last row in which each column had an entry, [n]
    pattern: Ints  # [2 n]
    work: Floats  # zeros between calls, [n]


@array_kernel
def factorise(matrix: Matrix, diagonal: Floats, factor: Factor) -> bool:
    """Factorise J + diag(diagonal) row by row; whether all pivots are positive.

    As the LDL of T. A. Davis, *Algorithm 849: a concise sparse Cholesky factorization package*, TOMS 2005.
    """
    n = len(diagonal)
    factor.work[:] = 0.0
    for k in range(n):
        factor.mark[k], factor.filled[k] = k, 0
        pivot, top = diagonal[k], n
        for e in range(matrix.offsets[k], matrix.offsets[k + 1]):
            i = matrix.target[e]
            if i >= k:
                break
            factor.work[i] = matrix.weight[e]
            length = n
            while factor.mark[i] != k:
                factor.pattern[length] = i
                factor.mark[i] = k
                length += 1
                i = factor.parent[i]
            while length > n:
                length -= 1
                top -= 1
                factor.pattern[top] = factor.pattern[length]
        for place in range(top, n):
            i = factor.pattern[place]
            entry, first = factor.work[i], factor.start[i]
            factor.work[i] = 0.0
            last = first + factor.filled[i]
            for e in range(first, last):
                factor.work[factor.row[e]] -= factor.value[e] * entry
            scaled = entry / factor.pivot[i]
            pivot -= scaled * entry
            factor.row[last], factor.value[last] = k, scaled
            factor.filled[i] += 1
        if not pivot > 0.0:
            return False
        factor.pivot[k] = pivot
    return True


@kernel(_nrt=False, fastmath={"contract", "reassoc", "nsz"})
def factorise_dense(a: Floats) -> bool:
    """Cholesky's L in place of the lower triangle of a, eight rows at a time; whether all pivots are positive.

    In one thread: where other threads are at work a LAPACK that starts its own takes ten times as long.
    """
    n = len(a)
    for top in range(0, n, 8):
        for j in range(top if top + 8 <= n else 0):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
            for k in range(j):
                x = a[j, k]
                s0 += x * a[top, k]
                s1 += x * a[top + 1, k]
                s2 += x * a[top + 2, k]
                s3 += x * a[top + 3, k]
                s4 += x * a[top + 4, k]
                s5 += x * a[top + 5, k]
                s6 += x * a[top + 6, k]
                s7 += x * a[top + 7, k]
            pivot = a[j, j]
            a[top, j] = (a[top, j] - s0) / pivot
            a[top + 1, j] = (a[top + 1, j] - s1) / pivot
            a[top + 2, j] = (a[top + 2, j] - s2) / pivot
            a[top + 3, j] = (a[top + 3, j] - s3) / pivot
            a[top + 4, j] = (a[top + 4, j] - s4) / pivot
            a[top + 5, j] = (a[top + 5, j] - s5) / pivot
            a[top + 6, j] = (a[top + 6, j] - s6) / pivot
            a[top + 7, j] = (a[top + 7, j] - s7) / pivot
        for i in range(top, min(top + 8, n)):
            for j in range(top if top + 8 <= n else 0, i + 1):
                total = 0.0
                for k in range(j):
                    total += a[i, k] * a[j, k]
                rest = a[i, j] - total
                if j < i:
                    a[i, j] = rest / a[j, j]
                elif rest > 0.0:
                    a[i, i] = np.sqrt(rest)
                else:
                    return False
    return True


@kernel(_nrt=False, fastmath={"contract", "reassoc", "nsz"})
def sides(vectors: Floats, normal: Floats, above: NDArray[np.bool_]) -> None:
    """Whether each vector is on the side of a hyperplane that its normal points to."""
    for i in range(len(above)):
        total = 0.0
        for k in range(len(normal)):
            total += vectors[i, k] * normal[k]
        above[i] = total >= 0.0
