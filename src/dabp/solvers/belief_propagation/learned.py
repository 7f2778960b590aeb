"""`bp-learned`: belief propagation at a falling temperature, whose schedule is learned before and while solving."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.memory import BEST_OF_START, Rules
from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, FIRST_BLOCK, Budget, Search, Solver, State, Step
from dabp.solvers.belief_propagation.forest import Forest
from dabp.solvers.belief_propagation.online import Online
from dabp.solvers.belief_propagation.policy import (
    OUTPUTS,
    Policy,
    Vector,
    damping_by_degree,
    features_of,
    schedule_of,
)
from dabp.solvers.belief_propagation.reinforcement import affordable_iterations
from dabp.solvers.belief_propagation.schedule import Ramp
from dabp.solvers.belief_propagation.soft_engine import SoftMessages
from dabp.solvers.belief_propagation.solver import LARGE_SETUP, ForestSearch
from dabp.solvers.status import Status
from dabp.solvers.traffic import Traffic

SHORTEST, LONGEST = 30, 20_000
"""Iterations of a run at least, and at most."""

LONG = 0.5
"""Iterations of a run for each variable at least: on large problems few long runs are better than many."""

FIRST_PART = 0.12
"""Of all iterations that the first run takes at most: an answer early, and a measure of what an iteration takes."""

LAST_PART = 1.7
"""A run takes all that is left if that is less than so many times its length."""

ENDLESS_RUNS = 20
"""Without any limit."""

COLD = 1e4
"""β in place of a finite temperature where that is switched off: min-sum but for a rounding."""

_STREAM = 0x50F7


@dataclass(frozen=True, kw_only=True)
class LearnedBeliefPropagation(Solver):
    """Runs of soft belief propagation: while the temperature falls, reinforcement freezes the beliefs.

    A run takes a schedule (start and end of the inverse temperature β, strength and shape of the reinforcement,
    damping, perturbation, length) from a policy of the instance's features, which was learned over families of
    problems, and goes on learning from the runs on the instance.

    Parameters
    ----------
    restarts
        Runs at most; none = until a limit, and 20 without one.
    iterations
        Iterations of each run; none = as the policy and the limits have it.
    temperature
        False: min-sum messages, the same schedules otherwise.
    pretrained
        False: schedules from the middle of what is sensible, whatever the instance.
    online
        False: later runs scatter around the policy's choice, and learn nothing from earlier ones.
    consensus
        Largest unary cost, in scaled units, for leaving what the best runs agree on; every other run draws one.
    per_variable
        False: the same damping for every edge.
    """

    checkpoints: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("bp", "bp-soft")

    restarts: int | None = None
    iterations: int | None = None
    temperature: bool = True
    pretrained: bool = True
    online: bool = True
    consensus: float = 0.0
    per_variable: bool = True

    def __post_init__(self) -> None:
        checks = (
            ("restarts", self.restarts is None or self.restarts >= 1, "at least 1"),
            ("iterations", self.iterations is None or self.iterations >= 1, "at least 1"),
            ("consensus", 0 <= self.consensus < math.inf, "at least 0"),
        )
        for name, holds, wanted in checks:
            if not holds:
                raise ParameterError(f"{name} must be {wanted}, not {getattr(self, name)}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin on a minimisation problem; one without cycles is solved exactly."""
        forest = Forest.of(problem)
        return LearnedSearch(self, problem, seed, budget, initial) if forest is None else ForestSearch(forest)

    def policy(self) -> Policy:
        """What runs go by at first."""
        return Policy.shipped() if self.pretrained else Policy.neutral()


