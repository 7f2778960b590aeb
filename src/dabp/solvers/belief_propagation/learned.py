"""`bp-learned`: belief propagation at a falling temperature, whose schedule is learned before and while solving."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import RUNNING
from dabp.problem import Assignment, Problem
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.belief_propagation.draws import Choices, Draws, arm_of
from dabp.solvers.belief_propagation.forest import Forest, ForestSearch
from dabp.solvers.belief_propagation.on_table import may_search
from dabp.solvers.belief_propagation.pace import Pace
from dabp.solvers.belief_propagation.policy import Policy
from dabp.solvers.belief_propagation.polishing import Polish
from dabp.solvers.belief_propagation.runs import PULLED, SOFT, Run, unary_of
from dabp.solvers.belief_propagation.soft_engine import SoftMessages
from dabp.solvers.belief_propagation.staged import StagedSearch, first_block
from dabp.solvers.belief_propagation.streams import Streams
from dabp.solvers.belief_propagation.sweeps import Sweeps
from dabp.solvers.belief_propagation.walks import Walks
from dabp.solvers.status import RESTARTS_DONE, Status

ENDLESS_RUNS = 20
"""Without any limit."""


@dataclass(frozen=True, kw_only=True)
class LearnedBeliefPropagation(Solver):
    """Runs of soft belief propagation: while the temperature falls, reinforcement freezes the beliefs.

    A run takes a schedule (start and end of the inverse temperature β, strength and shape of the reinforcement,
    damping, perturbation, length) from a policy of the instance's features, which was learned over families of
    problems, and goes on learning from the runs on the instance. Where many runs fit in the limits some are
    reinforced min-sum as `bp-reinforced` draws it, and some are pulled towards the best assignment so far: a bandit
    gives more runs to the kind that the best ones come from. What a run ends with is annealed from a temperature at
    which much of it stays, for as long as that finds anything.

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
        A file of ``dabp lab train-policy``, read when a solve starts; none = the policy that comes with the package.
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
    local_search
        False: neither annealing from the answers of runs, which a bandit gives as much time as it is worth, nor a tabu
        walk from those of runs near the best assignment. Sparse problems, which are put together island by island, and
        large ones have none in any case.
    """

    checkpoints: ClassVar[bool] = True

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
    local_search: bool = True

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

    def choices(self, local_search: bool) -> Choices:
        """What decides about a run, which may be followed by local search or not."""
        return Choices(
            iterations=self.iterations,
            temperature=self.temperature,
            online=self.online,
            min_sum=self.min_sum,
            consensus=self.consensus,
            per_variable=self.per_variable,
            local_search=local_search,
        )


class LearnedSearch(StagedSearch):
    """One run after another on one factor graph."""

    _engine: SoftMessages
    state_assignments = (*Search.state_assignments, "target", "answer")

    def __init__(
        self,
        solver: LearnedBeliefPropagation,
        problem: Problem,
        seed: int,
        budget: Budget,
        policy: Policy,
        initial: Assignment | None = None,
    ):
        super().__init__(problem)
        self._solver, self._seed, self._budget, self._policy = solver, seed, budget, policy
        self._best = np.zeros(problem.num_variables, dtype=np.int64)
        self._target, self._answer = self._best.copy(), self._best.copy()
        self._best_cost = self._answer_cost = self._uncooled = np.inf
        if initial is not None:
            self.offer(initial, float(problem.cost(initial)))
        limited = budget.time_limit is not None or budget.max_iterations is not None
        self._restarts = solver.restarts or (None if limited else ENDLESS_RUNS)
        self._run = 0
        self._started, self._iterated = working_seconds(), 0.0
        """When the search began, and the seconds of messages and of local search."""

    def _stages(self) -> Iterator[None]:
        """The graph, its layout, the first run: on large problems seconds, between which a solve can be ended."""
        self._graph = FactorGraph.from_problem(self._problem, seed=self._seed, dtype=np.float32)
        if self._large:
            yield
        self._engine = SoftMessages(self._problem, self._graph, self._budget.threads)
        if self._large:
            yield
        solver = self._solver
        self._polish = Polish(self._problem, self._seed, self._budget) if solver.polish else None
        sparse = self._polish is not None and self._polish.sparse
        searched = solver.local_search and not sparse and may_search(self._problem)
        self._draws = Draws(solver.choices(searched), self._policy, self._graph, scattered=sparse)
        self._sweeps = Sweeps(self._problem, self._seed, self._budget.guard)
        self._walks = Walks(self._problem, self._budget.guard) if searched else None
        self._streams = Streams(self._seed, len(self._graph.unary) + self._graph.num_variables + 2)
        self._pace = Pace(self._budget, self._graph, self._started)
        self._block = first_block(self._graph)
        self._begin()

    def _begin(self, kept: Run | None = None) -> None:
        """Draw the next run, or take the one that was drawn before a resume, and zero the messages."""
        rng, chance = self._streams.of(self._run)
        self._heat, self._chance = chance[-2:].tolist()
        if kept is None:
            self._target[:] = self._best
            alone, first = self._restarts == 1, self._run == 0
            done, sweeps = self._iterations, self._sweeps
            self._now = self._draws.next(rng, self._pace, done, sweeps, first=first, alone=alone)
        else:
            self._now = kept
        self._engine.hottest = self._now.schedule.beta.start
        unary = unary_of(self._now, chance[:-2], self._graph, self._target)
        clock = working_seconds()
        self._engine.reset(self._now.damping, unary)
        self._iterated += working_seconds() - clock

    def _work(self) -> Step:
        """Iterate or sweep for about a block's time, at most to the end of the run."""
        return self._cool(Step()) if self._sweeps.under_way else self._iterate()

    def _iterate(self) -> Step:
        """Iterations for about a block's time."""
        engine = self._engine
        done = engine.iterations
        count = min(self._block, self._now.length - done)
        if self._budget.max_iterations is not None:
            count = min(count, max(1, self._budget.max_iterations - self._iterations))
        clock = working_seconds()
        if self._now.rules.rate > 0:
            costs, why = engine.run(count, self._now.rules)
        else:
            phases = self._now.schedule.phases(done, count)._replace(damping=None)
            costs, why = engine.run_softly(phases, self._now.rules)
        seconds = max(working_seconds() - clock, 1e-6)
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
            sweeping = self._sweeps.seconds if self._now.cooled else 0.0
            left = self._pace.left(self._iterations, sweeping, engine.iterations)
            schedule = self._pace.kept(self._now.schedule, engine.iterations, self._iterations, left)
            if schedule is not self._now.schedule:
                self._now = replace(self._now, schedule=schedule)
        if why != RUNNING or engine.iterations >= self._now.length:
            self._settle(step)
        return step

    def _settle(self, step: Step) -> None:
        """What the run ends with, polished; it cools in the steps that follow, or at once if there are none."""
        run, iterations = self._now, self._engine.iterations
        self._answer[:] = self._engine.memory.assignment
        self._answer_cost = self._engine.start_cost
        clock, found = working_seconds(), None
        if self._polish is not None and run.kind == SOFT:  # reinforced min-sum ends frozen: there is no way down
            found = self._polish.polished(self._answer, self._run, iterations)
            self._answer[:] = found
        if run.kind == PULLED and self._walks is not None:
            found = self._walks.walked(self._answer, iterations, self._heat, self._chance)
        if run.cooled:
            self._sweeps.begin(self._answer, iterations, self._heat, self._chance)
        self._iterated += working_seconds() - clock
        if found is not None:
            self._improve(found, step)
        self._uncooled = self._answer_cost
        if not self._sweeps.under_way:
            self._end(step)
        elif self._iterations >= (self._budget.max_iterations or math.inf):
            while self._sweeps.under_way and not self._budget.guard.over:
                self._cool(step)

    def _cool(self, step: Step) -> Step:
        """Sweeps for about a block's time, and the end of the run after the last of them."""
        clock = working_seconds()
        better = self._sweeps.go_on()
        over = not self._sweeps.under_way
        worth_telling = self._sweeps.improved if over else better and self._hopeful
        best = self._sweeps.best() if worth_telling else None
        if best is not None and over and self._polish is not None:  # the best may have come while it was warm
            best = self._polish.descended(best)
        self._iterated += working_seconds() - clock
        if best is not None:
            self._improve(best, step)
        if over:
            self._end(step)
        return step

    @property
    def _hopeful(self) -> bool:
        """Whether what the cooling has found may be the best of all; where it began from nothing, anything may."""
        return not self._uncooled - self._sweeps.gain >= self._best_cost

    def _improve(self, values: Assignment, step: Step) -> None:
        """Something that came of the run."""
        self._answer_cost = min(self._answer_cost, self._found(values, step))

    def _end(self, step: Step) -> None:
        """Learn from the run, begin the next or say that it was the last."""
        run, iterations = self._now, self._engine.iterations
        if self._polish is not None and self._polish.sparse:
            self._found(self._polish.crossed(self._target, self._answer), step)
        cost = self._answer_cost
        told = {"cost": cost} if math.isfinite(cost) else {}
        if run.cooled:
            told["sweeps"] = self._sweeps.length
        step.records.append({"restart": self._run, "iterations": iterations, **run.record(iterations), **told})
        self._draws.learn(run, iterations, self._uncooled, cost)
        self._run += 1
        if self._restarts is None or self._run < self._restarts:
            self._begin()
        else:
            step.finished, step.limit = Status.LIMIT, RESTARTS_DONE

    def _found(self, values: Assignment, step: Step) -> float:
        """Its cost; kept if it is the best so far."""
        cost = float(self._problem.cost(values))
        if cost < self._best_cost:
            self._best[:], self._best_cost = values, cost
            step.best, step.best_cost = self._best.copy(), cost
        return cost

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Runs may be pulled towards it."""
        if cost < self._best_cost:
            self._best[:], self._best_cost = assignment, cost

    def state_dict(self) -> State:
        """Messages, incumbent, counters, and what was learned and drawn."""
        self._set_up()
        return {
            **self._engine.state_dict(),
            "incumbent": self._best.copy(),
            "incumbent_cost": self._best_cost if np.isfinite(self._best_cost) else None,
            "run": self._run,
            "iterations": self._iterations,
            "kind": arm_of(self._now),
            "drawn": self._now.drawn.tolist(),
            "length": self._now.length,
            "since": list(self._now.schedule.since),
            "target": self._target.copy(),
            "answer": self._answer.copy(),
            "uncooled": self._uncooled if np.isfinite(self._uncooled) else None,
            "cooling": self._sweeps.under_way,
            "sweeps": self._sweeps.state_dict(),
            "learned": self._draws.state_dict(),
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
        self._best[:], self._target[:], self._answer[:] = state["incumbent"], state["target"], state["answer"]
        cost, uncooled = state["incumbent_cost"], state["uncooled"]
        self._best_cost = np.inf if cost is None else float(self._problem.cost(self._best))
        self._answer_cost = self._uncooled = np.inf if uncooled is None else float(uncooled)
        self._draws.load_state_dict(state["learned"])
        self._sweeps.load_state_dict(state["sweeps"])
        self._begin(self._draws.resumed(kind, state["drawn"], length, state["since"]))
        self._engine.load_state_dict(state)
        done = self._engine.iterations
        if state["cooling"]:
            self._sweeps.begin(self._answer, done, self._heat, self._chance)
        if done > length or (done == length and not self._sweeps.under_way):
            raise ValueError("a run has more iterations than it may have")
