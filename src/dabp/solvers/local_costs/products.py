"""Quadratic assignments found in the tables: costs of pairs that are products of a flow and a distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.presolve.merging import merge_factors
from dabp.problem import Problem
from dabp.problem.columns import unary_costs
from dabp.problem.facts import derived
from dabp.solvers.local_costs.exchanges import labelled_cliques

LARGEST = 2.0**50
"""Totals beyond this are not handled."""

Matrices = NDArray[np.int64]


class Products(NamedTuple):
    """Twice the cost of a permutation p is ½ Σ_k Σ_ij G_k[i, j] · D_k[p(i), p(j)] + Σ_i own[i, p(i)] + a constant.

    Of a first layer both matrices are symmetric, of a second one antisymmetric; diagonals are 0.
    """

    flow: Matrices  # G, [K, n, n]
    distance: Matrices  # D, [K, n, n]
    own: Matrices  # [n, n]


class _Layer(NamedTuple):
    """The factor of each table in a common matrix."""

    factor: NDArray[np.int64]
    common: NDArray[np.int64]


def products_of(problem: Problem) -> Products | None:
    """The products; None if the tables are no such products, or if not every permutation is allowed."""
    whole = merge_factors(problem, folding=False)
    n = whole.num_variables
    if not whole.facts.integral or whole.facts.magnitude > LARGEST or whole.arities.max(initial=0) != 2:
        return None
    cliques = derived(whole, labelled_cliques)
    if len(cliques) != 1 or not cliques[0].alone or cliques[0].value.shape != (n, n):
        return None
    own, _ = unary_costs(whole)
    if (cliques[0].value != np.arange(n)).any() or not np.isfinite(own).all():
        return None
    [group] = [group for group in whole.facts.arity_groups if group.variables.shape[1] == 2]
    used, which = np.unique(whole.factor_table[group.factors], return_inverse=True)
    tables = whole.pool[whole.pool_offsets[used][:, None] + np.arange(n * n)].reshape(-1, n, n)
    tables = np.where(np.eye(n, dtype=bool), 0.0, tables).astype(np.int64)
    layers = []
    for sign in (1, -1):
        layer = _common(tables + sign * tables.transpose(0, 2, 1))
        if layer is None:
            return None
        if layer.common.any():
            flow = np.zeros((n, n), dtype=np.int64)
            first, second = group.variables.T
            flow[first, second] = layer.factor[which]
            layers.append((flow + sign * flow.T, layer.common))
    if not layers:
        layers = [(np.zeros((n, n), dtype=np.int64),) * 2]
    flows, distances = zip(*layers, strict=True)
    return Products(np.stack(flows), np.stack(distances), 2 * own.reshape(n, n).astype(np.int64))


def _common(tables: Matrices) -> _Layer | None:
    """Tables, [T, n, n], as multiples of one matrix and a constant each; diagonals do not count."""
    apart = ~np.eye(tables.shape[1], dtype=bool)
    cells = tables[:, apart]
    cells = cells - cells[:, :1] if (tables == tables.transpose(0, 2, 1)).all() else cells
    reference = cells[int(np.argmax(np.abs(cells).max(axis=1)))]
    common = reference // max(1, int(np.gcd.reduce(reference)))
    at = int(np.argmax(np.abs(common)))
    factor = cells[:, at] // max(1, int(common[at])) if common[at] >= 0 else -(cells[:, at] // -int(common[at]))
    if (factor[:, None] * common != cells).any():
        return None
    whole = np.zeros(tables.shape[1:], dtype=np.int64)
    whole[apart] = common
    return _Layer(factor, whole)