class LearnedSearch(Search):
    """One run after another on one factor graph."""

    def __init__(
        self,
        solver: LearnedBeliefPropagation,
        problem: Problem,
        seed: int,
        budget: Budget,
        initial: Assignment | None = None,
        policy: Policy | None = None,
    ):
        self._solver, self._problem, self._seed, self._budget = solver, problem, seed, budget
        self._policy = solver.policy() if policy is None else policy
        self._online = Online(solver.online, problem.num_variables)
        self._best = np.zeros(problem.num_variables, dtype=np.int64)
        self._best_cost = np.inf
        if initial is not None:
            self.offer(initial, float(problem.cost(initial)))
        limited = budget.time_limit is not None or budget.max_iterations is not None
        self._restarts = solver.restarts or (None if limited else ENDLESS_RUNS)
        self._run = self._iterations = 0
        self._clock, self._iterated = time.perf_counter(), 0.0
        self._setup: Iterator[None] | None = self._stages()

    def _stages(self) -> Iterator[None]:
        """The graph, its layout, the first run: on large problems seconds, between which a solve can be ended."""
        self._graph = FactorGraph.from_problem(self._problem, seed=self._seed, dtype=np.float32)
        large = self._graph.num_edges > LARGE_SETUP
        if large:
            yield
        self._engine = SoftMessages(self._problem, self._graph, self._budget.threads)
        if large:
            yield
        self._features = features_of(self._graph)
        self._block = max(1, FIRST_BLOCK // max(len(self._engine.layout.tables), 1))
        self._begin()

    def _set_up(self) -> None:
        """Whatever of the preparations is left."""
        if self._setup is not None:
            for _ in self._setup:
                pass
            self._setup = None

    def _begin(self, drawn: Vector | None = None, length: int | None = None) -> None:
        """Draw the next run, or take the one that was drawn before a resume, and zero the messages."""
        rng, graph, solver = generator(self._seed, _STREAM, self._run), self._graph, self._solver
        wanted = self._policy.outputs(self._features)
        fresh = self._online.draw(rng, wanted, first=self._run == 0)
        self._length = self._fitting(float(np.exp(np.clip(fresh[-1], 0.0, 12.0)))) if length is None else length
        if self._run == 0:
            fresh = self._policy.outputs(self._features, self._length)
        self._drawn = fresh if drawn is None else drawn
        self._schedule = schedule_of(self._drawn, graph.num_edges / graph.num_variables, self._length)
        unary = rng.uniform(0.0, self._schedule.perturbation, size=len(graph.unary))
        if solver.consensus > 0 and self._run % 2 and self._best_cost < np.inf:
            pull = np.full(len(unary), rng.uniform(0.0, solver.consensus))
            pull[graph.variable_offsets[:-1] + self._best] = 0.0
            unary += pull
        self._engine.hottest = self._schedule.beta.start if solver.temperature else COLD
        damping = damping_by_degree(self._drawn, graph) if solver.per_variable else self._schedule.damping.start
        self._engine.reset(damping, unary)

    def _fitting(self, length: float) -> int:
        """So many iterations, within what is left."""
        if self._solver.iterations is not None:
            return self._solver.iterations
        wanted = min(max(SHORTEST, length, LONG * self._graph.num_variables), LONGEST)
        left = self._left()
        if left is None:
            return int(wanted)
        if self._run == 0:
            return int(max(SHORTEST, min(wanted, FIRST_PART * left)))
        return int(max(SHORTEST, left if left < LAST_PART * wanted else wanted))

    def _left(self) -> float | None:
        """About how many iterations there are left: at first by a nominal speed, then by the clock."""
        budget, lefts = self._budget, []
        if budget.max_iterations is not None:
            lefts.append(float(budget.max_iterations - self._iterations))
        if budget.time_limit is not None:
            if self._iterations == 0:
                nominal = affordable_iterations(self._graph, Budget(time_limit=budget.time_limit))
                lefts.append(float(nominal or 1))
            else:
                seconds = budget.time_limit - (time.perf_counter() - self._clock)
                lefts.append(seconds * self._iterations / max(self._iterated, 1e-6))
        return min(lefts) if lefts else None

    def step(self) -> Step:
        """Iterate for about a block's time, at most to the end of the run; first a stage of preparations."""
        if self._setup is not None:
            if next(self._setup, True) is None:
                return Step()
            self._setup = None
        engine = self._engine
        done = engine.iterations
        count = min(self._block, self._length - done)
        if self._budget.max_iterations is not None:
            count = min(count, max(1, self._budget.max_iterations - self._iterations))
        clock = time.perf_counter()
        phases = self._schedule.phases(done, count)._replace(damping=None)
        if not self._solver.temperature:
            phases = phases._replace(beta=np.full(count, COLD))
        costs, _ = engine.run_softly(phases, Rules())
        seconds = max(time.perf_counter() - clock, 1e-6)
        self._iterated += seconds
        self._block = max(1, min(10 * self._block, int(len(costs) * BLOCK_SECONDS / seconds)))
        self._iterations += len(costs)
        step = Step(costs)
        if engine.best_cost < self._best_cost:
            self._best[:] = engine.memory.best
            self._best_cost = float(self._problem.cost(self._best))
            step.best, step.best_cost = self._best.copy(), self._best_cost
        if engine.iterations >= self._length:
            self._end(step)
        return step

    def _end(self, step: Step) -> None:
        """Learn from the run, begin the next or say that it was the last."""
        cost, schedule = float(self._engine.memory.costs[BEST_OF_START]), self._schedule
        gain = schedule.gain
        assert isinstance(gain, Ramp)  # as the policy makes it
        record: dict[str, Any] = {
            "restart": self._run,
            "iterations": self._length,
            "beta_start": schedule.beta.start,
            "beta_end": schedule.beta.end,
            "reinforcement": gain.end,
            "shape": gain.shape,
            "damping": schedule.damping.start,
            "damping_by_degree": float(self._drawn[OUTPUTS.index("damping by degree")]),
            "perturbation": schedule.perturbation,
        }
        if np.isfinite(cost):
            record["cost"] = cost
        step.records.append(record)
        self._online.learn(cost, self._drawn)
        self._run += 1
        if self._restarts is None or self._run < self._restarts:
            self._begin()
        else:
            step.finished = Status.LIMIT

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Runs may be pulled towards it."""
        if cost < self._best_cost:
            self._best[:], self._best_cost = assignment, cost

    def state_dict(self) -> State:
        """Messages, incumbent, counters, and what was learned and drawn."""
        self._set_up()
        memory = self._engine.memory
        return {
            **{name: getattr(memory, name).copy() for name in _SAVED},
            "incumbent": self._best.copy(),
            "incumbent_cost": self._best_cost if np.isfinite(self._best_cost) else None,
            "run": self._run,
            "iterations": self._iterations,
            "length": self._length,
            "drawn": self._drawn.tolist(),
            **self._online.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Continue bit for bit."""
        self._set_up()
        self._run, self._iterations = int(state["run"]), int(state["iterations"])
        drawn, length = np.array(state["drawn"], dtype=np.float64), int(state["length"])
        if not (0 <= self._run < (self._restarts or math.inf) and self._iterations >= 0 and length >= 1):
            raise ValueError("there is no such run")
        if drawn.shape != (len(OUTPUTS),) or not np.isfinite(drawn).all():
            raise ValueError("a run has other outputs")
        self._best[:] = state["incumbent"]
        cost = state["incumbent_cost"]
        self._best_cost = np.inf if cost is None else float(self._problem.cost(self._best))
        self._online.load_state_dict(state)
        self._begin(drawn, length)
        for name in _SAVED:
            getattr(self._engine.memory, name)[:] = state[name]
        self._engine.check()
        if self._engine.iterations >= length:
            raise ValueError("a run has more iterations than it may have")

    def traffic(self) -> Traffic:
        """Each iteration two messages along every edge, with an entry for each value."""
        if self._setup is not None:
            return Traffic(0, 0)
        entries = int(self._graph.domain_sizes[self._graph.edge_variable].sum())
        return Traffic(2 * self._iterations * self._graph.num_edges, 2 * self._iterations * entries)

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Messages and the field of reinforcement."""
        if self._setup is not None:
            return {}
        memory = self._engine.memory
        return {"v2f messages": memory.v2f, "f2v messages": memory.f2v, "the field": memory.field}

    def close(self) -> None:
        """End the threads."""
        if self._setup is None:
            self._engine.close()


_SAVED = ("v2f", "field", "assignment", "best", "priced", "counts", "costs")
"""What of the engine's memory a run goes on from."""
