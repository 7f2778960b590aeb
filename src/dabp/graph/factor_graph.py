"""FactorGraph: a Problem compiled to index arrays, scaled, split and perturbed; what message passing runs on.

Two names hold everywhere. ``v2f`` is the flat array of variable→factor messages and ``f2v`` that of
factor→variable messages (paper Eq. 2-4); both have one slice per edge, ``edge_offsets[e]:edge_offsets[e + 1]``,
as long as the domain of the edge's variable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dabp.errors import ParameterError
from dabp.graph.grouping import grouped
from dabp.graph.measure import MOST_SCALED, Measure, measured
from dabp.problem import Problem
from dabp.problem.columns import add_at, cells_of_tables, offsets_of
from dabp.problem.facts import derived, structural
from dabp.problem.randomness import generator

PERTURBATION = 1e-3
"""The tie-breaking perturbation as a fraction of the smallest cost difference of a table."""

_PERTURBATION_STREAM = 0x9E37


@dataclass(frozen=True)
class FactorGroup:
    """The G factors of arity k ≥ 2 whose variables have the domain sizes ``shape``.

    Factor g of the group, copy c of C, position p in the scope is edge ``first + (g * C + c) * k + p``.
    """

    shape: tuple[int, ...]
    tables: NDArray[np.floating]
    """[U, *shape]: each different table once, scaled, a finite stand-in where forbidden; copies not yet scaled."""
    table_index: NDArray[np.int64]
    """[G]: which of `tables` each factor uses."""
    scope: NDArray[np.int64]
    """[G, k]: its variables."""
    factors: NDArray[np.int64]
    """[G]: its number in the problem."""
    first: int
    """Number of the group's first edge."""
    used: NDArray[np.int64]
    """[U]: the tables of the problem that `tables` are made from."""

    @property
    def arity(self) -> int:
        """The number k of variables."""
        return len(self.shape)

    @property
    def num_factors(self) -> int:
        """G, copies not counted."""
        return len(self.factors)


