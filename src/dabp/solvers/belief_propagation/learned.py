"""`bp-learned`: belief propagation at a falling temperature, whose schedule is learned before and while solving."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import RUNNING
from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget, Search, Solver, State, Step
from dabp.solvers.belief_propagation.exact_forest import Forest, ForestSearch
from dabp.solvers.belief_propagation.improvement import Annealing, Polish, TabuWalks, may_search
from dabp.solvers.belief_propagation.message_search import MessageSearch
from dabp.solvers.belief_propagation.pace import Pace
from dabp.solvers.belief_propagation.policy import Policy
from dabp.solvers.belief_propagation.run_choice import RunChoice, arm_of
from dabp.solvers.belief_propagation.runs import PULLED, SOFT, Run, unary_of
from dabp.solvers.belief_propagation.soft_engine import SoftMessages
from dabp.solvers.status import RESTARTS_DONE, Status

_RUN_STREAM = 0x50F7


@dataclass(frozen=True, kw_only=True)
class LearnedBeliefPropagation(Solver):
    """Runs of soft belief propagation: while the temperature falls, reinforcement freezes the beliefs.

    A run takes a schedule (start and end of the inverse temperature β, strength and shape of the reinforcement,
    damping, perturbation, length) from a policy of the instance's features, which was learned over families of
    problems. Later runs also learn from those on the instance. If many runs fit in the limits, some are reinforced
    min-sum as `bp-reinforced` draws it, and some are pulled towards the best assignment so far; a bandit prefers the
    kind that the best runs are of. Annealing follows a run from a temperature at which most variables keep their
    values, as long as that improves answers.

    Parameters
    ----------
    restarts
        Runs at most; none = until a limit, and 20 without one.
    iterations
        Iterations of each run; none = chosen by the policy and the limits.
    temperature
        False: min-sum messages, the same schedules otherwise.
    pretrained
        False: the same moderate schedule for every instance.
    policy
        A file of ``dabp lab train-policy``, read when a solve starts; none = the policy that comes with the package.
    online
        False: later runs scatter around the policy's choice and do not learn from earlier ones.
    min_sum
        False: runs at a falling temperature alone.
    consensus
        Largest charge, in scaled units, for variables that leave the best assignment in runs of min-sum near it,
        except for those that are freed; 0 = no such runs.
    per_variable
        False: the same damping for every edge.
    polish
        False: no descent from the last assignment of each soft run, and on sparse problems no
        combination with the best assignment, island by island.
    local_search
        False: neither annealing from the answers of runs nor tabu walks from those of runs near the best assignment.
        Sparse problems, whose answers are combined island by island, and large ones have none in any case.
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
        policy = Policy.chosen(self.policy, pretrained=self.pretrained)  # a wrong file is an error on any problem
        forest = Forest.of(problem)
        return LearnedSearch(self, problem, seed, budget, policy, initial) if forest is None else ForestSearch(forest)


