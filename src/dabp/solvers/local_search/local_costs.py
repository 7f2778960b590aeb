"""A problem compiled for local search: integer costs, padded rows, each binary table in both directions."""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.local_costs import LANES, VIOLATIONS, Costs, State, restart
from dabp.problem import Assignment, Problem

_NARROW, _NARROW_PAD = 2.0**24, 2**29
_WIDE, _WIDE_PAD = 2.0**44, 2**60
_WIDE_TOTAL = 2.0**60


class LocalCosts:
    """The compiled form and the units it is in.

    Costs are integers: the problem's own when it has integers only, otherwise scaled by a power of two and rounded at
    about 1e-13 of the largest local cost, or of a millionth of the total if that is more. They take 32 bits where local
    costs stay below 2^24, 64 otherwise.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.finite = np.where(np.isfinite(problem.pool), problem.pool, 0.0)
        self.forbids = ~np.isfinite(problem.pool)
        largest, total = self._bounds()
        tables_forbid = problem.per_table(np.logical_or, self.forbids)
        self._hard_factor = tables_forbid[problem.factor_table].astype(bool)
        busiest = self._most_hard_factors()
        narrow = problem.integral and largest * (1 + busiest) < _NARROW
        self.dtype: Any = np.int32 if narrow else np.int64
        self.pad = _NARROW_PAD if narrow else _WIDE_PAD
        self._largest = largest
        finest = min(_WIDE / largest, _WIDE_TOTAL / total) if largest else 1.0
        self.scale = 1.0 if problem.integral else 2.0 ** np.floor(np.log2(finest))
        self.heaviest = self.pad // 8 // max(busiest, 1)
        self._cells = np.rint(self.finite * self.scale).astype(self.dtype)
        self._compile()

    # ---- units ---------------------------------------------------------------------------------

    def _bounds(self) -> tuple[float, float]:
        """On |L|, the sum of the largest finite costs of a variable's factors, and on the sum over all factors."""
        problem = self.problem
        table_max = problem.per_table(np.maximum, np.abs(self.finite))
        factor_max = table_max[problem.factor_table] if problem.num_factors else np.zeros(0)
        sums = np.bincount(
            problem.scope_variables, np.repeat(factor_max, problem.arities), minlength=problem.num_variables
        )
        return float(max(sums.max(initial=0.0), factor_max.max(initial=0.0))), float(factor_max.sum())

    def _most_hard_factors(self) -> int:
        """How many factors with forbidden combinations one variable has at most."""
        hard = np.repeat(self._hard_factor, self.problem.arities)
        return int(np.bincount(self.problem.scope_variables[hard], minlength=1).max())

    def cost(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """Costs of the problem from the kernels' integers; exact if the problem's costs are integers."""
        return np.asarray(units, dtype=np.float64) / self.scale + self._constant

    # ---- compilation ----------------------------------------------------------------------------

    def _compile(self) -> None:
        problem = self.problem
        sizes = problem.domain_sizes
        widths = -(-sizes // LANES) * LANES
        rows = np.concatenate([[0], np.cumsum(widths)])[:-1].astype(np.int64)
        self._constant = problem.constant
        arity = problem.arities
        self._soft_factor = problem.per_table(np.logical_or, self._cells != 0)[problem.factor_table].astype(bool)
        weighted = self._hard_factor & (arity >= 2)
        self._weight_of = np.where(weighted, np.cumsum(weighted) - 1, -1)
        unary = self._unary(rows, widths)
        edges = self._edges(widths)
        wide = self._wide()
        self.num_weights = int(weighted.sum())
        violable = self._violable(edges["edge_offsets"], edges["edge_weight"])
        self.costs = Costs(
            sizes=sizes,
            rows=rows,
            widths=widths,
            unary=unary,
            pad=self.pad,
            heaviest=self.heaviest,
            **edges,
            **wide,
            **violable,
            **_neighbours(problem),
        )

    def _unary(self, rows: NDArray[np.int64], widths: NDArray[np.int64]) -> NDArray[Any]:
        """Own costs of the values, [R]; also the constant of arity 0 and whether a proof of infeasibility lies open."""
        problem = self.problem
        total = np.zeros(int(widths.sum()), dtype=np.int64)
        allowed = np.zeros(len(total), dtype=bool)
        allowed[_ranges(rows, problem.domain_sizes)] = True
        self.infeasible = False
        for group in problem.arity_groups:
            if group.variables.shape[1] == 0:
                self._constant += float(self.finite[group.bases].sum())
                self.infeasible |= bool(self.forbids[group.bases].any())
            elif group.variables.shape[1] == 1:
                lengths = problem.domain_sizes[group.variables[:, 0]]
                target, source = _ranges(rows[group.variables[:, 0]], lengths), _ranges(group.bases, lengths)
                np.add.at(total, target, self._cells[source])
                allowed[target[self.forbids[source]]] = False
        possible = np.logical_or.reduceat(allowed, rows) if len(rows) else np.ones(0, dtype=bool)
        self.infeasible |= not possible.all()
        self.allowed = allowed
        return np.where(allowed, total, self.pad).astype(self.dtype)

    def _edges(self, widths: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Binary factors, once from each end, sorted by the end they start at."""
        problem = self.problem
        group = next((g for g in problem.arity_groups if g.variables.shape[1] == 2), None)
        factors = np.zeros(0, dtype=np.int64) if group is None else group.factors
        pairs = np.zeros((0, 2), dtype=np.int64) if group is None else group.variables
        soft_pool, soft = self._directed(factors, pairs, widths, self._cells, self._soft_factor)
        hard_pool, hard = self._directed(factors, pairs, widths, self.forbids.astype(self.dtype), self._hard_factor)
        keep = (soft >= 0) | (hard >= 0)
        source, target = (
            np.concatenate([pairs[:, 0], pairs[:, 1]])[keep],
            np.concatenate([pairs[:, 1], pairs[:, 0]])[keep],
        )
        weight = np.tile(self._weight_of[factors], 2)[keep]
        order = np.lexsort((target, source))
        return {
            "edge_offsets": _offsets(source, problem.num_variables),
            "edge_target": target[order],
            "edge_soft": soft[keep][order],
            "edge_hard": hard[keep][order],
            "edge_weight": weight[order],
            "soft": soft_pool,
            "hard": hard_pool,
        }

    def _directed(
        self,
        factors: NDArray[np.int64],
        pairs: NDArray[np.int64],
        widths: NDArray[np.int64],
        cells: NDArray[Any],
        present: NDArray[np.bool_],
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Padded tables for both directions of the present factors, and where each begins, [2 · F2] (−1 if absent).

        Factors that share a table share its padded copies.
        """
        problem = self.problem
        sizes, tables = problem.domain_sizes, problem.factor_table[factors]
        bases = np.full((2, len(factors)), -1, dtype=np.int64)
        chosen = np.flatnonzero(present[factors])
        parts: list[NDArray[Any]] = []
        length = 0
        shapes, shape_of = np.unique(sizes[pairs[chosen]], axis=0, return_inverse=True)
        for number, (rows, columns) in enumerate(shapes.tolist()):
            members = chosen[shape_of.ravel() == number]
            unique, which = np.unique(tables[members], return_inverse=True)
            stack = cells[problem.pool_offsets[unique][:, None] + np.arange(rows * columns)].reshape(-1, rows, columns)
            for direction, block in enumerate((stack, stack.transpose(0, 2, 1))):
                height, width = block.shape[1:]
                padded = np.zeros((len(unique), height, -(-width // LANES) * LANES), dtype=self.dtype)
                padded[:, :, :width] = block
                bases[direction, members] = length + which.ravel() * padded[0].size
                parts.append(padded.ravel())
                length += padded.size
        pool = np.concatenate(parts) if parts else np.zeros(0, dtype=self.dtype)
        return pool, bases.ravel()

    def _wide(self) -> dict[str, NDArray[Any]]:
        """Factors of arity 3 or more as they are: scopes, strides and tables."""
        problem = self.problem
        groups = [g for g in problem.arity_groups if g.variables.shape[1] > 2]
        empty = np.zeros(0, dtype=np.int64)
        factors = np.concatenate([empty, *(g.factors for g in groups)])
        variables = np.concatenate([empty, *(g.variables.ravel() for g in groups)])
        strides = np.concatenate([empty, *(g.strides.ravel() for g in groups)])
        bases = np.concatenate([empty, *(g.bases for g in groups)])
        arities = problem.arities[factors]
        owner = np.repeat(np.arange(len(factors)), arities)
        order = np.argsort(variables, kind="stable")
        forbids = self.forbids.astype(self.dtype)
        return {
            "wide_offsets": _offsets(variables, problem.num_variables),
            "wide_factor": owner[order],
            "wide_stride": strides[order],
            "scope_offsets": np.concatenate([[0], np.cumsum(arities)]).astype(np.int64),
            "scope_variable": variables,
            "scope_stride": strides,
            "table_soft": np.where(self._soft_factor[factors], bases, -1),
            "table_hard": np.where(self._hard_factor[factors], bases, -1),
            "table_weight": self._weight_of[factors],
            "wide_soft": self._cells if len(factors) else self._cells[:0],
            "wide_hard": forbids if len(factors) else forbids[:0],
        }

    def _violable(self, edge_offsets: NDArray[np.int64], edge_weight: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """The scopes of factors with a weight, and where their tables are found."""
        problem = self.problem
        factors = np.flatnonzero(self._hard_factor & (problem.arities >= 2))
        arities = problem.arities[factors]
        scope = problem.scope_variables[_ranges(problem.scope_offsets[factors], arities)]
        edge = np.full(len(scope), -1, dtype=np.int64)
        source = np.repeat(np.arange(problem.num_variables), np.diff(edge_offsets))
        places = np.repeat(np.arange(len(factors)), arities)
        binary = np.repeat(arities == 2, arities)
        # An edge is known by its weight and where it starts; both sides sorted by that pair correspond.
        hard = np.flatnonzero(edge_weight >= 0)
        edge_order = hard[np.lexsort((source[hard], edge_weight[hard]))]
        scope_order = np.flatnonzero(binary)
        scope_order = scope_order[np.lexsort((scope[scope_order], places[scope_order]))]
        edge[scope_order] = edge_order
        wide = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(g.factors for g in problem.arity_groups if g.variables.shape[1] > 2)]
        )
        number = np.full(problem.num_factors, -1, dtype=np.int64)
        number[wide] = np.arange(len(wide))
        return {
            "hard_offsets": np.concatenate([[0], np.cumsum(arities)]).astype(np.int64),
            "hard_scope": scope,
            "hard_edge": edge,
            "hard_table": number[factors],
        }

    @cached_property
    def first_weight(self) -> int:
        """What violating a factor costs at first: the largest range of finite costs of one factor, at least 1."""
        span = self.problem.per_table(np.maximum, self._cells) - self.problem.per_table(np.minimum, self._cells)
        return int(np.clip(span.max(initial=0), 1, self.heaviest))

    @property
    def dominant_weight(self) -> int:
        """A weight above what the finite costs of a variable's factors can differ by."""
        return min(int(2 * self._largest * self.scale) + 1, self.heaviest)

    # ---- states ----------------------------------------------------------------------------------

    def state(self, seed: int) -> State:
        """A state to be given an assignment (`put`) before use."""
        n, hard = self.problem.num_variables, self.num_weights
        return State(
            np.zeros(n, dtype=np.int64),
            np.zeros(len(self.costs.unary), dtype=self.dtype),
            np.zeros(len(self.costs.table_soft), dtype=np.int64),
            np.full(hard, self.first_weight, dtype=self.dtype),
            np.zeros(hard, dtype=np.int64),
            np.full(hard, -1, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            np.zeros(max(n, 1), dtype=np.int64),
            np.zeros(8, dtype=np.int64),
            np.array([seed], dtype=np.uint64),
        )

    def put(self, state: State, assignment: Assignment) -> None:
        """Continue from an assignment; values that are forbidden by themselves are replaced by the cheapest."""
        rows, widths, unary = self.costs.rows, self.costs.widths, self.costs.unary
        state.x[:] = assignment
        for i in np.flatnonzero(~self.allowed[rows + state.x]).tolist():
            state.x[i] = int(np.argmin(unary[rows[i] : rows[i] + widths[i]]))
        restart(self.costs, state)

    def strengthen(self, state: State) -> None:
        """Make what the assignment violates weigh half as much again; L is then out of date until `put`."""
        violated = state.violated[: state.tally[VIOLATIONS]]
        state.weights[violated] += (state.weights[violated] + 1) // 2
        self.relax(state)

    def relax(self, state: State) -> None:
        """Halve all weights if one is so large that sums might leave the integers' range; then `put` as well."""
        if len(state.weights) and state.weights.max() >= self.heaviest:
            state.weights[:] = (state.weights + 1) // 2

    def units(self, assignment: Assignment) -> int:
        """The finite cost of an assignment in the kernels' integers, without the constant."""
        total = 0
        for group in self.problem.arity_groups:
            if group.variables.shape[1] > 0:
                places = group.bases + (assignment[group.variables] * group.strides).sum(axis=1)
                total += int(self._cells[places].sum(dtype=np.int64))
        return total

    @cached_property
    def floor(self) -> int:
        """What no assignment is below: the least of every factor, in units."""
        smallest = np.where(self.forbids, self.pad, self._cells)
        lowest = self.problem.per_table(np.minimum, smallest)[self.problem.factor_table].astype(np.int64)
        return int(lowest[self.problem.arities > 0].sum())

    @cached_property
    def floors(self) -> NDArray[np.int64]:
        """For each variable the least its factors could cost together, in units, [N]."""
        problem = self.problem
        smallest = np.where(self.forbids, self.pad, self._cells)
        lowest = problem.per_table(np.minimum, smallest)[problem.factor_table].astype(np.int64)
        result = np.zeros(problem.num_variables, dtype=np.int64)
        np.add.at(result, problem.scope_variables, np.repeat(lowest, problem.arities))
        return result

    def random_assignment(self, rng: np.random.Generator) -> Assignment:
        """Values drawn uniformly."""
        return rng.integers(0, self.problem.domain_sizes)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """``starts[0] … starts[0] + lengths[0] − 1, starts[1] …`` in one array."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _offsets(owner: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Where each owner's entries begin once sorted by owner, [count + 1]."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))]).astype(np.int64)


def _neighbours(problem: Problem) -> dict[str, NDArray[Any]]:
    """For each variable, those it shares a factor with, once each and in order."""
    keys = [np.zeros(0, dtype=np.int64)]
    count = problem.num_variables
    for group in problem.arity_groups:
        pairs = itertools.permutations(group.variables.T, 2)
        keys.extend(first * count + second for first, second in pairs)
    unique = np.unique(np.concatenate(keys))
    source = unique // max(count, 1)
    return {"neighbour_offsets": _offsets(source, count), "neighbours": unique - source * count}
