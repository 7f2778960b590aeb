"""Windows: an answer improved part by part, each part by a dual of its own and expansions from what it decodes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from dabp.compiling import working_seconds
from dabp.graph.subproblem import Surroundings, Window
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.solvers.auto.plan import (
    WINDOW_COSTS,
    WINDOW_GAIN,
    WINDOW_GROWTH,
    WINDOW_LOOK,
    WINDOW_PASSES,
    WINDOW_SLACK,
)
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.dual.pair_passes import PairPasses
from dabp.solvers.graph_cut.expansion import Expansion
from dabp.solvers.status import Status

Answer = tuple[Assignment, float]
Work = Generator[None, None, Answer]
"""Something that takes a while: goes on for about a block each time it is asked, and gives an answer in the end."""


@dataclass(frozen=True, kw_only=True)
class Windows(Solver):
    """Improve an assignment of a pairwise problem window by window.

    A window is some thousand variables around one, all others held at their values. Held values are as good as own
    costs: the relaxation of a window is tight more often than that of the whole, and passes converge there in a
    fraction of the time, so that most windows are either improved or seen to have nothing better. When this holds all
    over the problem, windows grow. Between two sizes, what the dual of the whole problem decodes meanwhile is taken
    through expansions and windows of the first size, and fused with the best.

    Parameters
    ----------
    decoded
        Gives what another search makes of the whole problem just now, which need not be good; None if nothing does.
    """

    decoded: Callable[[], Assignment | None] | None = None

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin at `initial`, or with each variable's cheapest value."""
        return WindowSearch(self, problem, seed, cheapest_values(problem) if initial is None else initial)


class _Labelling:
    """An assignment, and which of its variables may still be better in some window."""

    def __init__(self, values: Assignment, cost: float):
        self.values, self.cost = np.array(values, dtype=np.int64), cost
        self.unsettled = np.ones(len(values), dtype=bool)

    def replace(self, values: Assignment, cost: float) -> None:
        """Become another one: what changes is not settled."""
        self.unsettled |= values != self.values
        self.values, self.cost = np.array(values, dtype=np.int64), cost


class WindowSearch(Search):
    """The best labelling so far, and what is being done about it."""

    def __init__(self, solver: Windows, problem: Problem, seed: int, initial: Assignment):
        self._problem, self._decoded = problem, solver.decoded
        self._random = np.random.default_rng(seed)
        self._best = _Labelling(initial, float(problem.cost(initial)))
        self._offered: Answer | None = None
        self._tried: Assignment | None = None
        """What was decoded when it was asked for last."""
        usable = bool(np.isfinite(problem.pool).all()) and int(problem.arities.max(initial=0)) <= 2
        self._work = self._sweeps() if usable else None

    def step(self) -> Step:
        """Go on for about a block."""
        until = working_seconds() + BLOCK_SECONDS
        before, finished = self._best.cost, None if self._work is not None else Status.CONVERGED
        while self._work is not None and finished is None and working_seconds() < until:
            try:
                next(self._work)
            except StopIteration:
                finished = Status.CONVERGED
        if self._best.cost >= before:
            return Step(finished=finished)
        cost = self._best.cost
        return Step(np.array([cost]), self._best.values.copy(), cost, finished=finished)

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Go on from it after this window, if it is better than the best here."""
        if cost < self._best.cost:
            self._offered = np.array(assignment, dtype=np.int64), cost

    # ---- inside --------------------------------------------------------------------------------

    def _sweeps(self) -> Work:
        """All windows of one size after the other; another labelling between two of them."""
        surroundings, costs = Surroundings(self._problem), WINDOW_COSTS
        while True:
            whole = yield from self._sweep(surroundings, self._best, costs)
            cost, known = self._best.cost, (yield from self._challenged(surroundings))
            if self._best.cost < cost:  # as long as that helps, windows stay small
                continue
            if whole and known and not self._best.unsettled.any():
                return self._best.values, self._best.cost
            costs *= WINDOW_GROWTH
            self._best.unsettled[:] = True

    def _sweep(self, surroundings: Surroundings, labelling: _Labelling, costs: int) -> Generator[None, None, bool]:
        """Windows until all variables are settled or, as a challenger, it is the best; True if one held them all."""
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
        """Whether there was nothing new to be made of what was decoded."""
        other = None if self._decoded is None else self._decoded()
        if other is None or (self._tried is not None and (other == self._tried).all()):
            return True
        self._tried = other
        challenger = _Labelling(*(yield from _expanded(self._problem, other)))
        yield from self._sweep(surroundings, challenger, WINDOW_COSTS)
        self._take_offer()
        fused = yield from _expanded(self._problem, self._best.values, (challenger.values, challenger.cost))
        if fused[1] < self._best.cost:
            self._best.replace(*fused)
        return False

    def _solved(self, window: Window, values: Assignment) -> Work:
        """The best that passes find in a window, or expansions from where they end if they do not prove it."""
        cost = float(window.problem.cost(values))
        passes = PairPasses(window.problem)
        last, step = -np.inf, 1.0 - WINDOW_SLACK if self._problem.facts.integral else self._problem.facts.rounding(cost)
        for number in range(WINDOW_PASSES):
            bound = passes.run(number % 2 == 0) + passes.constant
            if passes.cost < cost:
                values, cost = passes.decoded(), passes.cost
            if bound > cost - step:
                return values, cost
            if number % WINDOW_LOOK == WINDOW_LOOK - 1:
                if not bound - last > WINDOW_GAIN * (cost - bound):
                    break
                last = bound
                yield
        expanded = yield from _expanded(window.problem, passes.decoded())
        return expanded if expanded[1] < cost else (values, cost)


def _expanded(problem: Problem, initial: Assignment, other: Answer | None = None) -> Work:
    """What expansions make of an assignment, fused with another one first if there is one."""
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