class LearnedSearch(MessageSearch):
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
        super().__init__(problem, budget)
        self._solver, self._seed, self._policy = solver, seed, policy
        self._best = np.zeros(problem.num_variables, dtype=np.int64)
        self._target, self._answer = self._best.copy(), self._best.copy()
        self._best_cost = self._answer_cost = self._uncooled = np.inf
        if initial is not None:
            self.offer(initial, float(problem.cost(initial)))
        limited = budget.time_limit is not None or budget.max_iterations is not None
        self._restarts = solver.restarts or (None if limited else 20)
        self._run = 0
        self._started, self._iterated = working_seconds(), 0.0
        """When the search began, and the seconds of messages and of local search."""

    def _make_graph(self) -> FactorGraph:
        return FactorGraph.from_problem(self._problem, seed=self._seed, dtype=np.float32)

    def _make_engine(self) -> SoftMessages:
        return SoftMessages(self._problem, self._graph, self._budget.threads)

    def _prepare(self) -> None:
        solver, guard = self._solver, self._budget.guard
        self._polish = Polish(self._problem, guard) if solver.polish else None
        sparse = self._polish is not None and self._polish.sparse
        searched = solver.local_search and not sparse and may_search(self._problem)
        self._choice = RunChoice(solver, self._policy, self._graph, local_search=searched, scattered=sparse)
        self._annealing = Annealing(self._problem, self._seed, guard)
        self._walks = TabuWalks(self._problem, guard) if searched else None
        self._pace = Pace(self._budget, self._graph, self._started)
        self._begin()

    def _begin(self, resumed: Run | None = None) -> None:
        """Draw the next run, or take the one of a checkpoint, and zero the messages."""
        rng = generator(self._seed, _RUN_STREAM, self._run)
        chance = rng.random(len(self._graph.unary) + self._graph.num_variables + 2)
        self._heat, self._chance = chance[-2:].tolist()
        if resumed is None:
            self._target[:] = self._best
            alone, first = self._restarts == 1, self._run == 0
            self._now = self._choice.next(rng, self._pace, self._iterations, self._annealing, first=first, alone=alone)
        else:
            self._now = resumed
        self._engine.hottest = self._now.schedule.beta.start
        unary = unary_of(self._now, chance[:-2], self._graph, self._target)
        clock = working_seconds()
        self._engine.reset(self._now.damping, unary)
        self._iterated += working_seconds() - clock

    def _work(self) -> Step:
        """Iterate or anneal for about a block's time, at most to the end of the run."""
        return self._cool(Step()) if self._annealing.under_way else self._iterate()

    def _iterate(self) -> Step:
        engine, run = self._engine, self._now

        def iterations(count: int) -> tuple[NDArray[np.float64], int]:
            if run.rules.rate > 0:
                return engine.run(count, run.rules)
            return engine.run_softly(run.schedule.phases(engine.iterations, count), run.rules)

        costs, why, seconds = self._timed_block(run.length - engine.iterations, iterations)
        self._iterated += seconds
        step = Step(costs)
        if engine.best_cost < self._best_cost:
            self._best[:] = engine.memory.best
            self._best_cost = float(self._problem.cost(self._best))
            step.best, step.best_cost = self._best.copy(), self._best_cost
        if run.kind == SOFT:
            self._pace.took(len(costs), seconds)
            sweeping = self._annealing.seconds if run.cooled else 0.0
            left = self._pace.left(self._iterations, sweeping, engine.iterations)
            schedule = self._pace.kept(run.schedule, engine.iterations, self._iterations, left)
            if schedule is not run.schedule:
                self._now = replace(run, schedule=schedule)
        if why != RUNNING or engine.iterations >= self._now.length:
            self._settle(step)
        return step

    def _settle(self, step: Step) -> None:
        """Improve the answer of the run; annealing goes on in the next steps, or here if no iterations are left."""
        run, iterations = self._now, self._engine.iterations
        self._answer[:] = self._engine.memory.assignment
        self._answer_cost = self._engine.start_cost
        clock, found = working_seconds(), None
        if self._polish is not None and run.kind == SOFT:  # reinforced min-sum ends in a local minimum
            found = self._polish.descended(self._answer)
            self._answer[:] = found
        if run.kind == PULLED and self._walks is not None:
            found = self._walks.walked(self._answer, iterations, self._heat, self._chance)
        if run.cooled:
            self._annealing.begin(self._answer, iterations, self._heat, self._chance)
        self._iterated += working_seconds() - clock
        if found is not None:
            self._improve(found, step)
        self._uncooled = self._answer_cost
        if not self._annealing.under_way:
            self._end(step)
        elif self._iterations >= (self._budget.max_iterations or math.inf):
            while self._annealing.under_way and not self._budget.guard.over:
                self._cool(step)

    def _cool(self, step: Step) -> Step:
        """A block of annealing, and the end of the run after the last one."""
        clock, annealing = working_seconds(), self._annealing
        better = annealing.go_on()
        over = not annealing.under_way
        # From a forbidden start any answer may be the best of all.
        hopeful = not self._uncooled - annealing.gain >= self._best_cost
        best = annealing.best() if (annealing.improved if over else better and hopeful) else None
        if best is not None and over and self._polish is not None:  # the best may have come while it was warm
            best = self._polish.descended(best)
        self._iterated += working_seconds() - clock
        if best is not None:
            self._improve(best, step)
        if over:
            self._end(step)
        return step

    def _improve(self, values: Assignment, step: Step) -> None:
        self._answer_cost = min(self._answer_cost, self._found(values, step))

    def _end(self, step: Step) -> None:
        """Learn from the run, begin the next or finish."""
        run, iterations = self._now, self._engine.iterations
        if self._polish is not None and self._polish.sparse:
            self._found(self._polish.crossed(self._target, self._answer), step)
        cost = self._answer_cost
        reached = {"cost": cost} if math.isfinite(cost) else {}
        if run.cooled:
            reached["sweeps"] = self._annealing.length
        step.records.append({"restart": self._run, "iterations": iterations, **run.record(iterations), **reached})
        self._choice.learn(run, iterations, self._uncooled, cost)
        self._run += 1
        if self._restarts is None or self._run < self._restarts:
            self._begin()
        else:
            step.finished, step.limit = Status.LIMIT, RESTARTS_DONE

    def _found(self, values: Assignment, step: Step) -> float:
        """The cost of an assignment, which is kept if it is the best so far."""
        cost = float(self._problem.cost(values))
        if cost < self._best_cost:
            self._best[:], self._best_cost = values, cost
            step.best, step.best_cost = self._best.copy(), cost
        return cost

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Later runs may be pulled towards the assignment."""
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
            "cooling": self._annealing.under_way,
            "sweeps": self._annealing.state_dict(),
            "learned": self._choice.state_dict(),
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
        self._choice.load_state_dict(state["learned"])
        self._annealing.load_state_dict(state["sweeps"])
        self._begin(self._choice.resumed(kind, state["drawn"], length, state["since"]))
        self._engine.load_state_dict(state)
        done = self._engine.iterations
        if state["cooling"]:
            self._annealing.begin(self._answer, done, self._heat, self._chance)
        if done > length or (done == length and not self._annealing.under_way):
            raise ValueError("a run has more iterations than it may have")