@dataclass(frozen=True)
class FactorGraph:
    """Variables, edges and stacked factors of a minimisation problem; see `from_problem`."""

    domain_sizes: NDArray[np.int64]
    """[N]."""
    variable_offsets: NDArray[np.int64]
    """[N + 1]: variable i owns ``variable_offsets[i]:variable_offsets[i + 1]`` of `unary` and of beliefs."""
    unary: NDArray[np.floating]
    """[sum of domain sizes]: scaled costs of all unary factors plus the perturbation."""
    groups: tuple[FactorGroup, ...]
    scales: tuple[float, ...]
    """What each copy of a factor's table is multiplied by: (1,), or (ratio, 1 − ratio) when split."""
    cost_scale: float
    """Costs of the problem were divided by this."""
    shift: float
    """The sum of the constants that were taken off the tables of factors with variables, in the problem's units."""
    forbidden: float
    """A forbidden cell is its table's least finite cost plus this; larger than any finite total."""
    variable_edge_offsets: NDArray[np.int64]
    """[N + 1]: edges of variable i are ``variable_edges[variable_edge_offsets[i]:variable_edge_offsets[i + 1]]``."""
    variable_edges: NDArray[np.int64]
    """[E]: edges by variable, ascending within one."""

    @cached_property
    def edge_variable(self) -> NDArray[np.int64]:
        """[E]: the variable at each edge."""
        scopes = (np.repeat(group.scope, len(self.scales), axis=0).ravel() for group in self.groups)
        return np.concatenate([np.zeros(0, dtype=np.int64), *scopes])

    @cached_property
    def edge_offsets(self) -> NDArray[np.int64]:
        """[E + 1]: slices of `v2f` and `f2v`."""
        return offsets_of(self.domain_sizes[self.edge_variable])

    @cached_property
    def relative_degrees(self) -> NDArray[np.float64]:
        """[N]: the logarithm of a variable's number of edges over the mean."""
        degrees = np.diff(self.variable_edge_offsets).astype(np.float64)
        return np.log(np.maximum(degrees, 1.0) / max(float(degrees.mean()), 1e-9))

    @property
    def num_variables(self) -> int:
        """The number N of variables."""
        return len(self.domain_sizes)

    @property
    def num_edges(self) -> int:
        """The number E of edges, those of split copies counted."""
        return len(self.variable_edges)

    @property
    def num_messages(self) -> int:
        """Length of `v2f` and of `f2v`."""
        return sum(group.num_factors * sum(group.shape) for group in self.groups) * len(self.scales)

    @property
    def num_cells(self) -> int:
        """Table cells of all factors, those of shared tables and of split copies counted for each."""
        return sum(group.num_factors * int(group.tables[0].size) for group in self.groups) * len(self.scales)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Of tables, unary costs and messages."""
        return self.unary.dtype

    @classmethod
    def from_problem(
        cls,
        problem: Problem,
        split_ratio: float | None = None,
        dtype: DTypeLike | None = None,
        cost_scale: float | None = None,
        seed: int = 0,
        perturbation: float | None = None,
        temperature: float = 0.0,
    ) -> FactorGraph:
        """Compile a minimisation problem.

        Parameters
        ----------
        split_ratio
            Split each factor of arity 2 or more in two copies with this and the remaining share of its costs.
        dtype
            By default float32, and float64 if anything is forbidden, as the stand-in is very large.
        cost_scale
            Divisor of costs; by default half the median positive finite range over the factors, or more
            where others are larger by many orders of magnitude.
        seed
            Seed of the perturbation.
        perturbation
            Unary costs uniform in [0, perturbation], in scaled units, break ties between symmetric
            solutions; by default `PERTURBATION` of the smallest difference between costs of one factor.
        temperature
            If above 0, the default perturbation is at most a millionth of it, in the problem's units.
        """
        _check(problem, split_ratio, cost_scale, perturbation)
        scales = (1.0,) if split_ratio is None else (float(split_ratio), 1.0 - split_ratio)
        measure = measured(problem, cost_scale, checked=dtype is None)
        scale = measure.scale
        real = np.dtype((np.float64 if problem.facts.forbidding.any() else np.float32) if dtype is None else dtype)
        if perturbation is None:
            most = 1e-6 * temperature if temperature > 0 else math.inf
            perturbation = min(PERTURBATION * derived(problem, smallest_difference), most) / scale
        # Twice the sum of all ranges: a violated total then exceeds every allowed one by a clear margin.
        forbidden = 2 * measure.ranges / scale + problem.num_variables * perturbation + 1.0
        skeleton = structural(problem, _skeleton, len(scales), bulky=True)
        unary = generator(seed, _PERTURBATION_STREAM).uniform(0.0, perturbation, int(skeleton.variable_offsets[-1]))
        groups = []
        for group in skeleton.groups:
            if group.arity == 1:
                _add_unary(problem, group, skeleton.variable_offsets, measure, unary, forbidden)
            else:
                tables = _scaled(problem, group.used, measure, forbidden, real).reshape(-1, *group.shape)
                groups.append(replace(group, tables=tables))
        return cls(
            domain_sizes=problem.domain_sizes,
            variable_offsets=skeleton.variable_offsets,
            unary=unary.astype(real, copy=False),
            groups=tuple(groups),
            scales=scales,
            cost_scale=scale,
            shift=float(measure.shifts[problem.factor_table[problem.arities > 0]].sum()),
            forbidden=float(forbidden),
            variable_edge_offsets=skeleton.variable_edge_offsets,
            variable_edges=skeleton.variable_edges,
        )


def _check(problem: Problem, split_ratio: float | None, cost_scale: float | None, perturbation: float | None) -> None:
    if problem.maximize:
        raise ParameterError("a factor graph is made of a minimisation problem; negate this one first")
    if split_ratio is not None and not 0 < split_ratio < 1:
        raise ParameterError(f"split_ratio lies between 0 and 1, not {split_ratio}")
    if cost_scale is not None and not (cost_scale > 0 and math.isfinite(cost_scale)):
        raise ParameterError(f"cost_scale is positive, not {cost_scale}")
    if perturbation is not None and not 0 <= perturbation <= MOST_SCALED:
        raise ParameterError(f"perturbation is at least 0 and at most {MOST_SCALED:g}, not {perturbation}")


def _scaled(
    problem: Problem, used: NDArray[np.int64], measure: Measure, forbidden: float, dtype: Any
) -> NDArray[np.floating]:
    """Some tables of one size in scaled units [U, cells]; a forbidden cell is the table's least cost + `forbidden`."""
    costs = cells_of_tables(problem, used).reshape(len(used), -1)
    tables = np.empty(costs.shape, dtype=dtype)
    shifts = measure.shifts[used][:, None]
    shifted = costs - shifts if shifts.any() else costs
    np.divide(shifted, measure.scale, out=tables, casting="same_kind", dtype=np.float64)
    if problem.facts.forbidding[used].any():
        barred = np.isinf(costs)
        stand_ins = measure.lowest[used] / measure.scale + forbidden
        tables[barred] = np.broadcast_to(stand_ins[:, None], costs.shape)[barred]
    return tables


