"""Algorithm 1 of the paper: online learning while propagating beliefs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.graph import FactorGraph
from dabp.kernels.attention.gated_units import HIDDEN
from dabp.problem import Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, State, Step
from dabp.solvers.dabp.loss import Loss
from dabp.solvers.dabp.observation import Observation, observation
from dabp.solvers.dabp.parameters import AdamW, Parameters, initial_parameters
from dabp.solvers.dabp.structure import Structure
from dabp.solvers.dabp.window import Backend, Messages, Window
from dabp.solvers.status import RESTARTS_DONE, Status
from dabp.solvers.stopped import ask

if TYPE_CHECKING:
    from dabp.solvers.dabp.hyperparameters import Dabp


@dataclass
class Place:
    """Where in Algorithm 1 a search stands."""

    restart: int = 0
    t: int = 0  # iterations of this restart, counted window by window
    windows: int = 0
    iterations: int = 0  # of all restarts, counted one by one
    skipped: int = 0  # windows that were not learned from: their loss, a gradient or a parameter was not finite


class DabpSearch(Search):
    """A running DABP: the network and its optimiser, messages, and where in Algorithm 1 it stands."""

    def __init__(self, solver: Dabp, problem: Problem, seed: int, budget: Budget):
        self.solver, self.problem, self.seed, self.budget = solver, problem, seed, budget
        ask(budget.guard)
        graph = FactorGraph.from_problem(
            problem, solver.split_ratio, np.dtype(solver.dtype), cost_scale=solver.cost_scale, seed=seed
        )
        ask(budget.guard)
        self.structure = Structure.from_graph(graph, problem)
        ask(budget.guard)
        self.backend = _backend(solver, self.structure, budget)
        ask(budget.guard)
        self.loss = Loss(self.structure)
        self.parameters = self._new_parameters(0)
        self.optimizer = AdamW(len(self.parameters.flat), graph.dtype, solver.learning_rate, solver.weight_decay)
        self.messages = self._no_messages()
        self.place = Place()
        self.observer: Callable[[Observation], object] | None = None
        self._deadline = 0.0
        self._at_border = True
        self._steps = self._algorithm1() if self.structure.num_edges else self._without_factors()

    @property
    def at_boundary(self) -> bool:
        """Between windows: the graph of a window's gradients is not saved."""
        return self._at_border

    def step(self) -> Step:
        """A block of iterations; with the last one of a window also the update."""
        self._deadline = working_seconds() + BLOCK_SECONDS
        self._at_border = False
        return next(self._steps)

    def observe(self, observer: Callable[[Observation], object]) -> None:
        """Call a function with each iteration."""
        self.observer = observer

    def _algorithm1(self) -> Iterator[Step]:
        """Algorithm 1 from the window's border where `place` stands, a `Step` each block and each window.

        Comments give the paper's lines. τ* (lines 1, 9 and 14) is the driver's, which reads each step's best.
        Within an iteration the order is the authors' program's: lines 7 and 8, from the v2f messages before, then 5
        and 6. Line 13 also ends a restart when the costs of a window have settled, as their program does. A window
        that convergence cuts short is learned from too: the next restart would repeat this one otherwise.
        """
        solver, place = self.solver, self.place
        for restart in range(place.restart, solver.restarts):  # line 2
            for begin in range(place.t, solver.max_iterations_per_restart, solver.update_interval):
                if begin == 0:
                    self._begin_restart(restart)  # line 3
                window = self._window(begin)
                while True:  # line 4, the iterations of a window
                    converged = self._iterate(window) < solver.tolerance  # lines 5 to 8
                    if window.full or converged:
                        break
                    if working_seconds() >= self._deadline or place.iterations == self.budget.max_iterations:
                        yield window.block()
                step = window.block()
                effective = window.effective(solver.effective_iterations)  # line 11
                loss = self._update(window, effective)  # lines 10 and 12
                self._record(step, window, effective, loss)
                place.t, place.windows = begin + len(window.costs), place.windows + 1
                settled = window.settled
                ended = converged or settled or place.t == solver.max_iterations_per_restart
                if ended:
                    step.records[-1] |= {"iterations": place.t, "converged": converged, "settled": settled}
                    place.restart, place.t = restart + 1, 0
                    if place.restart == solver.restarts:
                        alone = solver.restarts == 1 and (converged or settled)
                        step.finished = Status.CONVERGED if alone else Status.LIMIT
                        step.limit = RESTARTS_DONE if solver.restarts > 1 else None
                self._at_border = True
                yield step
                if ended:
                    break  # line 13

    def _begin_restart(self, restart: int) -> None:
        """Zero messages and GRU states; a new network if it does not learn, as it would repeat the last otherwise."""
        self.messages = self._no_messages()
        if not self.solver.learning and restart > 0:
            self.parameters = self._new_parameters(restart)

    def _window(self, begin: int) -> Window:
        """The window from iteration `begin` of the restart; only full ones of T_upd iterations are learned from."""
        solver = self.solver
        length = min(solver.update_interval, solver.max_iterations_per_restart - begin)
        learns = solver.learning and length == solver.update_interval
        return Window(self.problem, self.backend.window(self.parameters, self.messages, learns), length, learns)

    def _iterate(self, window: Window) -> float:
        """One iteration, and the largest change of a v2f message in it."""
        infers = len(window.beliefs) % self.solver.network_interval == 0
        beliefs, change = window.unrolled.iterate(infers)
        window.add(beliefs)
        if self.observer is not None:
            self.observer(observation(self, window))
        self.place.iterations += 1
        return change

    def _update(self, window: Window, effective: list[int]) -> float | None:
        """θ ← AdamW(θ, ∇L(θ)) if the window is learned from; the loss L of Eq. 16, if there is one.

        Where the loss, a gradient or a new parameter is not finite, θ and the optimiser stay as they are.
        """
        self.messages = window.unrolled.messages()
        if not effective:
            return None
        loss = window.unrolled.loss(effective)
        if window.learns:
            learned = math.isfinite(loss)
            learned = learned and self.optimizer.step(self.parameters.flat, window.unrolled.gradient().flat)
            window.skipped = not learned
            self.place.skipped += window.skipped
        return loss

    def _record(self, step: Step, window: Window, effective: list[int], loss: float | None) -> None:
        place = self.place
        where: dict[str, Any] = {"window": place.windows, "restart": place.restart, "iteration": place.iterations}
        where["loss"] = loss if loss is not None and math.isfinite(loss) else None
        if window.skipped:
            where["skipped"] = True
        step.records.append(where | window.record(effective, self.loss))

    def summary(self) -> tuple[str, ...]:
        """Says if updates were left out."""
        if not self.place.skipped:
            return ()
        return (
            f"{self.place.skipped} of {self.place.windows} windows were not learned from: their loss, a gradient or a "
            "parameter was not finite in "
            f"{self.solver.dtype}",
        )

    def _without_factors(self) -> Iterator[Step]:
        """Nothing but unary costs: each variable takes its cheapest value."""
        values = self.structure.padded(self.structure.graph.unary, fill=np.inf).argmin(1)
        cost = float(self.problem.cost(values))
        feasible = bool(np.isfinite(cost))
        self.place.iterations += 1
        self._at_border = True
        yield Step(np.array([cost]), values if feasible else None, cost, finished=Status.CONVERGED)

    def _new_parameters(self, draw: int) -> Parameters:
        random = generator(self.seed, 0xDA, draw)
        return initial_parameters(self.structure.width, self.solver.heads, self.solver.dtype, random)

    def _no_messages(self) -> Messages:
        """Zeros (Alg. 1, line 3)."""
        edges, dtype = self.structure.num_edges, self.structure.graph.dtype
        return Messages(*(np.zeros((edges, width), dtype) for width in (self.structure.width, HIDDEN, HIDDEN)))

    def _arrays(self) -> dict[str, NDArray[np.floating]]:
        """Every array of the state."""
        arrays = {f"parameter.{name}": value for name, value in self.parameters.items()}
        arrays |= {"mean": self.optimizer.mean, "square": self.optimizer.square}
        return arrays | {f"messages.{name}": value for name, value in self.messages._asdict().items()}

    def state_dict(self) -> State:
        """Parameters, optimiser, messages, GRU states, and where in Algorithm 1 it stands."""
        copies = {name: value.copy() for name, value in self._arrays().items()}
        return {**copies, "updates": self.optimizer.steps, **asdict(self.place)}

    def load_state_dict(self, state: State) -> None:
        """Continue where `state_dict` was taken."""
        self.place = Place(**{name: state[name] for name in asdict(self.place)})
        self.optimizer.steps = state["updates"]
        for name, value in self._arrays().items():
            value[...] = state[name]
        if self.structure.num_edges:
            self._steps = self._algorithm1()

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Messages, GRU states, parameters and the optimiser's means."""
        return self._arrays()

    def close(self) -> None:
        """End the kernels' threads."""
        self.backend.close()


def _backend(solver: Dabp, structure: Structure, budget: Budget) -> Backend:
    """The way to compute that the solver names; each is imported only where it is used."""
    if solver.backend == "plain":
        from dabp.solvers.dabp.plain import PlainBackend

        return PlainBackend(structure, solver.weights, solver.damping, solver.device)
    from dabp.solvers.dabp.compiled import CompiledBackend

    return CompiledBackend(structure, solver.weights, solver.damping, solver.update_interval, budget.threads)
