"""`dual-windows`: an assignment improved part by part, each part by a dual of its own and by expansions."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.graph.window import Surroundings, Window
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.dual.pairs import PairPasses
from dabp.solvers.graph_cut.expansion import Expansion
from dabp.solvers.status import Status

Answer = tuple[Assignment, float]
Work = Generator[None, None, Answer]
"""Yields about once a block, and returns an answer in the end."""


@dataclass(frozen=True, kw_only=True)
class Windows(Solver):
    """Improve an assignment of a pairwise problem window by window.

    A window is some thousand variables around one; all others keep their values. These count as own costs of the
    window, so that its relaxation is tight more often than that of the whole, and passes of the dual converge in a
    fraction of the time: most windows are either improved or proved to have nothing better. When all windows of a size
    are settled, windows grow. Between two sizes, what another search decoded from its dual (in `auto`) is taken through
    expansions and windows of the first size, and fused with the best. An iteration is an improvement. Problems with
    larger factors or forbidden combinations have no windows; the start is then the answer.

    Parameters
    ----------
    costs
        Costs that the messages of a window have at first.
    growth
        How many times more costs windows have when those of a size are settled.
    """

    iterations_end: ClassVar[bool] = False

    costs: int = 120_000
    growth: int = 2

    def __post_init__(self) -> None:
        if self.costs < 1:
            raise ParameterError(f"dual-windows: costs must be at least 1, got {self.costs}")
        if self.growth < 2:
            raise ParameterError(f"dual-windows: growth must be at least 2, got {self.growth}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin at `initial`, or with each variable's cheapest value."""
        return WindowSearch(self, problem, seed, cheapest_values(problem) if initial is None else initial)


class _Labelling:
    """An assignment, and the variables that may still be better in some window."""

    def __init__(self, values: Assignment, cost: float):
        self.values, self.cost = np.array(values, dtype=np.int64), cost
        self.unsettled = np.ones(len(values), dtype=bool)

    def replace(self, values: Assignment, cost: float) -> None:
        """Become another assignment; variables that change are not settled."""
        self.unsettled |= values != self.values
        self.values, self.cost = np.array(values, dtype=np.int64), cost


class WindowSearch(Search):
    """The best labelling so far, and what is being done about it."""

    def __init__(self, solver: Windows, problem: Problem, seed: int, initial: Assignment):
        self._problem, self._solver = problem, solver
        self._random = np.random.default_rng(seed)
        self._best = _Labelling(initial, float(problem.cost(initial)))
        self._offered: Answer | None = None
        self._suggested: Assignment | None = None
        self._tried: Assignment | None = None
        """The last suggestion that was taken through windows."""
        self._reported = np.inf
        usable = bool(np.isfinite(problem.pool).all()) and int(problem.arities.max(initial=0)) <= 2
        self._work = self._sweeps() if usable else None

    def step(self) -> Step:
        """Go on for about a block, at most to the next improvement."""
        until, before = working_seconds() + BLOCK_SECONDS, self._best.cost
        finished = None if self._work is not None else Status.CONVERGED
        while self._work is not None and finished is None and self._best.cost == before and working_seconds() < until:
            try:
                next(self._work)
            except StopIteration:
                finished = Status.CONVERGED
        if self._best.cost >= self._reported:
            return Step(finished=finished)
        cost = self._reported = self._best.cost
        return Step(np.array([cost]), self._best.values.copy(), cost, finished=finished)

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Go on from it after this window, if it is better than the best here."""
        if cost < self._best.cost:
            self._offered = np.array(assignment, dtype=np.int64), cost

    def suggest(self, assignment: Assignment) -> None:
        """Take it through windows of its own between two sizes."""
        self._suggested = assignment

    # ---- inside --------------------------------------------------------------------------------

    def _sweeps(self) -> Work:
        """All windows of one size after the other; a suggestion between two sizes."""
        surroundings, costs = Surroundings(self._problem), self._solver.costs
        while True:
            whole = yield from self._sweep(surroundings, self._best, costs)
            cost, known = self._best.cost, (yield from self._challenged(surroundings))
            if self._best.cost < cost:  # as long as that helps, windows stay small
                continue
            if whole and known and not self._best.unsettled.any():
                return self._best.values, self._best.cost
            costs *= self._solver.growth
            self._best.unsettled[:] = True

    def _sweep(self, surroundings: Surroundings, labelling: _Labelling, costs: int) -> Generator[None, None, bool]:
        """Windows until all variables are settled or the labelling is the best; whether one window had them all."""
        whole = False
        while labelling.unsettled.any():
            self._take_offer()
            centre = int(self._random.choice(np.flatnonzero(labelling.unsettled)))
            near, core = surroundings.nearest(centre, costs)
            whole = len(near) == len(labelling.values)
            window = surroundings.window(near, labelling.values)
            inside = labelling.values[window.variables]
            labelling.unsettled[core] = False
            values, _ = yield from self._solved(window, inside)
            changed = labelling.values.copy()
            changed[window.variables] = values
            cost = float(self._problem.cost(changed))
            if cost < labelling.cost:
                labelling.replace(changed, cost)
            if labelling is not self._best and labelling.cost < self._best.cost:
                self._best.replace(labelling.values, labelling.cost)
                break
            yield
        return whole

    def _take_offer(self) -> None:
        if self._offered is not None and self._offered[1] < self._best.cost:
            self._best.replace(*self._offered)
        self._offered = None

    def _challenged(self, surroundings: Surroundings) -> Generator[None, None, bool]:
        """Whether there was no new suggestion."""
        other = self._suggested
        if other is None or (self._tried is not None and (other == self._tried).all()):
            return True
        self._tried = other
        challenger = _Labelling(*(yield from _expanded(self._problem, other)))
        yield from self._sweep(surroundings, challenger, self._solver.costs)
        self._take_offer()
        fused = yield from _expanded(self._problem, self._best.values, (challenger.values, challenger.cost))
        if fused[1] < self._best.cost:
            self._best.replace(*fused)
        return False

    def _solved(self, window: Window, values: Assignment) -> Work:
        """The best that passes find in a window, and expansions from where they end if that is not proved best."""
        cost = float(window.problem.cost(values))
        passes = PairPasses(window.problem)
        # Passes in single precision may be off by a thousandth of a unit where costs are integers.
        least_gain = 0.999 if self._problem.facts.integral else self._problem.facts.rounding(cost)
        last = -np.inf
        for number in range(600):
            bound = passes.run(number % 2 == 0) + passes.constant
            if passes.cost + passes.constant < cost:
                values, cost = passes.decoded(), passes.cost + passes.constant
            if bound > cost - least_gain:
                return values, cost
            if number % 20 == 19:
                if not bound - last > 0.02 * (cost - bound):
                    break
                last = bound
                yield
        expanded = yield from _expanded(window.problem, passes.decoded())
        return expanded if expanded[1] < cost else (values, cost)


def _expanded(problem: Problem, initial: Assignment, other: Answer | None = None) -> Work:
    """Expansions from an assignment, fused with another one first if there is one."""
    search = Expansion().start(problem, seed=0, budget=Budget(), initial=initial)
    best = initial, float(problem.cost(initial))
    if other is not None:
        search.offer(*other)
    while True:
        step = search.step()
        if step.best is not None and step.best_cost < best[1]:
            best = step.best, step.best_cost
        if step.finished is not None:
            return best
        yield
