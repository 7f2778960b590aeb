"""`bp-learned`: belief propagation at a falling temperature, whose schedule is learned before and while solving."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.memory import BEST_OF_START, RUNNING
from dabp.problem import Assignment, Problem
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.belief_propagation.arms import Arms
from dabp.solvers.belief_propagation.forest import Forest, ForestSearch
from dabp.solvers.belief_propagation.online import Online
from dabp.solvers.belief_propagation.pace import SHORTEST, Pace
from dabp.solvers.belief_propagation.policy import OUTPUTS, SPREAD, Policy, Vector, features_of
from dabp.solvers.belief_propagation.polishing import Polish
from dabp.solvers.belief_propagation.reinforcement import RATE
from dabp.solvers.belief_propagation.runs import (
    HARD,
    HARD_OUTPUTS,
    HARD_SPREAD,
    KINDS,
    PULLED,
    SOFT,
    Run,
    hard_draw,
    hard_run,
    near_draw,
    soft_run,
    unary_of,
    within,
)
from dabp.solvers.belief_propagation.soft_engine import SoftMessages
from dabp.solvers.belief_propagation.solver import first_block, takes_long
from dabp.solvers.belief_propagation.streams import Streams
from dabp.solvers.status import Status
from dabp.solvers.traffic import Traffic

LONGEST = 20_000
"""Iterations of a soft run at most."""

ALONE = 8.0
"""A run that is to be the only one takes so many times the length that the policy wants, if there is time."""

LONG, SCATTERED = 0.5, 0.05
"""Iterations of a run for each variable at least: on large problems few long runs are better than many; and where the
best of several can be put together island by island, many are better than few."""

MANY_RUNS = 6
"""Soft runs that must fit in what is left for other kinds to be tried."""

CALM = 200
"""Variables from which on the scatter falls as one over the root of their number. So does that of the costs of runs,
and what a worse schedule loses is no longer won back by the luckiest of many."""

SHORT = 1 / 4
"""Where many runs fit a soft run takes between this part and all of the length that the policy wants: single runs are
worse, but more of them are among the best for the work. On problems larger than `CALM` the part is larger. Shorter ones
come near the best known cost as often for the work, but never reach it."""

ENDLESS_RUNS = 20
"""Without any limit."""


@dataclass(frozen=True, kw_only=True)
class LearnedBeliefPropagation(Solver):
    """Runs of soft belief propagation: while the temperature falls, reinforcement freezes the beliefs.

    A run takes a schedule (start and end of the inverse temperature β, strength and shape of the reinforcement,
    damping, perturbation, length) from a policy of the instance's features, which was learned over families of
    problems, and goes on learning from the runs on the instance. Where many runs fit in the limits some are
    reinforced min-sum as `bp-reinforced` draws it, and some are pulled towards the best assignment so far: a bandit
    gives more runs to the kind that the best ones come from.

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
    policy
        A file of ``dabp train-policy``, read when a solve starts; none = the policy that comes with the package.
    online
        False: later runs scatter around the policy's choice, and learn nothing from earlier ones.
    min_sum
        False: runs at a falling temperature alone.
    consensus
        Runs of min-sum near the best assignment charge up to this, in scaled units, the variables that are not freed
        for leaving it; 0 = no such runs.
    per_variable
        False: the same damping for every edge.
    polish
        False: no descent from the last assignment of each soft run, nor what sparse problems have beside it: moves of
        forests, and the best of this and the best assignment so far, island by island.
    """

    checkpoints: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("bp", "bp-soft", "forest-lns")

    restarts: int | None = None
    iterations: int | None = None
    temperature: bool = True
    pretrained: bool = True
    policy: str | None = None
    online: bool = True
    min_sum: bool = True
    consensus: float = 6.0
    per_variable: bool = True
    polish: bool = True

    def __post_init__(self) -> None:
        checks = (
            ("restarts", self.restarts is None or self.restarts >= 1, "at least 1"),
            ("iterations", self.iterations is None or self.iterations >= 1, "at least 1"),
            ("consensus", 0 <= self.consensus < math.inf, "at least 0"),
        )
        for name, holds, wanted in checks:
            if not holds:
                raise ParameterError(f"{name} must be {wanted}, not {getattr(self, name)}")
        if self.policy is not None and not self.pretrained:
            raise ParameterError(f"policy is {self.policy!r}, but pretrained=False uses none; leave one of them out")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin on a minimisation problem; one without cycles is solved exactly."""
        policy = Policy.chosen(self.policy, pretrained=self.pretrained)  # a wrong file is told on any problem
        forest = Forest.of(problem)
        return LearnedSearch(self, problem, seed, budget, policy, initial) if forest is None else ForestSearch(forest)

    def kinds(self) -> dict[str, float]:
        """Kinds of runs, and what an iteration of each takes beside the others'."""
        kept = {SOFT: True, HARD: self.min_sum, PULLED: self.min_sum and self.consensus > 0}
        return {kind: KINDS[kind] for kind, taken in kept.items() if taken}


