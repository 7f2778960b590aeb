"""Belief propagation at a finite temperature on a factor graph: sums of exponentials in place of minima."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.graph import FactorGraph
from dabp.kernels.atomics import zeros_apart
from dabp.kernels.belief_propagation.message_arrays import PADDING, RUNNING, Memory, Reals, Rules
from dabp.kernels.belief_propagation.soft import (
    SEND,
    SOFTEN,
    UPDATE,
    Course,
    Scratch,
    Share,
    Softness,
    iterate_softly,
)
from dabp.problem import Problem
from dabp.problem.columns import ragged_positions, table_ranges
from dabp.solvers.belief_propagation.engine import MinSum
from dabp.solvers.belief_propagation.schedule import Phases

BARRED = 2e4
"""Usual cost of a forbidden cell, in scaled units; single precision keeps digits of the finite costs beside it."""


class SoftMessages(MinSum):
    """Message passing at inverse temperature β, in scaled units of cost; see `dabp.kernels.belief_propagation.soft`.

    The graph is in single precision, as forbidden cells weigh 0 and need no large number beside finite costs.
    """

    in_stages = True

    def __init__(self, problem: Problem, graph: FactorGraph, threads: int = 1, hottest: float = 1.0):
        super().__init__(problem, graph, threads)
        self.hottest = hottest
        """The least β of the iterations after the next reset."""
        tables = self.layout.tables
        # Finite costs of a table differ by at most half of `forbidden`: larger cells are forbidden.
        self._barred = np.flatnonzero((tables >= 0.75 * graph.forbidden) & (tables < PADDING / 2))
        over = _barred_values(problem, graph)
        allowed = np.where(over, np.inf, graph.unary)
        lowest = np.minimum.reduceat(allowed, graph.variable_offsets[:-1]).repeat(graph.domain_sizes)[over]
        self._barred_unary = np.flatnonzero(self.layout.variables.mask > 0)[over], np.minimum(lowest, graph.unary[over])
        self._most = BARRED
        if len(self._barred) or over.any():
            ranges = table_ranges(problem)[1][problem.factor_table].repeat(problem.arities)
            around = np.bincount(problem.scope_variables, ranges, problem.num_variables).max(initial=0.0)
            self._most = min(graph.forbidden, max(BARRED, 2 * around / graph.cost_scale))
        copies = np.array(graph.scales, dtype=np.float64)
        different = len(np.unique(copies))
        self._soft = Softness(
            share=copies,
            inverse=1.0 / copies,
            messages=zeros_apart(len(self.memory.v2f), graph.dtype),
            weights=zeros_apart(different * len(tables), graph.dtype),
            start=np.arange(len(copies)) * len(tables) * (different > 1),
        )
        vectors, width = len(tables) // len(self.lanes), len(self.lanes)
        cuts = [vectors * k // max(len(self._parts), 1) * width for k in range(len(self._parts) + 1)]
        self._whole = self._share((0, len(self.layout.many.table)), (0, graph.num_variables), (0, vectors * width))
        self._shares = {
            part: self._share(part.many, part.variables, numbers)
            for part, numbers in zip(self._parts, itertools.pairwise(cuts), strict=True)
        }
        self._beta_before = 0.0
        """β / ln 2 that the weights of tables are made for."""

    def _share(self, many: tuple[int, int], variables: tuple[int, int], numbers: tuple[int, int]) -> Share:
        domains = self.layout.many
        most = int(np.add.reduceat(domains.domain, domains.start[:-1]).max()) if len(domains.table) else 0
        return Share(many, variables, numbers, Scratch(np.zeros_like(self.memory.values), np.zeros(most)))

    def reset(self, damping: ArrayLike, extra_unary: Reals | None = None) -> None:
        """As `MinSum.reset`; forbidden cells then weigh 0 at every β of at least `hottest`."""
        super().reset(damping, extra_unary)
        self._beta_before = 0.0
        places, lowest = self._barred_unary
        if len(self._barred) + len(places) == 0:
            return
        cost = max(self._most, 180.0 / (self.hottest * min(self.graph.scales)))  # exp(−180) is 0 in single precision
        self.other_unary = True
        self.layout.tables[self._barred] = cost
        self.layout.variables.unary[places] = lowest + cost

    def run_softly(self, phases: Phases, rules: Rules) -> tuple[NDArray[np.float64], int]:
        """An iteration for each β and gain: the cost after each, and why they ended (`RUNNING` if they did not)."""
        trace = np.empty(len(phases.beta))
        beta = np.concatenate([[self._beta_before], phases.beta / math.log(2.0)])
        course = Course(beta, np.concatenate([[-1.0], phases.gain]))
        rules = rules._replace(constant=self._constant)
        if self._pool is None:
            done, why = self._iterate(rules, course, self._whole, SOFTEN | SEND | UPDATE, trace)
        else:
            done, why = self._iterate_softly_in_parts(rules, course, trace)
        self._beta_before = float(course.beta[done])
        return trace[:done], why

    def _iterate(self, rules: Rules, course: Course, share: Share, stages: int, trace: NDArray[np.float64]) -> Any:
        arguments = (self.layout, self._in_place, rules, self._soft, course, share)
        return iterate_softly(*arguments, stages, self.lanes, trace)

    @property
    def _in_place(self) -> Memory:
        """New v2f messages replace the old ones, as all f2v messages are made before."""
        return self.memory._replace(fused=False)

    def _iterate_softly_in_parts(self, rules: Rules, course: Course, trace: NDArray[np.float64]) -> tuple[int, int]:
        """`iterate_softly`, each stage in threads."""
        for t in range(1, len(trace) + 1):
            now = Course(*(values[t - 1 : t + 1] for values in course))
            for stage in (SOFTEN, SEND):
                self._each(lambda part: self._iterate(Rules(), now, self._shares[part], stage, np.empty(1)))  # noqa: B023
            why = self._update_in_parts(self._in_place, float(now.gain[1]), rules)
            trace[t - 1] = self.memory.progress["current"][0]
            if why != RUNNING:
                return t, why
        return len(trace), RUNNING

    def marginals(self, beta: float) -> tuple[NDArray[np.float64], ...]:
        """The probability of each value of each variable, ``p_i ∝ exp(−β b_i)``, as the messages have it."""
        flat = self.beliefs(beta)
        starts = self.graph.variable_offsets[:-1]
        weights = np.exp(-beta * (flat - np.repeat(np.minimum.reduceat(flat, starts), self.graph.domain_sizes)))
        weights /= np.repeat(np.add.reduceat(weights, starts), self.graph.domain_sizes)
        return tuple(weights[start:stop] for start, stop in itertools.pairwise(self.graph.variable_offsets.tolist()))

    def beliefs(self, beta: float) -> NDArray[np.float64]:
        """``b_i = unary_i + Σ f2v`` of all values of all variables in scaled units, from the messages as they are."""
        layout, memory = self.layout, self.memory
        course = Course(np.array([self._beta_before, beta / math.log(2.0)]), np.array([-1.0, -1.0]))
        self._iterate(Rules(), course, self._whole, SOFTEN | SEND, np.empty(1))
        self._beta_before = float(course.beta[1])
        variables = layout.variables
        owner = np.repeat(np.arange(len(variables.domain)), np.diff(variables.edge_start))
        scales = np.resize(variables.scales.astype(np.float64), len(owner))
        scale = np.repeat(scales, np.diff(variables.unary_start)[owner])
        total = variables.unary.astype(np.float64)
        total += np.bincount(ragged_positions(variables.unary_start, owner), scale * memory.f2v, len(total))
        return total[variables.mask > 0]


def _barred_values(problem: Problem, graph: FactorGraph) -> NDArray[np.bool_]:
    """Which values a factor of one variable forbids, as they lie in `FactorGraph.unary`."""
    barred = np.zeros(len(graph.unary), dtype=np.bool_)
    for group in problem.facts.arity_groups:
        if group.variables.shape[1] == 1:
            tables = problem.factor_table[group.factors]
            hard = problem.facts.forbidding[tables]
            cells = problem.pool[ragged_positions(problem.pool_offsets, tables[hard])]
            places = ragged_positions(graph.variable_offsets, group.variables[hard, 0])
            barred[places[np.isinf(cells)]] = True
    return barred
