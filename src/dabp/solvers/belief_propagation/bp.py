"""Belief propagation (paper §2): `bp`, `dbp`, `dbp-scfg` and `bp-reinforced` are presets of one solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import CONVERGED, RUNNING, SETTLED, Rules
from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.belief_propagation.engine import MinSum
from dabp.solvers.belief_propagation.exact_forest import Forest, ForestSearch
from dabp.solvers.belief_propagation.marginals import (
    BETA,
    KeptMarginals,
    enough_change,
    graph_at,
    iterations_to_rest,
)
from dabp.solvers.belief_propagation.message_search import MessageSearch
from dabp.solvers.belief_propagation.reinforcement import Draw, first_draw, random_draw
from dabp.solvers.belief_propagation.soft_engine import SoftMessages
from dabp.solvers.status import RESTARTS_DONE, Status

SMALLEST_SHARE = 1e-7
"""Smallest share of a copy of a factor: padding of messages divided by the share must fit single precision."""

_RESTART_STREAM = 0xB9


@dataclass(frozen=True, kw_only=True)
class BeliefPropagation(Solver):
    """Min-sum belief propagation with damping, splitting, restarts and reinforcement.

    A problem without cycles is solved exactly in one pass up and one down. Otherwise each iteration makes all
    factor→variable messages, decodes an assignment and makes all variable→factor messages (Eq. 2-5), until these
    change by less than `tolerance`. (The paper's Eq. 3 updates both kinds from the iteration before; this order,
    that of the authors' program, takes half as many iterations.)

    Parameters
    ----------
    damping
        λ: the share of the old message in the new one, in [0, 1).
    split_ratio
        Split each factor of arity 2 or more in two copies with this and the remaining share of its costs.
    restarts
        How many times to start; none = once with damping, until a limit with reinforcement.
    jitter
        Restarts after the first draw a damping factor per edge, uniform in damping ± jitter / 2, clipped to [0, 0.99].
    reinforcement
        Rate of reinforced BP, 0 = off. A field ``H_i = g_t (b_i − min b_i)``, ``g_t = 1 − (1 − rate)^t``, freezes
        the beliefs b slowly into an assignment: at a temperature `beliefs` are no marginals then. Under a limit the
        first start takes a rate that lets it end in time; later starts draw damping, rate and a perturbation at random.
    temperature
        0 = min-sum; above 0 messages are sums instead of minima (sum-product): ``−T log Σ exp(−cost / T)``, in units of
        the problem's costs. The result then has `beliefs`, the probability of each value if that of an assignment is
        proportional to ``exp(−cost / T)``: exact without cycles, unless limits or a `split_ratio` prevent it (two
        copies of a factor are a cycle), else an approximation. The costs of a probability network are logarithms, and
        T = 1 gives its marginals. Messages are in single precision: if costs of a factor differ by up to 100 T,
        probabilities are exact to about 1e-5, up to 1,000 T to 1e-4, and on paths of hundreds of factors to 1e-4.
    tolerance
        Converged when all variable→factor messages change by less, in scaled units; at a temperature in units of T and
        without damping and rounding. Without cycles marginals have converged when they are exact. With 0 nothing
        converges.
    patience
        A reinforced start ends when no value has changed for this number of iterations, or when, well into freezing,
        its best cost has not improved in the last two thirds of its iterations.
    max_iterations_per_restart
        None = 1000, with reinforcement until nothing changes, and as many as exact marginals take without cycles.
    cost_scale
        Divisor of costs; none = half the median range of the factors. At a temperature T between 1e-9 T and 1e9 T.
    perturbation
        Largest tie-breaking unary cost, in scaled units; none = far below the smallest cost difference and the
        temperature.
    exact_forests
        Solve problems without cycles exactly instead of iterating; at a temperature, beside iterating.
    """

    checkpoints: ClassVar[bool] = True

    damping: float = 0.0
    split_ratio: float | None = None
    restarts: int | None = None
    jitter: float = 0.0
    reinforcement: float = 0.0
    temperature: float = 0.0
    tolerance: float = 1e-4
    patience: int = 30
    max_iterations_per_restart: int | None = None
    cost_scale: float | None = None
    perturbation: float | None = None
    exact_forests: bool = True

    def __post_init__(self) -> None:
        checks = (
            ("damping", 0 <= self.damping < 1, "at least 0 and below 1"),
            (
                "split_ratio",
                self.split_ratio is None or SMALLEST_SHARE <= self.split_ratio <= 1 - SMALLEST_SHARE,
                f"between 0 and 1, and at least {SMALLEST_SHARE:g} from both",
            ),
            ("restarts", self.restarts is None or self.restarts >= 1, "at least 1"),
            ("jitter", self.jitter >= 0 and math.isfinite(self.jitter), "at least 0"),
            ("reinforcement", 0 <= self.reinforcement < 1, "at least 0 and below 1"),
            ("temperature", 0 <= self.temperature < math.inf, "at least 0"),
            ("tolerance", self.tolerance >= 0, "at least 0"),
            ("patience", self.patience >= 1, "at least 1"),
            (
                "max_iterations_per_restart",
                self.max_iterations_per_restart is None or self.max_iterations_per_restart >= 1,
                "at least 1",
            ),
            ("cost_scale", self.cost_scale is None or 0 < self.cost_scale < math.inf, "positive"),
            (
                "cost_scale",
                not self.temperature or not self.cost_scale or BETA[0] <= self.cost_scale / self.temperature <= BETA[1],
                f"between {BETA[0] * self.temperature:g} and {BETA[1] * self.temperature:g} at this temperature",
            ),
            ("perturbation", self.perturbation is None or 0 <= self.perturbation < math.inf, "at least 0"),
        )
        for name, holds, wanted in checks:
            if not holds:
                raise ParameterError(f"{name} must be {wanted}, not {getattr(self, name)}")
        if self.temperature > 0:
            object.__setattr__(self, "kernels", ("bp", "bp-soft"))  # of this solver, not of its class

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin on a minimisation problem."""
        if (self.exact_forests and self.temperature == 0) or problem.num_variables == 0:
            forest = Forest.of(problem)
            if forest is not None:
                return ForestSearch(forest, believes=self.temperature > 0)
        return BeliefPropagationSearch(self, problem, seed, budget, initial)


class BeliefPropagationSearch(MessageSearch):
    """Restarts of message passing on one factor graph."""

    def __init__(
        self, solver: BeliefPropagation, problem: Problem, seed: int, budget: Budget, initial: Assignment | None
    ):
        super().__init__(problem, budget)
        self._solver, self._seed, self._initial = solver, seed, initial
        limited = budget.time_limit is not None or budget.max_iterations is not None
        endless = solver.restarts is None and solver.reinforcement > 0 and limited
        self._restarts = None if endless else solver.restarts or 1
        self._restart = 0
        self._kept = KeptMarginals()
        self._optimum: Assignment | None = None
        """Of a forest at a temperature, solved exactly."""
        self._infeasible = self._unreported = False
        """Whether nothing is feasible, and whether there is an optimum that no step has reported."""
        self._diameter: int | None = None
        """Of a forest whose marginals become exact."""
        self._rest = math.inf
        """Iterations of a start after which the marginals of a forest are exact."""
        # After each better assignment the driver computes its cost, which takes as long as an iteration or more.
        self._block_seconds = max(BLOCK_SECONDS, 2e-7 * problem.num_factors)

    def _make_graph(self) -> FactorGraph:
        solver = self._solver
        forest = Forest.of(self._problem) if solver.temperature > 0 else None
        if forest is not None and solver.split_ratio is None and solver.reinforcement == 0:  # copies make cycles
            self._diameter = forest.diameter()
        if forest is not None and solver.exact_forests:
            self._optimum = forest.solve()
            self._infeasible, self._unreported = self._optimum is None, self._optimum is not None
        scale, perturbation = solver.cost_scale, solver.perturbation
        graph, self._beta = graph_at(
            solver.temperature, self._problem, solver.split_ratio, scale, self._seed, perturbation
        )
        return graph

    def _make_engine(self) -> MinSum:
        if self._solver.temperature > 0:
            return SoftMessages(self._problem, self._graph, self._budget.threads, self._beta)
        return MinSum(self._problem, self._graph, self._budget.threads)

    def _prepare(self) -> None:
        if self._optimum is not None:  # the most probable values of single variables need not be an optimum
            self._engine.keep(self._optimum)
        self._begin(self._initial)

    def _work(self) -> Step:
        """Iterate for about a block's time, at most to the end of the current start."""
        if self._infeasible:
            return Step(finished=Status.INFEASIBLE)
        engine, before = self._engine, self._engine.best_cost
        costs, why, _ = self._timed_block(self._cap - engine.iterations, self._iterate)
        step = Step(costs)
        if engine.best_cost < before or self._unreported:
            self._unreported = False
            step.best = engine.memory.best.copy()
            step.best_cost = float(self._problem.cost(step.best))
        if why == RUNNING and engine.iterations >= self._rest:
            why = CONVERGED
        if why != RUNNING or engine.iterations >= self._cap:
            self._end(step, why)
        return step

    def _iterate(self, count: int) -> tuple[NDArray[np.float64], int]:
        engine = self._engine
        if not isinstance(engine, SoftMessages):
            return engine.run(count, self._rules)
        return engine.run_softly(self._draw.schedule(self._beta).phases(engine.iterations, count), self._rules)

    def beliefs(self) -> tuple[NDArray[np.float64], ...] | None:
        """Marginals of the last start that has ended (that has converged, if one has), or else of the first so far."""
        if self._setup is not None or not isinstance(self._engine, SoftMessages):
            return None
        kept = self._kept.of_variables(self._graph.variable_offsets[:-1])
        return self._engine.marginals(self._beta) if kept is None else kept

    def _begin(self, initial: Assignment | None = None) -> None:
        """Start number `self._restart`: draw its parameters, zero the messages."""
        solver, graph = self._solver, self._graph
        draw = Draw(solver.damping)
        if self._restart > 0:
            rng, spread = generator(self._seed, _RESTART_STREAM, self._restart), solver.jitter / 2
            if solver.reinforcement > 0:
                draw = random_draw(rng, graph, self._budget)
            elif spread:
                damping = solver.damping + rng.uniform(-spread, spread, size=graph.num_edges)
                draw = Draw(np.clip(damping, 0.0, max(0.99, solver.damping)))
        elif solver.reinforcement > 0:
            draw = first_draw(solver.damping, solver.reinforcement, graph, self._budget)
        self._draw = draw
        self._engine.reset(draw.damping, draw.unary)
        if initial is not None:
            self._engine.incline(initial, 1.0)
        if draw.rate > 0:
            self._rules, longest = Rules(rate=draw.rate, patience=solver.patience), math.ceil(10 / draw.rate)
        else:
            tolerance = solver.tolerance
            if solver.temperature > 0 and tolerance > 0:
                usual_scale = solver.cost_scale is None
                tolerance = enough_change(tolerance, self._beta, draw.damping, graph, usual_scale)
                if self._diameter is not None:
                    tolerance = float(np.finfo(np.float32).tiny)  # any change
            self._rules, longest = Rules(tolerance=tolerance), 1000
        self._cap = solver.max_iterations_per_restart or longest
        if self._diameter is not None and solver.tolerance > 0:
            self._rest = iterations_to_rest(self._diameter, draw.damping)
            self._cap = min(solver.max_iterations_per_restart or self._rest, self._rest)

    def _end(self, step: Step, why: int) -> None:
        """Record how a start ended; begin the next or finish."""
        if why == CONVERGED and not np.isfinite(self._engine.memory.v2f).all():
            why = RUNNING  # comparisons with NaN may say anything
        if isinstance(self._engine, SoftMessages) and self._restarts != 1:  # where there is one, its messages stay
            self._kept.keep(self._engine.marginals(self._beta), why in (CONVERGED, SETTLED))
        step.records.append(
            {
                "restart": self._restart,
                "iterations": self._engine.iterations,
                "converged": why in (CONVERGED, SETTLED),
                "damping": float(np.mean(self._draw.damping)),
                "reinforcement": self._draw.rate,
            }
        )
        self._restart += 1
        if self._optimum is not None and self._solver.split_ratio is None and why != RUNNING:  # no start can improve
            step.bound = float(self._problem.cost(self._engine.memory.best))
            step.finished, step.notes = Status.OPTIMAL, ("no cycles: solved exactly",)
        elif self._restarts is None or self._restart < self._restarts:
            self._begin()
        else:
            step.finished = Status.LIMIT if why == RUNNING or self._restarts > 1 else Status.CONVERGED
            step.limit = RESTARTS_DONE if self._restarts > 1 else None

    def state_dict(self) -> State:
        """Messages, incumbent and counters; what a start drew follows from its number."""
        self._set_up()
        return {
            **self._engine.state_dict(),
            "restart": self._restart,
            "iterations": self._iterations,
            **self._kept.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Continue bit for bit."""
        self._set_up()
        self._restart, self._iterations = int(state["restart"]), int(state["iterations"])
        if not (0 <= self._restart < (self._restarts or math.inf) and self._iterations >= 0):
            raise ValueError("there is no such start")
        self._kept.load_state_dict(state, len(self._graph.unary))
        self._begin()
        least = self._engine.best_cost
        self._engine.load_state_dict(state)
        if self._engine.iterations >= self._cap:
            raise ValueError("a start has more iterations than it may have")
        if self._optimum is not None and least < self._engine.best_cost:  # the state is older than the proof
            self._engine.keep(self._optimum)