def _numbered(keys: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different keys, all below `count`, in ascending order, and the number of each key among them."""
    seen = np.zeros(count, dtype=np.bool_)
    seen[keys] = True
    if seen.all():
        return np.arange(count), keys
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]


class _Skeleton(NamedTuple):
    """The parts of a factor graph that do not depend on costs."""

    variable_offsets: NDArray[np.int64]
    groups: tuple[FactorGroup, ...]
    """Of arity 1 and more, without tables."""
    variable_edge_offsets: NDArray[np.int64]
    variable_edges: NDArray[np.int64]


def _skeleton(problem: Problem, copies: int) -> _Skeleton:
    """Edges and groups of a graph with this number of copies of each factor."""
    groups, edges, nothing = [], 0, np.zeros(0)
    for shape, factors, scope in _by_shape(problem):
        used, index = _numbered(problem.factor_table[factors], len(problem.pool_offsets) - 1)
        groups.append(FactorGroup(shape, nothing, index, scope, factors, edges, used))
        edges += scope.size * copies if len(shape) > 1 else 0
    higher = [group.scope for group in groups if group.arity > 1]
    scopes = [(scope if copies == 1 else np.repeat(scope, copies, axis=0)).ravel() for scope in higher]
    edge_variable = scopes[0] if len(scopes) == 1 else np.concatenate([np.zeros(0, dtype=np.int64), *scopes])
    variable_edges, variable_edge_offsets = grouped(edge_variable, problem.num_variables)
    return _Skeleton(offsets_of(problem.domain_sizes), tuple(groups), variable_edge_offsets, variable_edges)


def _add_unary(
    problem: Problem,
    group: FactorGroup,
    variable_offsets: NDArray[np.int64],
    measure: Measure,
    unary: NDArray[np.floating],
    forbidden: float,
) -> None:
    """Add the costs of factors of arity 1, as many at a time as stay in the processor's cache."""
    size = group.shape[0]
    block = max(1, 2**16 // size)
    for start in range(0, group.num_factors, block):
        tables = group.used[group.table_index[start : start + block]]
        costs = _scaled(problem, tables, measure, forbidden, np.float64)
        targets = variable_offsets[group.scope[start : start + block]] + np.arange(size)
        add_at(unary, targets.ravel(), costs.ravel())


def _by_shape(problem: Problem) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.int64]]]:
    """(shape, factors [G], scope [G, arity]) for every arity ≥ 1, by arity and then by shape."""
    for arity_group in problem.facts.arity_groups:
        arity = arity_group.variables.shape[1]
        if arity == 0:
            continue
        lengths = problem.domain_sizes[arity_group.variables]
        if (lengths == lengths[0]).all():
            yield tuple(int(d) for d in lengths[0]), arity_group.factors, arity_group.variables
            continue
        kind = np.zeros(len(lengths), dtype=np.int64)
        for axis in range(arity):
            kind = np.unique(kind * (lengths.max() + 1) + lengths[:, axis], return_inverse=True)[1]
        order = np.argsort(kind, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
            shape = tuple(int(d) for d in lengths[members[0]])
            yield shape, arity_group.factors[members], arity_group.variables[members]


def smallest_difference(problem: Problem) -> float:
    """The smallest positive difference between two finite costs of one table; 1 if there is none."""
    if problem.facts.integral:
        return 1.0
    lengths, least = np.diff(problem.pool_offsets), math.inf
    for length in np.unique(lengths[lengths > 1]).tolist():
        tables = np.flatnonzero(lengths == length)
        for part in np.array_split(tables, -(-len(tables) * length // 2**20)):
            costs = np.sort(cells_of_tables(problem, part).reshape(len(part), length), axis=1)
            with np.errstate(invalid="ignore"):
                steps = np.diff(costs, axis=1)
            least = min(least, float(steps.min(where=steps > 0, initial=math.inf)))
    return least if math.isfinite(least) else 1.0