class LearnedSearch(Search):
    """One run after another on one factor graph."""

    state_assignments = (*Search.state_assignments, "target")

    def __init__(
        self,
        solver: LearnedBeliefPropagation,
        problem: Problem,
        seed: int,
        budget: Budget,
        policy: Policy,
        initial: Assignment | None = None,
    ):
        self._solver, self._problem, self._seed, self._budget, self._policy = solver, problem, seed, budget, policy
        spread = SPREAD * min(1.0, math.sqrt(CALM / max(1, problem.num_variables)))
        self._spread, self._arms = spread, Arms(solver.kinds(), PULLED)
        self._online = {
            # Runs near the best assignment mostly come back to it: their costs say nothing of how they were drawn.
            kind: Online(spread if kind == SOFT else HARD_SPREAD, solver.online and kind != PULLED)
            for kind in solver.kinds()
        }
        self._best = np.zeros(problem.num_variables, dtype=np.int64)
        self._target = self._best.copy()
        self._best_cost = np.inf
        if initial is not None:
            self.offer(initial, float(problem.cost(initial)))
        limited = budget.time_limit is not None or budget.max_iterations is not None
        self._restarts = solver.restarts or (None if limited else ENDLESS_RUNS)
        self._run = self._iterations = 0
        self._streams = Streams(seed)
        self._started, self._iterated = time.perf_counter(), 0.0
        self._setup: Iterator[None] | None = self._stages()

    def _stages(self) -> Iterator[None]:
        """The graph, its layout, the first run: on large problems seconds, between which a solve can be ended."""
        self._graph = FactorGraph.from_problem(self._problem, seed=self._seed, dtype=np.float32)
        large = takes_long(self._problem)
        if large:
            yield
        self._engine = SoftMessages(self._problem, self._graph, self._budget.threads)
        if large:
            yield
        self._features = features_of(self._graph)
        self._polish = Polish(self._problem, self._seed, self._budget) if self._solver.polish else None
        self._usual = self._wanted(self._policy.outputs(self._features))
        self._pace = Pace(self._budget, self._graph, self._started)
        self._block = first_block(self._graph)
        self._begin()

    def _set_up(self) -> None:
        """Whatever of the preparations is left."""
        if self._setup is not None:
            for _ in self._setup:
                pass
            self._setup = None

    def _begin(self, kept: Run | None = None) -> None:
        """Draw the next run, or take the one that was drawn before a resume, and zero the messages."""
        rng = self._streams.of(self._run)
        chance = rng.random(len(self._graph.unary) + self._graph.num_variables)
        if kept is None:
            self._target[:] = self._best
            self._now = self._draw(rng)
        else:
            self._now = kept
        self._engine.hottest = self._now.schedule.beta.start
        self._engine.reset(self._now.damping, unary_of(self._now, chance, self._graph, self._target))

    def _draw(self, rng: np.random.Generator) -> Run:
        """What the next run is given."""
        solver, left = self._solver, self._pace.left(self._iterations)
        wanted = self._usual
        alone = self._restarts == 1
        if alone and solver.iterations is None:
            wanted = min(ALONE * wanted, LONGEST)
        few = self._run == 0 or (left is not None and left < MANY_RUNS * wanted)
        kind = self._arms.choose(rng, only=SOFT if few else None)
        if kind != SOFT:
            drawn = near_draw(rng, solver.consensus) if kind == PULLED else hard_draw(rng)
            drawn = self._online[kind].draw(rng, drawn)
            return self._made(kind, within(drawn, RATE[0] if left is None else 1 / max(left, 1.0)), solver.iterations)
        if not few and solver.iterations is None:
            calm = min(1.0, CALM / self._graph.num_variables) ** 2
            wanted = max(SHORTEST, wanted * SHORT ** (calm * rng.random()))
        length = solver.iterations or self._pace.fitting(wanted, left, first=self._run == 0 and not alone)
        drawn = self._policy.outputs(self._features, length)
        if self._run > 0:
            noise = self._spread * rng.normal(size=len(OUTPUTS))
            drawn = self._online[kind].draw(rng, drawn + noise)
        return self._made(kind, drawn, length)

    def _made(self, kind: str, drawn: Vector, length: int | None) -> Run:
        """The run that these outputs mean."""
        if kind != SOFT:
            return hard_run(kind, drawn, length)
        assert length is not None
        run = soft_run(drawn, self._graph, length, per_variable=self._solver.per_variable)
        return run if self._solver.temperature else replace(run, schedule=replace(run.schedule, cold=0.0))

    def _wanted(self, outputs: Vector) -> float:
        """Iterations of a soft run, if there is time."""
        if self._solver.iterations is not None:
            return self._solver.iterations
        length = float(np.exp(np.clip(outputs[-1], 0.0, 12.0)))
        each = SCATTERED if self._polish is not None and self._polish.sparse else LONG
        return min(max(SHORTEST, length, each * self._graph.num_variables), LONGEST)

    def step(self) -> Step:
        """Iterate for about a block's time, at most to the end of the run; first a stage of preparations."""
        if self._setup is not None:
            if next(self._setup, True) is None:
                return Step()
            self._setup = None
        engine = self._engine
        done = engine.iterations
        count = min(self._block, self._now.length - done)
        if self._budget.max_iterations is not None:
            count = min(count, max(1, self._budget.max_iterations - self._iterations))
        clock = time.perf_counter()
        if self._now.rules.rate > 0:
            costs, why = engine.run(count, self._now.rules)
        else:
            phases = self._now.schedule.phases(done, count)._replace(damping=None)
            costs, why = engine.run_softly(phases, self._now.rules)
        seconds = max(time.perf_counter() - clock, 1e-6)
        self._iterated += seconds
        self._block = max(1, min(10 * self._block, int(len(costs) * BLOCK_SECONDS / seconds)))
        self._iterations += len(costs)
        step = Step(costs)
        if engine.best_cost < self._best_cost:
            self._best[:] = engine.memory.best
            self._best_cost = float(self._problem.cost(self._best))
            step.best, step.best_cost = self._best.copy(), self._best_cost
        if self._now.kind == SOFT:
            self._pace.took(len(costs), seconds)
            schedule = self._pace.kept(self._now.schedule, engine.iterations, self._iterations)
            if schedule is not self._now.schedule:
                self._now = replace(self._now, schedule=schedule)
        if why != RUNNING or engine.iterations >= self._now.length:
            self._end(step)
        return step

    def _end(self, step: Step) -> None:
        """Learn from the run, begin the next or say that it was the last."""
        run, iterations = self._now, self._engine.iterations
        cost = float(self._engine.memory.costs[BEST_OF_START])
        if self._polish is not None:
            last = self._engine.memory.assignment.astype(np.int64)
            if run.kind == SOFT:  # reinforced min-sum ends frozen, where there is no way down
                last = self._polish.polished(last, self._run, iterations)
                cost = min(cost, self._found(last, step))
            if self._polish.sparse:
                self._found(self._polish.crossed(self._target, last), step)
        found = {"cost": cost} if math.isfinite(cost) else {}
        step.records.append({"restart": self._run, "iterations": iterations, **run.record(iterations), **found})
        self._online[run.kind].learn(cost, run.drawn)
        self._arms.learn(run.kind, cost, iterations)
        self._run += 1
        if self._restarts is None or self._run < self._restarts:
            self._begin()
        else:
            step.finished = Status.LIMIT

    def _found(self, values: Assignment, step: Step) -> float:
        """Its cost; kept if it is the best so far."""
        cost = float(self._problem.cost(values))
        if cost < self._best_cost:
            self._best[:], self._best_cost = values, cost
            step.best, step.best_cost = values, cost
        return cost

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
            "kind": self._now.kind,
            "drawn": self._now.drawn.tolist(),
            "length": self._now.length,
            "since": list(self._now.schedule.since),
            "target": self._target.copy(),
            "online": {kind: online.state_dict() for kind, online in self._online.items()},
            "arms": self._arms.state_dict(),
            "policy": self._policy.digest,
        }

    def load_state_dict(self, state: State) -> None:
        """Continue bit for bit."""
        self._set_up()
        self._run, self._iterations = int(state["run"]), int(state["iterations"])
        kind, length = str(state["kind"]), int(state["length"])
        if not (0 <= self._run < (self._restarts or math.inf) and self._iterations >= 0 and length >= 1):
            raise ValueError("there is no such run")
        if state["policy"] != self._policy.digest:
            raise ValueError("its policy has other weights; is the file that policy names another one by now?")
        if kind not in self._online:
            raise ValueError("there are no such kinds of runs")
        drawn = np.array(state["drawn"], dtype=np.float64)
        if drawn.shape != (len(OUTPUTS if kind == SOFT else HARD_OUTPUTS),) or not np.isfinite(drawn).all():
            raise ValueError("a run has other outputs")
        self._best[:], self._target[:] = state["incumbent"], state["target"]
        cost = state["incumbent_cost"]
        self._best_cost = np.inf if cost is None else float(self._problem.cost(self._best))
        for name, online in self._online.items():
            online.load_state_dict(state["online"][name])
        self._arms.load_state_dict(state["arms"])
        self._begin(self._resumed(kind, drawn, length, state["since"]))
        for name in _SAVED:
            getattr(self._engine.memory, name)[:] = state[name]
        self._engine.check()
        if self._engine.iterations >= length:
            raise ValueError("a run has more iterations than it may have")

    def _resumed(self, kind: str, drawn: Vector, length: int, since: list[float]) -> Run:
        """The run that was interrupted, as long as it was then."""
        run = self._made(kind, drawn, length if kind == SOFT else self._solver.iterations)
        first, part = int(since[0]), float(since[1])
        if not (0 <= first < length and 0.0 <= part <= 1.0):
            raise ValueError("a run has no such part")
        return replace(run, schedule=replace(run.schedule, iterations=length, since=(first, part)))

    def traffic(self) -> Traffic:
        """Each iteration two messages along every edge, with an entry for each value."""
        if self._setup is not None:
            return Traffic(0, 0)
        graph = self._graph
        return Traffic(2 * self._iterations * graph.num_edges, 2 * self._iterations * graph.num_messages)

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
