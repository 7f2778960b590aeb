"""Large neighbourhood search: free a fifth of the variables, repair them by predicted cost, always go on from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.kernels.cost_model.cost_model import level_tables
from dabp.kernels.cost_model.repair import Cycle, destroy, repair
from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.gat_pcm.cost_tables import structure
from dabp.solvers.gat_pcm.weights import fold, load
from dabp.solvers.status import Status
from dabp.solvers.stopped import NotPrepared, Stopped


@dataclass(frozen=True, kw_only=True)
class GatPcmLns(Solver):
    """Large neighbourhood search with a pretrained cost model (GAT-PCM-LNS).

    Each cycle frees each variable with a given probability. In every connected component of free variables it
    builds a depth-first pseudo-tree and walks it from the root: a variable takes the value with the least predicted
    cost of its subtree, given everything assigned; leaves, and components of one variable, take their exact best
    value. The result is always accepted, and the best one is remembered. One cycle is one iteration.

    The model was trained on pairwise constraints with costs 0..100. Factors over three or more variables enter the
    decision of each of their variables by their costs at the current values of the others. Use it to reproduce the
    paper's baseline; `annealing` and `tabu` find better answers in less time.

    Reference: Deng, Kong, Liu, An. Pretrained cost model for distributed constraint optimization problems. AAAI 2022.

    Parameters
    ----------
    destroy_probability
        That a variable is freed in a cycle.
    max_cycles
        When the search is finished.
    cost_scale
        The cost that is 1 for the model; by default the largest spread of costs in a factor (100 in the paper).
    weights
        A safetensors file with other parameters than those of the package (see ``dabp lab train-gat-pcm``).
    """

    checkpoints: ClassVar[bool] = True

    destroy_probability: float = 0.2
    max_cycles: int = 1000
    cost_scale: float | None = None
    weights: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.destroy_probability <= 1:
            raise ParameterError(f"destroy_probability must lie in (0, 1], got {self.destroy_probability}")
        if self.max_cycles < 1:
            raise ParameterError(f"max_cycles must be at least 1, got {self.max_cycles}")
        if self.cost_scale is not None and not 0 < self.cost_scale < np.inf:
            raise ParameterError(f"cost_scale must be positive, got {self.cost_scale}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Load the parameters and begin from `initial` or at random."""
        try:
            return GatPcmLnsSearch(problem, self, budget, seed, initial)
        except Stopped as reason:
            return NotPrepared("gat-pcm-lns", reason)


class GatPcmLnsSearch(Search):
    """A running GAT-PCM-LNS, which can stop within a cycle."""

    def __init__(self, problem: Problem, solver: GatPcmLns, budget: Budget, seed: int, initial: Assignment | None):
        self._problem, self._solver, self._seed = problem, solver, seed
        # Never past the driver's limit within a block: how far would depend on the machine.
        self._cycles = min(solver.max_cycles, budget.max_iterations or solver.max_cycles)
        self._model = fold(load(solver.weights))
        self._structure = structure(problem, solver.cost_scale, budget.guard)
        self._tables = level_tables(self._structure.level_amount, self._model)
        num_values = int(self._structure.first_value[-1])
        self._now = Cycle(
            values=generator(seed, 0).integers(problem.domain_sizes)
            if initial is None
            else np.array(initial, np.int64),
            position=np.empty(problem.num_variables, dtype=np.int64),
            penalised=np.zeros(num_values),  # `numbers` may be called after resuming, before the first cycle
            amount=np.empty(num_values, dtype=np.float32),
            assigned=np.empty(problem.num_variables, dtype=np.bool_),
        )
        self._cycle = 0
        self._at_cycle_start = self._now.values.copy()
        self._best_cost = np.inf
        self._order: NDArray[np.int64] | None = None
        self._repaired = 0

    def step(self) -> Step:
        """Run cycles, or a part of one, for a block."""
        deadline = working_seconds() + BLOCK_SECONDS
        costs: list[float] = []
        step = Step()
        if self._cycle == 0 and self._order is None:
            self._take(step)
        while self._cycle < self._cycles:
            if self._order is None:
                self._destroy()
            if self._repair(deadline):
                costs.append(self._take(step))
                self._cycle += 1
                self._order = None
                self._at_cycle_start = self._now.values.copy()
            if working_seconds() >= deadline:
                break
        step.costs = np.array(costs)
        if self._cycle >= self._cycles:
            step.finished = Status.LIMIT
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Go on from a better assignment than any found here."""
        if cost < self._best_cost:
            self._best_cost = cost
            self._order = None
            self._now.values[:] = assignment
            self._at_cycle_start = self._now.values.copy()

    def state_dict(self) -> State:
        """The assignment at the start of the current cycle: a cycle depends on it, the seed and its number only."""
        return {"values": self._at_cycle_start.copy(), "cycle": self._cycle, "best_cost": float(self._best_cost)}

    def load_state_dict(self, state: State) -> None:
        """Begin the cycle again in which the state was taken."""
        self._now.values[:] = state["values"]
        self._at_cycle_start = self._now.values.copy()
        self._cycle, self._best_cost, self._order = int(state["cycle"]), float(state["best_cost"]), None
        if self._cycle < 0:
            raise ValueError("there is no such cycle")

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The model's tables of the different costs, and the costs of the values in the last cycle."""
        found = {f"the model's table {k}": nodes.projected[:-2] for k, nodes in enumerate(self._tables)}
        return found | ({"costs": self._now.penalised} if self._cycle else {})

    def _destroy(self) -> None:
        rng = generator(self._seed, 1, self._cycle)
        destroyed = rng.random(self._problem.num_variables) < self._solver.destroy_probability
        priority = rng.permutation(self._problem.num_variables)
        self._order = destroy(self._structure, self._now, destroyed, priority)
        self._repaired = 0

    def _repair(self, deadline: float) -> bool:
        """Repair until the cycle (True) or the time is over (False)."""
        order = self._order
        if order is None:
            return False
        while self._repaired < len(order):
            end = min(self._repaired + 8, len(order))
            repair(self._structure, self._now, self._model, self._tables, order, self._repaired, end)
            self._repaired = end
            if working_seconds() >= deadline:
                break
        return self._repaired == len(order)

    def _take(self, step: Step) -> float:
        """The current cost, noted as the block's best if it is."""
        cost = float(self._problem.cost(self._now.values))
        if cost < step.best_cost:
            step.best, step.best_cost = self._now.values.copy(), cost
        self._best_cost = min(self._best_cost, cost)
        return cost
